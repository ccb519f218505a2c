"""The ruling lines of a picture: long level and upright runs of ink."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from citewell.loading.pdf.sheet import Rule
from citewell.loading.scan.engine import Pixels

Ink = NDArray[np.uint8]
"""(height, width), 255 where there is ink, else 0."""

_LONG = {True: 36.0, False: 24.0}
"""Points; a level or upright run of ink is a line from this length on. Letters touch, but not for so long, and only
those of the largest titles are so high."""
_THICK = 4.0
"""Points; what is thicker is a bar or a picture."""
_WAVER = 1.0
"""Points by which a line may be off its course."""
_SLANT = 0.01
"""Of its length: how far from straight a line may run in a picture that was made upright."""
_GAP = 3.0
"""Points: how much of a line a bad scan may leave out in one place."""
_BROAD = 12.0
"""Points; what is dark and broader than this is ground: a shaded cell, a shadow, a photograph."""
_DARKER = 32
"""Of 255: how much darker than its ground ink is at least."""
_SPECK = 0.5
"""Square points; less ink than this in one place is dirt, or the dot of an i."""
_MAX_RULES = 10_000


def find_ink(image: Pixels, dpi: float) -> Ink:
    """The ink of a picture (height, width, 3): what is darker than the ground around it, specks left out."""
    import cv2

    scale = dpi / 72
    broad = np.ones((_odd(_BROAD * scale),) * 2, np.uint8)
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    dark = (cv2.morphologyEx(grey, cv2.MORPH_BLACKHAT, broad) >= _DARKER).astype(np.uint8)
    _, labels, boxes, _ = cv2.connectedComponentsWithStats(dark, connectivity=8)
    kept = boxes[:, cv2.CC_STAT_AREA] >= _SPECK * scale**2
    kept[0] = False
    ink: Ink = (kept.astype(np.uint8) * 255)[labels]
    return ink


def find_rules(ink: Ink, dpi: float) -> tuple[list[Rule], Ink]:
    """The ruling lines of upright ink, in points from the top left corner, and the ink that is left without them."""
    rules: list[Rule] = []
    rest = ink.copy()
    for level in (True, False):
        for left, top, width, height in _bars(ink, dpi / 72, level):
            length, start = (width, left) if level else (height, top)
            middle = top + height / 2 if level else left + width / 2
            rules.append(Rule(level, middle * 72 / dpi, start * 72 / dpi, (start + length) * 72 / dpi))
            rest[max(top - 1, 0) : top + height + 1, max(left - 1, 0) : left + width + 1] = 0
    return (rules if len(rules) <= _MAX_RULES else []), rest


def _bars(ink: Ink, scale: float, level: bool) -> Iterator[tuple[int, int, int, int]]:
    """The lines in one direction as (left, top, width, height) in pixels; `scale` is pixels a point."""
    import cv2

    def bar(along: float, across: float = 0.0) -> NDArray[np.uint8]:
        long, thick = _odd(along * scale), _odd(across * scale)
        return np.ones((thick, long) if level else (long, thick), np.uint8)

    # A scanned line is never quite straight: made thicker, it holds a straight run all the same.
    thick = cv2.dilate(ink, bar(0, _WAVER))
    linked = cv2.morphologyEx(cv2.morphologyEx(thick, cv2.MORPH_OPEN, bar(_LONG[level])), cv2.MORPH_CLOSE, bar(_GAP))
    for left, top, width, height, area in cv2.connectedComponentsWithStats(linked)[2].tolist()[1:]:
        length, across = (width, height) if level else (height, width)
        if area <= _THICK * scale * length and across <= _THICK * scale + _SLANT * length:
            yield left, top, width, height


def _odd(pixels: float) -> int:
    """The size of a brush that does not shift what it paints."""
    return round(pixels) | 1
