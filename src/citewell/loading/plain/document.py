"""Plain text: paragraphs between blank lines, on pages where form feeds divide it. And delimited tables."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import PurePath

from citewell.loading.encoding import decode
from citewell.loading.parsed import Details, Parsed, TextBuilder
from citewell.loading.plain.delimited import layout_of, rows
from citewell.loading.plain.headings import numbered_level, underlined
from citewell.loading.tables import table_text
from citewell.settings import Loading
from citewell.types import ElementKind

_BETWEEN_PAGES = "\f"
_BLANK_LINES = re.compile(r"\n\s*\n")


def load_plain(data: bytes, name: str, limits: Loading) -> Parsed:
    """Read text in any encoding; its title is the file's name without the ending. Form feeds divide its pages."""
    builder = TextBuilder(limits)
    pages = decode(data, limits).rstrip().split(_BETWEEN_PAGES)
    has_pages = 1 < len(pages) <= limits.max_pages
    for number, page in enumerate(pages, start=1):
        if has_pages:
            builder.start_page(number, str(number))
        add_paragraphs(builder, page)
    return builder.build(PurePath(name).stem)


def add_paragraphs(builder: TextBuilder, text: str) -> None:
    """Add what blank lines divide: paragraphs, and the headings that are beyond doubt."""
    paragraphs = ["", *_BLANK_LINES.split(text), ""]
    for before, paragraph, after in zip(paragraphs, paragraphs[1:], paragraphs[2:], strict=False):
        title, level, rest = underlined(paragraph)
        builder.add(ElementKind.HEADING, title, level=level)
        level = numbered_level(rest, before, after)
        builder.add(ElementKind.HEADING if level else ElementKind.PARAGRAPH, rest, level=level)


def load_csv(data: bytes, name: str, limits: Loading) -> Parsed:
    """Read comma, semicolon, tab or bar separated values as one table; lines above it are paragraphs."""
    text = decode(data, limits)
    layout = layout_of(text)
    table = rows(text[layout.start :], layout.delimiter)
    builder = TextBuilder(limits)
    for row in islice(table, layout.preamble_rows):
        builder.add(ElementKind.PARAGRAPH, layout.delimiter.join(row).strip(layout.delimiter + " "))
    builder.add(ElementKind.TABLE, table_text(table), more=Details(header_rows=layout.header_rows))
    return builder.build(PurePath(name).stem)
