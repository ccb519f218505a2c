"""The text of a Markdown paragraph, without its marks: a link keeps its text, an image its description."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from citewell.loading.html.text import address
from citewell.loading.markdown.html import Veil

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_BREAK_TAG = re.compile(r"<br\b", re.IGNORECASE)
_BRACKET = re.compile(r"[\[\]]")
_MARK = re.compile(r"[*_~`\[\]<>!&\\]")
_UNCLOSED = re.compile(r"<[!?]")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_MOST_MARKS = 20_000
_MOST_OPEN_BRACKETS = 20
_MOST_REREAD = 20_000_000


@dataclass(frozen=True, slots=True)
class Inline:
    """`links` are the addresses that it points at. It was `refused` where its marks were too many to be read."""

    text: str
    links: tuple[str, ...] = ()
    refused: bool = False


def read_inline(parser: MarkdownIt, content: str, env: dict[str, Any], veil: Veil) -> Inline:
    """Read a paragraph's content; `veil` is drawn within HTML that hides it, and counts what the paragraph hides."""
    if _is_hostile(content):
        return Inline(veil.text(_COMMENT.sub("", content)), refused=True)
    tokens: list[Token] = []
    parser.inline.parse(content, parser, env, tokens)
    if veil.is_drawn:
        veil.text("".join(_parts(tokens, Veil())))
        return Inline("")
    inner = Veil()
    text = "".join(_parts(tokens, inner))
    # HTML that a paragraph opens ends with it.
    inner.lift()
    veil.words += inner.words
    return Inline(text, tuple(dict.fromkeys(_addresses(tokens))))


def _parts(tokens: list[Token], veil: Veil) -> Iterator[str]:
    for token in tokens:
        match token.type:
            case "text" | "code_inline" | "text_special":
                yield veil.text(token.content)
            case "softbreak":
                yield veil.text(" ")
            case "hardbreak":
                yield veil.text("\n")
            case "image":
                yield from _parts(token.children or [], veil)
            case "html_inline":
                yield " " if _BREAK_TAG.match(veil.markup(token.content)) else ""


def _addresses(tokens: list[Token]) -> Iterator[str]:
    written = (str(token.attrs.get("href", "")) for token in tokens if token.type == "link_open")
    return filter(None, map(address, written))


def _is_hostile(content: str) -> bool:
    """Whether the parser's time or memory would grow out of proportion.

    It reads to the end for each unclosed comment, once more for each bracket within brackets, and it copies the rest
    of the text at each `<` and `&`.
    """
    if sum(1 for _ in _MARK.finditer(content)) > _MOST_MARKS or _open_brackets(content) > _MOST_OPEN_BRACKETS:
        return True
    unclosed = sum(1 for _ in _UNCLOSED.finditer(content))
    return unclosed * len(content) > _MOST_REREAD


def _open_brackets(content: str) -> int:
    """The most brackets without their end at any place."""
    most = depth = 0
    for found in _BRACKET.finditer(content):
        depth = max(depth + (1 if found[0] == "[" else -1), 0)
        most = max(most, depth)
    return most
