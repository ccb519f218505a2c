"""Markdown as readable text: the marks go, the structure stays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from citewell.errors import EmptyFile
from citewell.loading.encoding import decode
from citewell.loading.html.hidden import hidden_reason
from citewell.loading.markdown.footnotes import footnotes
from citewell.loading.markdown.front_matter import read_front_matter
from citewell.loading.markdown.html import Veil
from citewell.loading.markdown.inline import Inline, read_inline
from citewell.loading.parsed import Details, Parsed, TextBuilder
from citewell.loading.plain.document import add_paragraphs
from citewell.loading.tables import header_lines, table_text
from citewell.settings import Loading
from citewell.types import ElementKind

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_MAX_NESTING = 100  # The parser's own 20 leaves out what is deeper.
_MOST_BLOCKS = 250_000
_MOST_INDENTED = 10
_ANCHOR = re.compile(r"[ \t]*\{#[\w.:-]+\}[ \t]*$")
_TOO_DENSE = "It has too many marks to be read as Markdown; some of it was read as plain text."


def load_markdown(data: bytes, name: str, limits: Loading) -> Parsed:
    """Read CommonMark with tables, footnotes and front matter.

    The title is the front matter's, else the first heading, else the file's name. HTML that is hidden is left out;
    where it holds sentences, or the marks are too many for any page that is meant to be read, the file is suspicious.

    Raises:
        DamagedFile: see `read_front_matter`.
    """
    text = decode(data, limits)
    front = read_front_matter(text)
    text = text[front.end :]
    reading = _Reading(TextBuilder(limits), _parser())
    tokens = _blocks(reading.parser, text, reading.env)
    if tokens is None:
        reading.is_refused = True
        add_paragraphs(reading.builder, reading.veil.markup(text))
    for token in tokens or ():
        reading.take(token)
    reading.veil.lift()
    title = front.declared.title or reading.first_heading or PurePath(name).stem
    reasons = (*hidden_reason(reading.veil.words), *([_TOO_DENSE] if reading.is_refused else []))
    parsed = reading.builder.build(title, metadata=front.metadata)
    return replace(parsed, declared=front.declared, suspicious=reasons)


def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable(["table", "strikethrough"])
    # What a block holds is read when its turn comes, so that one block's marks are in memory at a time.
    return parser.disable("inline").use(footnotes)


def _blocks(parser: MarkdownIt, text: str, env: dict[str, Any]) -> Sequence[Token] | None:
    """The blocks of the text, or None where they would be too many, or nested so deep that some would be lost."""
    # A cell takes a quarter of the time of a line.
    if text.count("\n") + text.count("|") // 4 > _MOST_BLOCKS:
        return None
    tokens = parser.parse(text, env)
    return None if any(token.level >= _MAX_NESTING - 1 for token in tokens) else tokens


@dataclass(slots=True)
class _Reading:
    """What has been read of the token stream, and the list or table that is under way."""

    builder: TextBuilder
    parser: MarkdownIt
    env: dict[str, Any] = field(default_factory=dict)
    veil: Veil = field(default_factory=Veil)
    is_refused: bool = False
    first_heading: str = ""
    heading_level: int = 0
    list_depth: int = 0
    list_lines: list[str] = field(default_factory=list)
    mark: str = ""
    rows: list[list[str]] = field(default_factory=list)
    links: list[str] = field(default_factory=list)

    def take(self, token: Token) -> None:
        match token.type:
            case "heading_open" | "heading_close":
                self.heading_level = int(token.tag[1:]) if token.nesting > 0 else 0
            case "bullet_list_open" | "ordered_list_open":
                self.list_depth += 1
            case "bullet_list_close" | "ordered_list_close":
                self.list_depth -= 1
                if not self.list_depth:
                    self._close_list()
            case "list_item_open":
                # An ordered item's token holds its number.
                self.mark = f"{token.info}. " if token.info else "- "
            case "table_open":
                self._close_list()
            case "table_close":
                self._close_table()
            case "tr_open":
                self.rows.append([])
            case "fence" | "code_block":
                self._close_list()
                self.builder.add(
                    ElementKind.CODE, self.veil.text(token.content), more=Details(preamble=token.info.strip())
                )
            case "html_block":
                self._close_list()
                self._add_html(self.veil.markup(token.content))
            case "inline":
                self._add_text(self._read(token.content))
            case "footnote":
                self._close_list()
                self._add_footnote(token)

    def _read(self, content: str) -> Inline:
        inline = read_inline(self.parser, content, self.env, self.veil)
        self.is_refused |= inline.refused
        return inline

    def _add_text(self, inline: Inline) -> None:
        if self.rows:
            self.rows[-1].append(inline.text)
            self.links += inline.links
        elif self.heading_level:
            title = _ANCHOR.sub("", inline.text)
            self.first_heading = self.first_heading or title
            self.builder.add(ElementKind.HEADING, title, level=self.heading_level, more=Details(links=inline.links))
        elif self.list_depth:
            # A second paragraph of an item stands under its first.
            indent = "  " * min(self.list_depth - 1, _MOST_INDENTED)
            self.list_lines.append(indent + (self.mark or "  ") + inline.text.replace("\n", "\n  " + indent))
            self.links += inline.links
            self.mark = ""
        else:
            self.builder.add(ElementKind.PARAGRAPH, inline.text, more=Details(links=inline.links))

    def _add_footnote(self, token: Token) -> None:
        inline = self._read(token.content)
        text = f"[^{token.info}] {inline.text}" if inline.text else ""
        self.builder.add(ElementKind.FOOTNOTE, text, more=Details(links=inline.links))

    def _close_list(self) -> None:
        self.builder.add(ElementKind.LIST, "\n".join(self.list_lines), more=Details(links=self._taken_links()))
        self.list_lines = []

    def _close_table(self) -> None:
        header_rows = header_lines(self.rows, 1)
        self.builder.add(ElementKind.TABLE, table_text(self.rows), more=Details(header_rows, links=self._taken_links()))
        self.rows = []

    def _taken_links(self) -> tuple[str, ...]:
        links = tuple(dict.fromkeys(self.links))
        self.links = []
        return links

    def _add_html(self, markup: str) -> None:
        from citewell.loading.html.document import add_content, parse_markup

        try:
            add_content(self.builder, parse_markup(markup))
        except EmptyFile:
            return  # a comment, or a tag alone
