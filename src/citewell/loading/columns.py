"""How many of a table's first rows name its columns, told by how they are set and by what stands below them."""

from __future__ import annotations

import re
from collections.abc import Sequence

MAX_HEADER = 3
_MOSTLY = 0.8
_SELDOM = 0.25
"""Of the rows below: a row of sums may be bold like the header."""
_LONGEST_NAME = 40
_LONGEST_FIGURE = 40
_FIGURE = re.compile(r"[^\w(]*+(?:[A-Z]{2,3}\s)?\(?[^\w]*+\d[\d\W]*(?:E[+-]?\d+|[^\W\d]{1,8}\W?)?")
"""Digits with signs around them, perhaps a currency before and a unit behind: "-12.50 EUR", "30 days", "2024-01-31"."""
_TIME = re.compile(r"(?:19|20)\d\d(?:[-/ .]?\d\d?){0,2}")
"""A year, month or day, which names a column of figures as well as a word does."""


def header_rows(rows: Sequence[Sequence[str]], set_off: Sequence[bool] = (), grouped: bool = False) -> int:
    """The number of first rows that name columns; 0 where nothing tells.

    `set_off` says of each row whether it looks like a header (bold) or is declared one. `grouped` says that a cell of
    the first row spans several columns, which the second row names one by one. Else a header is a row without figures
    above columns of figures, or, in three columns or more, of short names none of which occurs again.
    """
    depth = 2 if grouped and len(rows) > 2 and _is_names(rows[1]) else 1
    leading = next((at for at, found in enumerate(set_off) if not found), len(set_off))
    if 0 < leading <= min(MAX_HEADER, len(rows) - 1):
        below = set_off[leading:]
        if sum(below) <= _SELDOM * len(below):
            return max(leading, depth)
    if len(rows) <= depth or not _is_names(rows[0]):
        return 0
    names, body = rows[depth - 1], rows[depth:]
    return depth if _above_figures(names, body) or _never_again(names, body) else 0


def _is_names(row: Sequence[str]) -> bool:
    return any(row) and not any(is_figure(cell) and not _TIME.fullmatch(cell) for cell in row)


def _above_figures(names: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    for at, name in enumerate(names):
        filled = [row[at] for row in body if at < len(row) and row[at]]
        if not name or not filled or all(map(_TIME.fullmatch, [name, *filled])):
            continue
        if sum(map(is_figure, filled)) >= _MOSTLY * len(filled):
            return True
    return False


def _never_again(names: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Two columns of words are as likely a form as a table, and one is a list."""
    if len(names) < 3 or len(body) < 2 or len(set(names)) < len(names):
        return False
    if not all(name and len(name) <= _LONGEST_NAME and name[-1] not in ".;" for name in names):
        return False
    return not any(row[at] == name for at, name in enumerate(names) for row in body if at < len(row))


def is_figure(cell: str) -> bool:
    """Whether a cell holds a number, an amount or a date rather than words."""
    return len(cell) <= _LONGEST_FIGURE and _FIGURE.fullmatch(cell) is not None
