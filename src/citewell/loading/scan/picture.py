"""From a picture of a page to words and ruling lines as a digital page has them."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from citewell.loading.pdf.sheet import Frame, Rule, Style, Word
from citewell.loading.scan.engine import Pixels, ScannedLine, read_lines
from citewell.loading.scan.lettering import Lettering, levelled, measure
from citewell.loading.scan.rules import Ink, find_ink, find_rules
from citewell.loading.scan.straighten import Tilt, measure_tilt, turn_of

DPI = 200
"""At which a page is best rendered; a picture with more dots an inch is made smaller."""
_POINTS = 72
_NEARLY = 0.8
"""A picture that would be made smaller by less stays as it is."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What was read in a picture. `frame` is the picture in points with the `turn` (quarters, clockwise) that makes it
    upright; `words`, in reading order of their lines, and `rules` lie in it as it is then, and its tilt is taken out.

    Words that run in another direction than most are skewed, as a watermark is, at the place where they stand.
    `confidence` is the mean over all signs, 0 to 1; 0 where there are none. `illegible` lines were found and not read.
    """

    words: tuple[Word, ...]
    rules: tuple[Rule, ...]
    frame: Frame
    confidence: float
    turn: int
    illegible: int


def read_picture(pixels: Pixels, dpi: float) -> Scan:
    """Read a picture, (height, width, 3) red, green, blue or (height, width) grey, of `dpi` dots an inch."""
    image, dpi = _prepared(pixels, dpi)
    scale = dpi / _POINTS
    found = read_lines(image, dpi)
    lines = [line for line in found if line.legible]
    if not any(sign.isalnum() for line in lines for sign in line.text):
        lines = []  # shapes in a photograph
    ink = find_ink(image, dpi)
    tilt = measure_tilt(lines, ink)
    rules, ink = find_rules(tilt.upright(ink), dpi)
    placed = [_place(line, tilt, ink, scale) for line in lines]
    sizes = levelled([one.size for one in placed], [len(one.line.text) for one in placed])
    uprights = sorted((rule for rule in rules if not rule.level), key=lambda rule: rule.at)
    words: list[Word] = []
    for one, size in sorted(zip(placed, sizes, strict=True), key=lambda pair: (pair[0].baseline, pair[0].left)):
        style = Style(size, False, False, tilt.turn, not one.level, False, False)
        words += _words(one, style, _crossing(one, uprights)) if one.level else _aside(one, style)
    signs = sum(len(line.text) for line in lines)
    confidence = sum(line.confidence * len(line.text) for line in lines) / max(signs, 1)
    frame = Frame(0.0, 0.0, tilt.width / scale, tilt.height / scale, tilt.turn)
    return Scan(tuple(words), tuple(rules), frame, confidence, tilt.turn, len(found) - len(lines))


@dataclass(frozen=True, slots=True)
class _Placed:
    """A line at its place in the upright picture, in points; `level` is one that runs as most do."""

    line: ScannedLine
    level: bool
    left: float
    right: float
    baseline: float
    size: float


def _prepared(pixels: Pixels, dpi: float) -> tuple[Pixels, float]:
    """The picture in colour, blue first, as the engine takes it, with no more dots an inch than it needs."""
    import cv2

    image = cv2.cvtColor(pixels, cv2.COLOR_GRAY2BGR if pixels.ndim == 2 else cv2.COLOR_RGB2BGR)
    scale = min(DPI / dpi, 1.0)
    if scale < _NEARLY:
        image = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        dpi *= scale
    return np.asarray(image, np.uint8), dpi


def _place(line: ScannedLine, tilt: Tilt, ink: Ink, scale: float) -> _Placed:
    """Where a line is, how large, and on which base line; one that runs aside is as large as its box is narrow."""
    corners = tilt.moved(line.corners)
    level = turn_of(line) == tilt.turn
    if level:
        # The middle of both ends: a tilt that is left makes the box around the corners too high.
        left, right = float(corners[[0, 3], 0].mean()), float(corners[[1, 2], 0].mean())
        top, bottom = float(corners[:2, 1].mean()), float(corners[2:, 1].mean())
        lettering = measure(_inside(ink, left, top, right, bottom), line.text)
    else:
        (left, top), (right, bottom) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
        narrow = 0.7 * min(right - left, bottom - top)
        lettering = Lettering(narrow, (bottom - top + 0.6 * narrow) / 2)
    return _Placed(line, level, left / scale, right / scale, (top + lettering.baseline) / scale, lettering.size / scale)


def _inside(ink: Ink, left: float, top: float, right: float, bottom: float) -> Ink:
    """The ink in a box; one row and column of it at least, wherever the box is."""
    height, width = ink.shape
    x0, y0 = (min(max(math.floor(edge), 0), most - 1) for edge, most in ((left, width), (top, height)))
    return ink[y0 : max(math.ceil(bottom), y0 + 1), x0 : max(math.ceil(right), x0 + 1)]


def _crossing(one: _Placed, uprights: Sequence[Rule]) -> list[float]:
    """Where upright rules go through a line, between the cells of a table. A tall letter's stem is no rule."""
    middle = one.baseline - 0.3 * one.size
    return [
        rule.at
        for rule in uprights
        if one.left < rule.at < one.right and rule.start < middle < rule.end and rule.end - rule.start > 1.5 * one.size
    ]


def _words(one: _Placed, style: Style, cuts: Sequence[float]) -> Iterator[Word]:
    """The words of a line, which end at white space and at the `cuts`."""
    text, wide = one.line.text, one.right - one.left
    middles = [one.left + place * wide for place in one.line.places]
    cells = [bisect.bisect(cuts, middle) for middle in middles]
    edges = [one.left, *cuts, one.right]
    for (blank, cell), group in groupby(range(len(text)), key=lambda at: (text[at].isspace(), cells[at])):
        signs = list(group)
        if blank:
            continue
        first, last = middles[signs[0]], middles[signs[-1]]
        half = (last - first) / (len(signs) - 1) / 2 if len(signs) > 1 else wide / len(text) / 2
        spelled = "".join(text[at] for at in signs)
        x0, x1 = max(first - half, edges[cell]), min(last + half, edges[cell + 1])
        yield Word(spelled, x0, max(x0, x1), one.baseline, style, True)


def _aside(one: _Placed, style: Style) -> Iterator[Word]:
    """The words of a line that runs up, down or upside down, all at its middle, so that they stay together."""
    middle = (one.left + one.right) / 2
    for text in one.line.text.split():
        yield Word(text, middle - 0.3 * style.size, middle + 0.3 * style.size, one.baseline, style, True)
