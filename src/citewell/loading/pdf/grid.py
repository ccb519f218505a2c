"""From ruling lines to the cells that they enclose."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from citewell.loading.pdf.sheet import Box, Rule

MAX_RULES = 10_000
MAX_CELLS = 20_000
"""Of a page and of a table; more lines make a drawing."""
_SNAP = 3.0
"""Points within which lines are taken to meet, or to be one line."""
_LOOK_BACK = 50


@dataclass(frozen=True, slots=True)
class Cell:
    """Grid rows `row` up to `row_end` and columns `column` up to `column_end`, ends excluded."""

    row: int
    row_end: int
    column: int
    column_end: int


@dataclass(frozen=True, slots=True)
class Grid:
    """A ruled table: the edges of its columns and rows in points, and its cells from left to right, row by row."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    cells: tuple[Cell, ...]

    @property
    def width(self) -> int:
        return len(self.xs) - 1

    @property
    def box(self) -> Box:
        return self.xs[0], self.ys[0], self.xs[-1], self.ys[-1]

    def rows(self) -> list[list[int]]:
        """For each row the cells in it, by their place in `cells`; one several rows high is in each of them."""
        rows: list[list[int]] = [[] for _ in self.ys[1:]]
        for at, cell in enumerate(self.cells):
            for row in range(cell.row, cell.row_end):
                rows[row].append(at)
        return rows

    def homes(self) -> dict[tuple[int, int], int]:
        """The cell, by its place in `cells`, that covers each (row, column)."""
        return {
            (row, column): at
            for at, cell in enumerate(self.cells)
            for row in range(cell.row, cell.row_end)
            for column in range(cell.column, cell.column_end)
        }

    def place(self, x: float, y: float) -> tuple[int, int]:
        """The (row, column) of a point; outside the grid a number below 0 or beyond its size."""
        return bisect.bisect_right(self.ys, y) - 1, bisect.bisect_right(self.xs, x) - 1


def grids(rules: Sequence[Rule]) -> Iterator[Grid]:
    """The grids, at least two by two, that lines which meet form; top one first."""
    if len(rules) > MAX_RULES:
        return
    level = _merged([rule for rule in rules if rule.level])
    upright = _merged([rule for rule in rules if not rule.level])
    if len(level) * len(upright) > 10 * MAX_CELLS:
        return
    found = [_grid(across, down) for across, down in _connected(level, upright)]
    yield from sorted((grid for grid in found if grid is not None), key=lambda grid: grid.ys[0])


def _merged(rules: list[Rule]) -> list[Rule]:
    """Pieces of one line, and lines drawn twice (two cells' borders), as one."""
    merged: list[Rule] = []
    for rule in sorted(rules, key=lambda rule: (rule.at, rule.start)):
        for back, other in enumerate(reversed(merged[-_LOOK_BACK:]), 1):
            if rule.at - other.at <= _SNAP and rule.start <= other.end + _SNAP and rule.end >= other.start - _SNAP:
                merged[-back] = Rule(rule.level, other.at, min(rule.start, other.start), max(rule.end, other.end))
                break
        else:
            merged.append(rule)
    return merged


def _connected(level: list[Rule], upright: list[Rule]) -> list[tuple[list[Rule], list[Rule]]]:
    """Groups of level and upright lines that meet, directly or through others."""
    groups: list[tuple[list[Rule], list[Rule]]] = [([rule], []) for rule in level]
    for down in upright:
        met = [group for group in groups if any(_meet(across, down) for across in group[0])]
        if not met:
            continue
        groups = [group for group in groups if group not in met]
        groups.append(([rule for group in met for rule in group[0]], [*(r for group in met for r in group[1]), down]))
    return groups


def _meet(across: Rule, down: Rule) -> bool:
    return across.start - _SNAP <= down.at <= across.end + _SNAP and down.start - _SNAP <= across.at <= down.end + _SNAP


def _grid(level: list[Rule], upright: list[Rule]) -> Grid | None:
    if not level or not upright:
        return None
    # Many tables are open at their sides: there the ends of the lines across stand for the missing edge.
    closed = level + _edges(level, upright), upright + _edges(upright, level)
    ys, xs = _distinct(closed[0]), _distinct(closed[1])
    if len(ys) < 3 or len(xs) < 3 or len(ys) * len(xs) > MAX_CELLS:
        return None
    return Grid(tuple(xs), tuple(ys), tuple(_cells(*closed, xs, ys)))


def _edges(rules: list[Rule], across: list[Rule]) -> list[Rule]:
    """The outer edges that `rules` lack where the lines `across` them begin and end."""
    start, end = min(rule.at for rule in across), max(rule.at for rule in across)
    ends = min(rule.start for rule in across), max(rule.end for rule in across)
    return [Rule(rules[0].level, at, start, end) for at in ends if all(abs(rule.at - at) > _SNAP for rule in rules)]


def _cells(level: list[Rule], upright: list[Rule], xs: list[float], ys: list[float]) -> Iterator[Cell]:
    """Each cell goes right to the next upright line and down to the next level line that closes it."""
    below = _drawn(level, ys, xs)
    beside = _drawn(upright, xs, ys)
    taken: set[tuple[int, int]] = set()
    for row in range(len(ys) - 1):
        for column in range(len(xs) - 1):
            if (row, column) in taken:
                continue
            column_end = next((c for c in range(column + 1, len(xs)) if beside[c][row]), len(xs) - 1)
            row_end = next((r for r in range(row + 1, len(ys)) if below[r][column]), len(ys) - 1)
            taken |= {(r, c) for r in range(row, row_end) for c in range(column, column_end)}
            yield Cell(row, row_end, column, column_end)


def _drawn(rules: list[Rule], ats: list[float], stops: list[float]) -> list[list[bool]]:
    """For each line of the grid and each step between two crossings: whether it is drawn there."""
    middles = [(start + end) / 2 for start, end in pairwise(stops)]
    table = []
    for at in ats:
        here = [rule for rule in rules if abs(rule.at - at) <= _SNAP]
        table.append([any(rule.start - _SNAP <= middle <= rule.end + _SNAP for rule in here) for middle in middles])
    return table


def _distinct(rules: list[Rule]) -> list[float]:
    values: list[float] = []
    for value in sorted(rule.at for rule in rules):
        if not values or value - values[-1] > _SNAP:
            values.append(value)
    return values
