"""Tables: ruled ones by the grid of their lines, unruled ones by cells that stand in columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from citewell.loading.pdf.grid import Cell, Grid, grids
from citewell.loading.pdf.header import Look, ground_at, header_rows, shades_in
from citewell.loading.pdf.layout import GAP, Line, join_lines, lines, runs, widest_gap
from citewell.loading.pdf.sheet import Rule, Shade, Word

CAPTION = re.compile(
    r"(table|figure|fig\.|exhibit|chart|box|tabelle|abbildung|abb\.|tableau|tabla|figura|tabella|tabela)\s*"
    r"[A-Z]?\d[\d.\-]*[A-Za-z]?\s*[:.–—|]",
    re.IGNORECASE,
)
_CAPTION_GAP = 2.5
"""In ems: how far from its table a caption may stand, and how high it may be above."""
_MIN_FILLED = 0.25
_MAX_IN_CELL = 300
"""Words; a page whose columns are parted by a line holds more in each of them."""
_CELL = 8
"""In ems: the middle cell of an unruled table is narrower than this, or else it is columns of text."""


@dataclass(frozen=True, slots=True)
class Table:
    """`rows` of cells, the first `header_rows` of which name its columns, and where the `columns` begin and end.

    `title` is what a first row over the whole width says ("" if there is none).
    """

    x0: float
    top: float
    x1: float
    bottom: float
    rows: tuple[tuple[str, ...], ...]
    columns: tuple[tuple[float, float], ...]
    ruled: bool
    header_rows: int
    title: str = ""


def ruled_tables(
    words: Sequence[Word], rules: Sequence[Rule], shades: Sequence[Shade], vocabulary: frozenset[str]
) -> tuple[list[Table], list[Word]]:
    """The tables that ruling lines form, and the words that are in none of them."""
    tables: list[Table] = []
    rest = list(words)
    for grid in grids(rules):
        held, outside = _held(rest, grid)
        filled = sum(map(bool, held))
        if filled < max(3, _MIN_FILLED * len(grid.cells)) or max(map(len, held)) > _MAX_IN_CELL:
            continue
        if any(map(_is_unruled_inside, held)):
            continue
        tables.append(_ruled_table(grid, held, shades_in(grid.box, shades), vocabulary))
        rest = outside
    return tables, rest


def _held(words: list[Word], grid: Grid) -> tuple[list[list[Word]], list[Word]]:
    """The words of each cell, by their middle, and those outside all cells."""
    held: list[list[Word]] = [[] for _ in grid.cells]
    outside = []
    homes = grid.homes()
    for word in words:
        place = grid.place((word.x0 + word.x1) / 2, word.baseline - 0.3 * word.style.size)
        if place in homes:
            held[homes[place]].append(word)
        else:
            outside.append(word)
    return held, outside


def _is_unruled_inside(words: list[Word]) -> bool:
    """Whether one cell holds columns of its own: then the lines part bands of rows, and not cells."""
    return sum(len(runs(line.words)) >= 3 for line in lines(runs(words))) >= 3


def _ruled_table(grid: Grid, held: list[list[Word]], shades: Sequence[Shade], vocabulary: frozenset[str]) -> Table:
    written = [lines(runs(words)) for words in held]
    rows: list[list[str]] = []
    looks: list[Look] = []
    groups: list[Cell] = []
    title = ""
    for here in grid.rows():
        wide = [cell for at in here if (cell := grid.cells[at]).column_end - cell.column > 1 and written[at]]
        if not rows and not title and wide and wide[0].column_end - wide[0].column == grid.width:
            title = join_lines([line.text for at in here for line in written[at]], vocabulary)
            continue
        if not rows:
            groups = wide
        for height in _unruled_rows([written[at] for at in here]):
            # A cell that is several rows high says the same of each; one several columns wide is said once.
            found = {at: [line for line in written[at] if height is None or _is_at(line, height)] for at in here}
            if not any(found.values()):
                continue
            cells = [""] * grid.width
            for at, own in found.items():
                cells[grid.cells[at].column] = join_lines([line.text for line in own], vocabulary)
            rows.append(cells)
            looks.append(_look([line for own in found.values() for line in own], shades))
    named = 0
    if groups and len(rows) > 2:
        _fold_header(rows, groups)
        looks.pop(1)
        named = 1
    keep = [column for column in range(grid.width) if any(row[column] for row in rows)]
    filled = tuple(tuple(row[column] for column in keep) for row in rows)
    spans = tuple((grid.xs[column], grid.xs[column + 1]) for column in keep)
    return Table(*grid.box, filled, spans, True, named or header_rows(filled, looks), title)


def _look(found: Sequence[Line], shades: Sequence[Shade]) -> Look:
    """How a row with these lines is set; its ground is that of its first line, read between its base line and top."""
    first = found[0]
    ground = ground_at((first.x0 + first.x1) / 2, (first.top + first.bottom) / 2, shades)
    return Look(all(line.bold for line in found), ground)


def _unruled_rows(cells: list[list[Line]]) -> list[float] | list[None]:
    """The base lines of the rows between two ruling lines, where it is columns that are ruled and rows are not; else
    [None]. Such rows show as three or more lines in the first cell beside which most other cells have theirs too."""
    filled = [cell for cell in cells if cell]
    if len(filled) < 3 or len(filled[0]) < 3:
        return [None]
    heights = [line.baseline for line in filled[0]]
    others = [line for cell in filled[1:] for line in cell]
    beside = sum(any(_is_at(line, height) for height in heights) for line in others)
    if beside < len(others) or beside < 0.6 * len(heights) * (len(filled) - 1):
        return [None]
    return heights


def _is_at(line: Line, height: float) -> bool:
    return abs(line.baseline - height) < 0.5 * line.size


def _fold_header(rows: list[list[str]], groups: list[Cell]) -> None:
    """Make one header row of two, where the upper one names groups of columns."""
    upper, lower = rows[0], rows.pop(1)
    for group in groups:
        for column in range(group.column + 1, group.column_end):
            upper[column] = upper[group.column]
    for column, text in enumerate(lower):
        if text and text != upper[column]:
            upper[column] = f"{upper[column]} {text}".strip()


def widen_captions(found: Sequence[Line], tables: Sequence[Table]) -> list[Line]:
    """The lines, with those of a caption right above or below a table made as wide as it.

    So that a short caption of a table across two columns is not taken for a line of the left one.
    """
    widened = list(found)
    for table in tables:
        for line in found:
            above = _stands_above(line, table) if CAPTION.match(line.text) else None
            if above is None:
                continue
            # Its further lines, if it stands above, are those between it and the table.
            end = table.top if above else line.top
            for at, other in enumerate(found):
                if line.top <= other.top <= end and _within(other, table):
                    widened[at] = replace(other, x0=table.x0, x1=table.x1)
    return widened


def _stands_above(line: Line, table: Table) -> bool | None:
    """Whether a line stands closely above (or, False, below) a table and no wider than it; None if neither."""
    if not _within(line, table):
        return None
    if -line.size < table.top - line.bottom < _CAPTION_GAP * line.size:
        return True
    return False if -line.size < line.top - table.bottom < _CAPTION_GAP * line.size else None


def _within(line: Line, table: Table) -> bool:
    return table.x0 - line.size <= line.x0 and line.x1 <= table.x1 + line.size


def unruled_tables(found: Sequence[Line], shades: Sequence[Shade]) -> list[Line | Table]:
    """Lines in order, with those that form an unruled table replaced by it.

    Three lines or more that follow each other, most with three cells or more, whose cells keep to the same columns.
    """
    pieces = [runs(line.words) if widest_gap(line) > GAP else [line] for line in found]
    result: list[Line | Table] = []
    at = 0
    while at < len(found):
        end = at
        while end < len(found) and len(pieces[end]) >= (3 if end == at else 2) and _follows(found, at, end):
            end += 1
        fullest = max((len(row) for row in pieces[at:end]), default=0)
        while at < end and len(pieces[at]) * 2 < fullest:
            result.append(found[at])
            at += 1
        table = _unruled_table(found[at:end], pieces[at:end], shades) if end - at >= 3 else None
        end = max(end, at + 1)
        result.extend(found[at:end] if table is None else [table])
        at = end
    return result


def _follows(found: Sequence[Line], first: int, at: int) -> bool:
    return at == first or found[at].baseline - found[at - 1].baseline < 3 * max(found[at - 1].size, found[at].size)


def _unruled_table(found: Sequence[Line], pieces: Sequence[list[Line]], shades: Sequence[Shade]) -> Table | None:
    widths = [run.x1 - run.x0 for row in pieces for run in row]
    if median(widths) > _CELL * median(line.size for line in found):
        return None
    spans = _spans([(run.x0, run.x1) for row in pieces for run in row], int(0.05 * len(found)))
    if len(spans) < 3:
        return None
    left, right = min(line.x0 for line in found), max(line.x1 for line in found)
    top, bottom = found[0].top, found[-1].bottom
    rows = tuple(_row(line, spans) for line in found)
    grounds = shades_in((left, top, right, bottom), shades)
    named = header_rows(rows, [_look([line], grounds) for line in found])
    return Table(left, top, right, bottom, rows, tuple(spans), False, named)


def _spans(cells: list[tuple[float, float]], allowed: int) -> list[tuple[float, float]]:
    """The columns that cells keep to, left to right: they part where at most `allowed` cells have anything."""
    changes = sorted([(x0, 1) for x0, _ in cells] + [(x1, -1) for _, x1 in cells])
    spans: list[tuple[float, float]] = []
    covering, begin = 0, 0.0
    for x, change in changes:
        before, covering = covering, covering + change
        if before <= allowed < covering:
            begin = x
        elif covering <= allowed < before:
            spans.append((begin, x))
    return spans


def _row(line: Line, spans: list[tuple[float, float]]) -> tuple[str, ...]:
    cells: list[list[str]] = [[] for _ in spans]
    for word in line.words:
        middle = (word.x0 + word.x1) / 2
        nearest = min(range(len(spans)), key=lambda at: max(spans[at][0] - middle, middle - spans[at][1], 0))
        cells[nearest].append(word.text)
    return tuple(" ".join(cell) for cell in cells)
