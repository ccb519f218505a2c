"""How a picture is tilted, and its ink turned so that most of its lines run level from left to right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citewell.loading.scan.engine import ScannedLine
from citewell.loading.scan.rules import Ink

_LEVEL = 0.0005
"""Radians; so little tilt moves the end of a line by no more than a pixel."""
_STEPS = (0.001, 0.0002)
"""Radians, in which the angle is searched for around a first guess, eight to either side."""
_SAMPLE = 3
"""Each third point of ink tells as much as all."""


@dataclass(frozen=True, slots=True)
class Tilt:
    """How a picture lies: it is upright after `turn` quarter turns clockwise, and then by `angle` back.

    `angle` in radians, clockwise is positive. `width` and `height` are the picture's, in pixels.
    """

    turn: int
    angle: float
    width: int
    height: int

    def moved(self, points: NDArray[Any]) -> NDArray[np.float64]:
        """Points (n, 2) of the picture, in pixels, as they lie in the upright one."""
        x, y = points[:, 0].astype(np.float64), points[:, 1].astype(np.float64)
        width, height = self.width, self.height
        for _ in range(self.turn):
            x, y = height - y, x
            width, height = height, width
        across, down = x - width / 2, y - height / 2
        cos, sin = math.cos(self.angle), math.sin(self.angle)
        return np.stack([across * cos + down * sin + width / 2, down * cos - across * sin + height / 2], axis=1)

    def upright(self, ink: Ink) -> Ink:
        """The ink upright."""
        import cv2

        turned = np.ascontiguousarray(np.rot90(ink, -self.turn))
        if abs(self.angle) < _LEVEL:
            return turned
        height, width = turned.shape
        matrix = cv2.getRotationMatrix2D((width / 2, height / 2), math.degrees(self.angle), 1.0)
        return np.asarray(cv2.warpAffine(turned, matrix, (width, height), flags=cv2.INTER_NEAREST), np.uint8)


def measure_tilt(lines: Sequence[ScannedLine], ink: Ink) -> Tilt:
    """The tilt of a picture with this ink, whose lines were read.

    Most signs tell the quarter turn, the middle slope of the longer lines roughly the angle, and the ink finely: rows
    of ink part most sharply from what is between them where they are level (Postl, 1986).
    """
    height, width = ink.shape
    turns = [0, 0, 0, 0]
    for line in lines:
        turns[turn_of(line)] += len(line.text)
    turn = turns.index(max(turns))
    tilt = Tilt(turn, 0.0, width, height)
    own = sorted((line for line in lines if turn_of(line) == turn), key=lambda line: -_length(line))
    if not own or not ink.any():
        return tilt
    slopes = [math.remainder(_angle(line) + turn * math.pi / 2, 2 * math.pi) for line in own[: len(own) // 2 + 1]]
    angle = float(np.median(slopes))
    across, down = tilt.moved(np.argwhere(ink)[::_SAMPLE, ::-1]).T
    for step in _STEPS:
        angle = max((angle + step * n for n in range(-8, 9)), key=lambda tried: _sharpness(across, down, tried))
    return replace(tilt, angle=angle)


def _sharpness(across: NDArray[np.float64], down: NDArray[np.float64], angle: float) -> float:
    """How sharply the rows of points part from each other after a turn by `angle` back."""
    rows = down * math.cos(angle) - across * math.sin(angle)
    counts = np.bincount((rows - rows.min()).astype(np.intp))
    return float(np.square(np.diff(counts)).sum())


def turn_of(line: ScannedLine) -> int:
    """The quarter turns clockwise that make a line upright."""
    return -round(_angle(line) / (math.pi / 2)) % 4


def _angle(line: ScannedLine) -> float:
    along = line.corners[1] - line.corners[0]
    return math.atan2(float(along[1]), float(along[0]))


def _length(line: ScannedLine) -> float:
    return float(np.linalg.norm(line.corners[1] - line.corners[0]))
