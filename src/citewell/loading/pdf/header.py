"""How many of a table's first rows name its columns, told by how they look and by where its figures are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from citewell.loading.pdf.sheet import Box, Shade

MAX_HEADER = 2
_DATE = re.compile(r"(?:\b\d{1,2}\.? \w+\.? )?\b(?:19|20)\d\d\b")
_FIGURE = re.compile(r"\d")
_HALF = 0.5
_SELDOM = 0.25
"""Of the rows below; a row of sums may be bold like the header, every second row may be shaded like it."""
_WHITE = 250

Row = Sequence[str]


class Look(NamedTuple):
    """How a row is set: whether all of it is bold, and the colour of its ground (None for white or nothing)."""

    bold: bool
    ground: tuple[int, int, int] | None


_PLAIN = Look(bold=False, ground=None)


def ground_at(x: float, y: float, shades: Sequence[Shade]) -> tuple[int, int, int] | None:
    """The colour painted last at a point; None where it is white, or nothing is painted."""
    for shade in reversed(shades):
        left, top, right, bottom = shade.box
        if left <= x <= right and top <= y <= bottom:
            return None if min(shade.colour) >= _WHITE else shade.colour
    return None


def shades_in(box: Box, shades: Sequence[Shade]) -> list[Shade]:
    """Those of `shades` that touch a box."""
    left, top, right, bottom = box
    return [
        shade
        for shade in shades
        if shade.box[0] < right and shade.box[2] > left and shade.box[1] < bottom and shade.box[3] > top
    ]


def header_rows(rows: Sequence[Row], looks: Sequence[Look]) -> int:
    """The number of first rows that name columns; 0 where nothing tells.

    They are set off by weight or ground from nearly all others, or they have no figures where columns of figures
    stand below them; years and days are names there.
    """
    if len(rows) < 2:
        return 0
    first = looks[0]
    leading = next((at for at, look in enumerate(looks) if look != first), len(rows))
    set_off = first != _PLAIN and leading <= min(MAX_HEADER, len(rows) - 1)
    if set_off and sum(look == first for look in looks[leading:]) <= _SELDOM * (len(rows) - leading):
        return leading
    return int(_names_figures(rows))


def _names_figures(rows: Sequence[Row]) -> bool:
    if any(_FIGURE.search(_DATE.sub("", cell)) for cell in rows[0]):
        return False
    for name, *column in zip(*rows, strict=True):
        filled = [cell for cell in column if cell]
        if name and filled and sum(bool(_FIGURE.search(cell)) for cell in filled) >= _HALF * len(filled):
            return True
    return False
