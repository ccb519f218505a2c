"""A table as text: one row a line, cells joined by bars, header first. The same for every format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from citewell.types import BETWEEN_CELLS

_LONE_BAR = re.compile(r"(?<!\S)\|(?!\S)")
_BROKEN_BAR = "¦"


def table_text(rows: Iterable[Sequence[str]]) -> str:
    """Rows of cells as lines. An empty cell keeps its place, except at the end of a row; empty rows are left out.

    A bar that stands alone in a cell becomes a broken one, so that cutting a line at `BETWEEN_CELLS` gives its cells.
    """
    return "\n".join(filter(None, map(_row_text, rows)))


def header_lines(rows: Iterable[Sequence[str]], header_rows: int) -> int:
    """How many lines of `table_text(rows)` the first `header_rows` rows take: those without text have none."""
    return sum(any(map(str.strip, row)) for _, row in zip(range(header_rows), rows, strict=False))


def cell_text(blocks: Iterable[str]) -> str:
    """Paragraphs, list items or the rows of a nested table, put into the one line that a cell has."""
    parts: list[str] = []
    for block in (" ".join(block.split()) for block in blocks):
        if block and parts:
            parts.append(" " if parts[-1][-1] in ".!?:;" else "; ")
        if block:
            parts.append(block)
    return "".join(parts)


def _row_text(cells: Sequence[str]) -> str:
    line = [" ".join(cell.split()) for cell in cells]
    line = [_LONE_BAR.sub(_BROKEN_BAR, cell) if "|" in cell else cell for cell in line]
    while line and not line[-1]:
        line.pop()
    return BETWEEN_CELLS.join(line)
