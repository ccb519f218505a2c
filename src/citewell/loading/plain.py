"""Plain text: paragraphs between blank lines. And delimited tables, a row a line."""

from __future__ import annotations

import csv
import io
import re
from pathlib import PurePath

from citewell.loading.encoding import decode
from citewell.loading.parsed import Parsed, TextBuilder
from citewell.loading.tables import table_text
from citewell.settings import Loading
from citewell.types import ElementKind

_DELIMITERS = ",;\t|"
_SNIFFED_LINES = 50


def load_plain(data: bytes, name: str, limits: Loading) -> Parsed:
    """Read text in any encoding; its title is the file's name without the ending."""
    builder = TextBuilder(limits)
    for paragraph in re.split(r"\n\s*\n|\f", decode(data, limits)):
        builder.add(ElementKind.PARAGRAPH, paragraph)
    return builder.build(PurePath(name).stem)


def load_csv(data: bytes, name: str, limits: Loading) -> Parsed:
    """Read comma, semicolon, tab or bar separated values as one table."""
    text = decode(data, limits)
    builder = TextBuilder(limits)
    builder.add(ElementKind.TABLE, table_text(_rows(text, _delimiter(text))))
    return builder.build(PurePath(name).stem)


def _rows(text: str, delimiter: str) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error:  # A quote that is never closed makes a field over the module's limit.
        return [line.split(delimiter) for line in text.split("\n")]


def _delimiter(text: str) -> str:
    """The sign that most often cuts a line into the same number of cells; csv.Sniffer needs minutes for some files."""
    lines = text.split("\n", _SNIFFED_LINES)[:_SNIFFED_LINES]

    def score(delimiter: str) -> tuple[int, int]:
        counts = [line.count(delimiter) for line in lines if delimiter in line]
        usual = max(set(counts), key=counts.count, default=0)
        return counts.count(usual), usual

    return max(_DELIMITERS, key=score)
