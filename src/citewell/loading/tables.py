"""A table as text: one row a line, cells joined by bars, header first. The same for every format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

BETWEEN_CELLS = " | "


def table_text(rows: Iterable[Sequence[str]]) -> str:
    """Rows of cells as lines. An empty cell keeps its place, except at the end of a row; empty rows are left out."""
    lines = []
    for row in rows:
        cells = [" ".join(cell.split()) for cell in row]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            lines.append(BETWEEN_CELLS.join(cells))
    return "\n".join(lines)


def cell_text(blocks: Iterable[str]) -> str:
    """Paragraphs, list items or the rows of a nested table, put into the one line that a cell has."""
    text = ""
    for block in (" ".join(block.split()) for block in blocks):
        if not block:
            continue
        if text:
            text += " " if text[-1] in ".!?:;" else "; "
        text += block
    return text
