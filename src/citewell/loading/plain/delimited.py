"""Delimited text as rows: which sign divides it, what stands above the table, which row names its columns."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice

_DELIMITERS = ",;\t|"
_EXCEL_HINT = re.compile(r"sep=(.)\n", re.IGNORECASE)
_SAMPLE_SIGNS = 65_536
_LONGEST_SAMPLE = 2_000_000
_SAMPLE_ROWS = 100
_LINE_END = re.compile(r"\n")
_FIGURE = re.compile(r"[\s€$£¥%()+-]*\d[\d\s.,:/%€$£¥()+-]*")
_MOST_ABOVE = 10
_MOST_OPEN = 3
"""Quotes that are never closed; each costs a pass over the rest."""
_END = "end"
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class Layout:
    """How to read the text: from `start`, cut at `delimiter`. The first rows are a preamble, then names of columns."""

    delimiter: str
    start: int = 0
    preamble_rows: int = 0
    header_rows: int = 0


def layout_of(text: str) -> Layout:
    """Told from the first lines; csv.Sniffer needs minutes for some files."""
    hint = _EXCEL_HINT.match(text)
    start = hint.end() if hint else 0
    sample = _sample(text, start)
    sampled = {sign: list(islice(rows(sample, sign), _SAMPLE_ROWS)) for sign in ([hint[1]] if hint else _DELIMITERS)}
    delimiter = max(sampled, key=lambda sign: _regularity(sampled[sign]))
    first = sampled[delimiter]
    above = _preamble_rows(first)
    return Layout(delimiter, start, above, _header_rows([row for row in first[above:] if any(map(str.strip, row))]))


def _sample(text: str, start: int) -> str:
    """The first lines, whole ones where they are not too long; three at least, since one says little."""
    ends = [found.end() for found in islice(_LINE_END.finditer(text, start, start + _LONGEST_SAMPLE), 3)]
    third = ends[2] if len(ends) == 3 else start + _LONGEST_SAMPLE
    sample = text[start : max(start + _SAMPLE_SIGNS, third)]
    is_cut = len(text) > start + len(sample)
    return (sample[: sample.rfind("\n") + 1] or sample) if is_cut else sample


def rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """The rows, with quoted cells as RFC 4180 has them; a quote that is never closed is an ordinary sign."""
    stream = io.StringIO(text, newline="")
    for _ in range(_MOST_OPEN):
        at = yield from _closed_rows(stream, delimiter)
        if at == len(text):
            return
        stream.seek(at)
        yield stream.readline().rstrip("\r\n").split(delimiter)
    yield from (line.rstrip("\r\n").split(delimiter) for line in stream)


def _closed_rows(stream: io.StringIO, delimiter: str) -> Generator[list[str], None, int]:
    """The rows up to one that a quote leaves open; returns where that begins, or else the end."""
    ended = False

    def end() -> Iterator[str]:
        nonlocal ended
        ended = True
        yield _END

    at = stream.tell()
    with suppress(csv.Error):  # an open quote made a cell over the module's limit
        for row in csv.reader(chain(stream, end()), delimiter=delimiter):
            if ended:  # the line after the last is in it: alone, or behind an open quote
                break
            yield row
            at = stream.tell()
    return at


def _regularity(table: list[list[str]]) -> tuple[int, int]:
    """How many rows have the usual number of cells, if that is more than one; then that number."""
    widths = [len(row) for row in table if len(row) > 1]
    usual = max(sorted(set(widths)), key=widths.count, default=0)
    return widths.count(usual), usual


def _preamble_rows(table: list[list[str]]) -> int:
    """The rows at the top with text in few of the table's columns: a title, a date, a blank line."""
    usual = _regularity(table)[1]
    for number, row in enumerate(table[: _MOST_ABOVE + 1]):
        filled = sum(map(bool, map(str.strip, row)))
        # Of two columns, the second may well be empty.
        is_table = filled > max(1, usual // 3) or (usual <= 2 and len(row) == usual)
        if is_table or usual < 2:
            return number
    return 0


def _header_rows(table: list[list[str]]) -> int:
    """1 where the first row names the columns; 2 where the second row says more of some of them."""
    if not _is_header(table):
        return 0
    if len(table) < 3:
        return 1
    filled = [column for column, cell in enumerate(table[1]) if cell.strip()]
    is_above_figures = all(
        not _FIGURE.fullmatch(table[1][column]) and column < len(table[2]) and table[2][column].strip()
        for column in filled
    )
    return 2 if len(filled) * 2 < len(table[0]) == len(table[1]) and not table[1][0].strip() and is_above_figures else 1


def _is_header(table: list[list[str]]) -> bool:
    """Whether the first row names the columns: all different, no figures but years, and not of the rows' own kind."""
    if len(table) < 2:
        return False
    head = [cell.strip() for cell in table[0]]
    named = [cell for cell in head if cell]
    figures = [cell for cell in named if _FIGURE.fullmatch(cell) and not _YEAR.fullmatch(cell)]
    if figures or len(set(named)) < len(named) or len(named) * 2 < len(head):
        return False
    if all(map(_YEAR.fullmatch, named)):
        return False
    below = [{_shape(row[column].strip()) for row in table[1:] if column < len(row)} for column in range(len(head))]
    return not any(
        _shape(cell) in shapes and len(shapes) == 1 and any(map(str.isdigit, cell))
        for cell, shapes in zip(head, below, strict=True)
        if not _YEAR.fullmatch(cell)
    )


def _shape(cell: str) -> str:
    """What kind of text it is: R-17 and R-18 are of one."""
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", cell))
