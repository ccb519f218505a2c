"""How large a line is set and where its base line is, told by its ink and by which letters it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from citewell.loading.scan.rules import Ink

_TALL, _LOW, _DEEP = 0.72, 0.49, 0.22
"""In ems: the height of capitals, figures and letters such as b; of those such as x; the depth of those such as p.
Between those of Times and Helvetica, so that sizes are right to a tenth."""
_LOW_LETTERS = frozenset("acemnorsuvwxzgpqyçąęæœø.,:;-–—_=+~·•…«»<>")
_DEEP_LETTERS = frozenset("gjpqyçąęQ,;()[]{}|/\\@$§_")
_SQUARE = 0x2E80
"""From here on letters fill a square."""
_SQUARE_HEIGHT, _SQUARE_DEPTH = 0.82, 0.1
_BREAK = 0.06
"""Of the height of a line's box; rows without ink from this height on part it from another line."""
_ALIKE = 0.09
"""Sizes as near as this are one size, measured twice."""


@dataclass(frozen=True, slots=True)
class Lettering:
    """The size of a line's type and how far below the top of its box its base line is, in pixels."""

    size: float
    baseline: float


def measure(ink: Ink, text: str) -> Lettering:
    """The lettering of a line that says `text`, from the `ink` (height, width) in its box."""
    if not ink.any():
        return Lettering(0.75 * len(ink), 0.75 * len(ink))
    top, bottom = _band(ink)
    signs = [sign for sign in text if not sign.isspace()]
    if 2 * sum(ord(sign) >= _SQUARE for sign in signs) > len(signs):
        above, below = _SQUARE_HEIGHT, _SQUARE_DEPTH
    else:
        above = _LOW if _LOW_LETTERS.issuperset(signs) else _TALL
        below = _DEEP if not _DEEP_LETTERS.isdisjoint(signs) else 0.0
    size = (bottom - top) / (above + below)
    return Lettering(size, bottom - below * size)


def _band(ink: Ink) -> tuple[int, int]:
    """The rows that hold the line: those around its fullest row, up to where other lines begin."""
    rows = np.count_nonzero(ink, axis=1)
    fullest = int(rows.argmax())
    inked = np.flatnonzero(rows)
    breaks = np.flatnonzero(np.diff(inked) > max(_BREAK * len(rows), 1))
    at = int(np.searchsorted(inked, fullest))
    first = int(breaks[breaks < at].max(initial=-1)) + 1
    last = int(breaks[breaks >= at].min(initial=len(inked) - 1))
    return int(inked[first]), int(inked[last]) + 1


def levelled(sizes: Sequence[float], weights: Sequence[int]) -> list[float]:
    """The sizes of lines, in points, with those that are nearly the same made the same, in half points.

    The size of most signs, which are the `weights`, takes in those around it, then that of most of the rest.
    """
    given = np.array(sizes)
    counts = np.array(weights, dtype=np.float64)
    result = np.zeros(len(given))
    left = np.ones(len(given), bool)
    while left.any():
        near = (np.abs(given[:, None] - given[None, :]) <= _ALIKE * given[None, :]) & left[:, None]
        taken = near[:, int(np.where(left, near.T @ counts, -1).argmax())]
        result[taken] = max(round(2 * float(np.average(given[taken], weights=counts[taken]))) / 2, 1.0)
        left &= ~taken
    return result.tolist()
