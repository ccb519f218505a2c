"""The tables of a sheet: its cells cut at blank rows and columns, merged cells spread, captions and headers told."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from citewell.loading.columns import MAX_HEADER, header_rows, is_figure
from citewell.loading.office.regions import Box, regions
from citewell.loading.sheets.model import Area, Cell, Sheet, Span

_LONGEST_LABEL = 120
"""A merged cell with more is a text, and stands once."""
_MOST_SPREAD = 200_000
"""Repeated cells of a region."""
_MOST_EMPTY = 2_000_000
"""Empty cells of a region that hold its columns; a stray cell far away from the rest would need more."""
_MOST_CAPTIONS = 3


@dataclass(frozen=True, slots=True)
class Block:
    """A table, or text in a single column. `caption` is what stands alone in the rows above the table."""

    rows: list[list[str]]
    is_table: bool = True
    header_rows: int = 0
    caption: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


def blocks(sheet: Sheet) -> Iterator[Block]:
    """From the top down, and from the left where they stand side by side."""
    merged = {(area.top, area.left): area for area in sheet.merged}
    named: defaultdict[int, list[Span]] = defaultdict(list)
    for area in sheet.named:
        for row in range(area.top, min(area.bottom + 1, area.top + MAX_HEADER)):
            named[row].append((area.left, area.right))

    boxes = [_box(cell, merged.get((cell.row, cell.column))) for cell in sheet.cells]
    for chosen in regions(boxes, gap=0):
        yield _block(_Region.of([sheet.cells[at] for at in chosen], merged), named)


def _box(cell: Cell, area: Area | None) -> Box:
    if area is None:
        return cell.column, cell.row, cell.column + 1, cell.row + 1
    return area.left, area.top, area.right + 1, area.bottom + 1


@dataclass(frozen=True, slots=True)
class _Region:
    """Cells by row and column, the rows in order; the areas of those that are merged, as far as the region goes."""

    rows: dict[int, dict[int, Cell]]
    merged: dict[Cell, Area]
    left: int
    right: int

    @classmethod
    def of(cls, cells: Sequence[Cell], merged: dict[tuple[int, int], Area]) -> _Region:
        rows: defaultdict[int, dict[int, Cell]] = defaultdict(dict)
        for cell in cells:
            rows[cell.row][cell.column] = cell
        ordered = {number: rows[number] for number in sorted(rows)}
        right, bottom = max(cell.column for cell in cells), max(ordered)
        clipped = {
            cell: area._replace(right=min(area.right, right), bottom=min(area.bottom, bottom))
            for cell in cells
            if (area := merged.get((cell.row, cell.column))) is not None
        }
        return cls(ordered, clipped, min(cell.column for cell in cells), right)

    def covers_width(self, cell: Cell) -> bool:
        area = self.merged.get(cell, _alone(cell))
        return (area.left, area.right) == (self.left, self.right)


def _block(region: _Region, named: dict[int, list[Span]]) -> Block:
    cells = [cell for row in region.rows.values() for cell in row.values()]
    links = tuple(dict.fromkeys(cell.link for cell in cells if cell.link))
    if len(cells) == 1 or (region.left == region.right and not any(is_figure(cell.text) for cell in cells)):
        return Block([[cell.text] for cell in cells], is_table=False, links=links)
    caption = _take_caption(region)
    set_off = [_is_declared(region, named, number) or _is_bold(row) for number, row in region.rows.items()]
    first = next(iter(region.rows.values())).values()
    grouped = any(area.left < area.right for area in map(region.merged.get, first) if area is not None)
    _spread(region)
    rows = list(_lines(region))
    return Block(rows, True, header_rows(rows, set_off, grouped), caption, links)


def _take_caption(region: _Region) -> tuple[str, ...]:
    """Take the first rows out that hold a single cell of text, at the left edge or merged over the whole width."""
    alone = []
    for number, row in islice(region.rows.items(), min(_MOST_CAPTIONS, len(region.rows) - 1)):
        cell = next(iter(row.values()))
        area = region.merged.get(cell, _alone(cell))
        if len(row) > 1 or area.top < area.bottom or is_figure(cell.text):
            break
        if cell.column != region.left and not region.covers_width(cell):
            break
        alone.append((number, cell.text))
    if region.left == region.right:
        return ()
    for number, _ in alone:
        del region.rows[number]
    return tuple(text for _, text in alone)


def _spread(region: _Region) -> None:
    """Repeat the labels of merged cells in the rows and columns they cover; a band over the whole width stands once."""
    numbers = list(region.rows)
    left = _MOST_SPREAD
    for cell, area in region.merged.items():
        covered = numbers[bisect_left(numbers, area.top) : bisect_right(numbers, area.bottom)]
        left -= len(covered) * (area.right - area.left + 1)
        if len(cell.text) > _LONGEST_LABEL or region.covers_width(cell) or left < 0:
            continue
        for number in covered:
            for column in range(area.left, area.right + 1):
                region.rows[number].setdefault(column, cell)


def _lines(region: _Region) -> Iterator[list[str]]:
    rows = region.rows.values()
    if sum(max(row) - region.left + 1 for row in rows) > _MOST_EMPTY + sum(map(len, rows)):
        for row in rows:
            yield [row[column].text for column in sorted(row)]
        return
    for row in rows:
        yield [row[column].text if column in row else "" for column in range(region.left, max(row) + 1)]


def _is_declared(region: _Region, named: dict[int, list[Span]], number: int) -> bool:
    return any(left <= region.right and right >= region.left for left, right in named.get(number, ()))


def _is_bold(row: dict[int, Cell]) -> bool:
    return all(cell.bold for cell in row.values())


def _alone(cell: Cell) -> Area:
    return Area(cell.row, cell.column, cell.row, cell.column)
