"""Markdown as readable text: the marks go, the structure stays."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

from citewell.errors import EmptyFile
from citewell.loading.encoding import decode
from citewell.loading.parsed import Parsed, TextBuilder
from citewell.loading.plain import load_plain
from citewell.loading.tables import table_text
from citewell.settings import Loading
from citewell.types import ElementKind

if TYPE_CHECKING:
    from markdown_it.token import Token

_FRONT_MATTER = re.compile(
    r"\A(---|\+\+\+)[ \t]*\n(?=\s*[\w-]+[ \t]*[:=])(.*?)\n(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL
)
_FRONT_TITLE = re.compile(r"^title[ \t]*[:=][ \t]*(\S.*?)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_BREAK_TAG = re.compile(r"<br\b", re.IGNORECASE)
_BRACKET_OR_BLANK = re.compile(r"[\[\]]|\n\s*\n")
_MOST_OPEN_BRACKETS = 100
_MAX_NESTING = 100  # The parser's own 20 leaves out what is deeper.


def load_markdown(data: bytes, name: str, limits: Loading) -> Parsed:
    """Read CommonMark with tables. The title is the front matter's, else the first heading, else the file's name."""
    from markdown_it import MarkdownIt

    text = decode(data, limits)
    title = ""
    front = _FRONT_MATTER.match(text)
    if front:
        found = _FRONT_TITLE.search(front.group(2))
        title = found.group(1).strip("\"'") if found else ""
        text = text[front.end() :]
    if _open_brackets(text) > _MOST_OPEN_BRACKETS:
        # The parser's time grows with their square: a megabyte of them would take hours.
        return load_plain(data, name, limits)
    parser = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable(["table", "strikethrough"])
    reading = _Reading(TextBuilder(limits))
    for token in parser.parse(text):
        reading.take(token)
    return reading.builder.build(title or reading.first_heading or PurePath(name).stem)


def _open_brackets(text: str) -> int:
    """The most brackets without their end that a paragraph has at any place."""
    most = depth = 0
    for found in _BRACKET_OR_BLANK.finditer(text):
        sign = found[0]
        depth = max(depth + (1 if sign == "[" else -1), 0) if sign in "[]" else 0
        most = max(most, depth)
    return most


@dataclass(slots=True)
class _Reading:
    """What has been read of the token stream, and the list or table that is under way."""

    builder: TextBuilder
    first_heading: str = ""
    heading_level: int = 0
    list_depth: int = 0
    list_lines: list[str] = field(default_factory=list)
    mark: str = ""
    rows: list[list[str]] = field(default_factory=list)

    def take(self, token: Token) -> None:
        match token.type:
            case "heading_open":
                self.heading_level = int(token.tag[1:])
            case "heading_close":
                self.heading_level = 0
            case "bullet_list_open" | "ordered_list_open":
                self.list_depth += 1
            case "bullet_list_close" | "ordered_list_close":
                self.list_depth -= 1
                if not self.list_depth:
                    self._close_list()
            case "list_item_open":
                # An ordered item's token holds its number.
                self.mark = f"{token.info}. " if token.info else "- "
            case "table_open" | "table_close":
                self._close_list()
                self._close_table()
            case "tr_open":
                self.rows.append([])
            case "fence" | "code_block":
                self._close_list()
                self.builder.add(ElementKind.CODE, token.content)
            case "html_block":
                self._close_list()
                self._add_html(token.content)
            case "inline":
                self._add_text(_readable(token.children or []))

    def _add_text(self, text: str) -> None:
        if self.rows:
            self.rows[-1].append(text)
        elif self.heading_level:
            self.first_heading = self.first_heading or text
            self.builder.add(ElementKind.HEADING, text, level=self.heading_level)
        elif self.list_depth:
            # A second paragraph of an item stands under its first.
            indent = "  " * (self.list_depth - 1)
            self.list_lines.append(indent + (self.mark or "  ") + text.replace("\n", "\n  " + indent))
            self.mark = ""
        else:
            self.builder.add(ElementKind.PARAGRAPH, text)

    def _close_list(self) -> None:
        self.builder.add(ElementKind.LIST, "\n".join(self.list_lines))
        self.list_lines = []

    def _close_table(self) -> None:
        self.builder.add(ElementKind.TABLE, table_text(self.rows))
        self.rows = []

    def _add_html(self, markup: str) -> None:
        from citewell.loading.html import add_content, parse_markup

        try:
            add_content(self.builder, parse_markup(markup))
        except EmptyFile:
            return  # a comment, or a tag alone


def _readable(tokens: list[Token]) -> str:
    """Inline text without its marks; a link keeps its text, an image its description."""
    parts = []
    for token in tokens:
        match token.type:
            case "text" | "code_inline" | "text_special":
                parts.append(token.content)
            case "softbreak":
                parts.append(" ")
            case "hardbreak":
                parts.append("\n")
            case "image":
                parts.append(_readable(token.children or []))
            case "html_inline":
                parts.append(" " if _BREAK_TAG.match(token.content) else "")
    return "".join(parts)
