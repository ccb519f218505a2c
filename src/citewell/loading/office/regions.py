"""Boxes on a sheet or slide, cut into regions by the empty lines between them, and in the order they are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Box = tuple[float, float, float, float]
"""(left, top, right, bottom), counted from the top left."""

_LEFT, _TOP = 0, 1
_DEEPEST = 20
"""Each cut looks at every box again; a hostile file could ask for one box less each time."""


def regions(boxes: Sequence[Box], gap: float) -> Iterator[list[int]]:
    """The places of `boxes`, region by region, each in the order of `boxes`.

    Cut where nothing stands for more than `gap` from edge to edge: first into bands, from the top down, then each band
    into columns, from the left, and so on. This is the recursive XY cut (Nagy and Seth 1984).
    """
    return _regions(boxes, list(range(len(boxes))), gap, 0)


def _regions(boxes: Sequence[Box], chosen: list[int], gap: float, depth: int) -> Iterator[list[int]]:
    parts = _cut(boxes, chosen, _TOP, gap)
    if len(parts) == 1:
        parts = _cut(boxes, chosen, _LEFT, gap)
    if len(parts) == 1 or depth >= _DEEPEST:
        yield chosen
        return
    for part in parts:
        yield from _regions(boxes, part, gap, depth + 1)


def _cut(boxes: Sequence[Box], chosen: list[int], side: int, gap: float) -> list[list[int]]:
    parts: list[list[int]] = []
    reached = float("-inf")
    for begin, end, at in sorted((boxes[at][side], boxes[at][side + 2], at) for at in chosen):
        if not parts or begin - reached > gap:
            parts.append([])
        parts[-1].append(at)
        reached = max(reached, end)
    return [sorted(part) for part in parts]
