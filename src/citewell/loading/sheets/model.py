"""What a spreadsheet holds, whatever its format: sheets of cells, and what of them is shown."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from citewell.errors import LimitExceeded
from citewell.types import PageState

_MOST_CELLS = 1_000_000
"""Of a file; each takes about 300 bytes of memory."""

Span = tuple[int, int]
"""Rows or columns from 0, the last one included."""


class Area(NamedTuple):
    """Rows and columns from 0, the last ones included."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(frozen=True, slots=True)
class Cell:
    """One that is not blank: only a formula stored without its result has no text. `link` is an address, or ""."""

    row: int
    column: int
    text: str
    bold: bool = False
    link: str = ""


@dataclass(slots=True)
class Sheet:
    """`merged` areas show the text of their first cell; `named` ones are declared to hold column names.

    `uncomputed` counts the formulas stored without a result, `unknown` the cells whose text is not in the file. A sheet
    that is not read has another state than TEXT.
    """

    name: str
    cells: list[Cell] = field(default_factory=list)
    merged: list[Area] = field(default_factory=list)
    named: list[Area] = field(default_factory=list)
    hidden_rows: list[Span] = field(default_factory=list)
    hidden_columns: list[Span] = field(default_factory=list)
    uncomputed: int = 0
    unknown: int = 0
    state: PageState = PageState.TEXT
    reason: str = ""


@dataclass(slots=True)
class CellCount:
    """The cells of a file so far."""

    cells: int = 0

    def add(self, more: int) -> None:
        """Raises LimitExceeded: too many to keep in memory."""
        self.cells += more
        if self.cells > _MOST_CELLS:
            raise LimitExceeded(
                f"It has more than {_MOST_CELLS:,} filled cells.", remedy="Split the file into smaller ones."
            )


def without_hidden(sheet: Sheet) -> tuple[Sheet, int]:
    """The sheet without its hidden rows and columns, as if they were not there, and how many cells are lost by it."""
    rows, columns = _Shown(sheet.hidden_rows), _Shown(sheet.hidden_columns)
    if not rows.hidden and not columns.hidden:
        return sheet, 0
    cells = [
        replace(cell, row=rows.before(cell.row), column=columns.before(cell.column))
        for cell in sheet.cells
        if rows.shows(cell.row) and columns.shows(cell.column)
    ]
    left = [
        [
            Area(
                rows.before(area.top),
                columns.before(area.left),
                rows.before(area.bottom + 1) - 1,
                columns.before(area.right + 1) - 1,
            )
            for area in areas
        ]
        for areas in (sheet.merged, sheet.named)
    ]
    merged, named = ([area for area in areas if area.top <= area.bottom and area.left <= area.right] for areas in left)
    shown = replace(sheet, cells=cells, merged=merged, named=named, hidden_rows=[], hidden_columns=[])
    return shown, len(sheet.cells) - len(cells)


class _Shown:
    """Which rows (or columns) are shown, and what their numbers are without the hidden ones."""

    def __init__(self, hidden: Iterable[Span]) -> None:
        self.hidden: list[Span] = []
        for first, last in sorted(hidden):
            if self.hidden and first <= self.hidden[-1][1] + 1:
                self.hidden[-1] = (self.hidden[-1][0], max(last, self.hidden[-1][1]))
            else:
                self.hidden.append((first, last))
        self._starts = [first for first, _ in self.hidden]
        self._sums = [0]
        for first, last in self.hidden:
            self._sums.append(self._sums[-1] + last - first + 1)

    def shows(self, line: int) -> bool:
        at = bisect_right(self._starts, line)
        return at == 0 or line > self.hidden[at - 1][1]

    def before(self, line: int) -> int:
        """How many shown ones come before it."""
        at = bisect_right(self._starts, line)
        over = max(self.hidden[at - 1][1] + 1 - line, 0) if at else 0
        return line - self._sums[at] + over
