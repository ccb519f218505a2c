"""Fixed windows: the plainest way to cut, by count alone."""

from __future__ import annotations

from collections.abc import Callable

Border = Callable[[int, int], int]
"""A token in (low, high] before which may be cut, the last one that there is; `low` where there is none."""


def _anywhere(_low: int, high: int) -> int:
    return high


def windows(
    tokens: int, size: int, overlap: int, border: Border = _anywhere, within: Border = _anywhere
) -> list[tuple[int, int]]:
    """Spans [start, end) of windows of `size` tokens over a text of `tokens`, each sharing `overlap` with the last.

    The last window is shorter where the text ends; none lies wholly inside the one before it. With a `border` a
    window ends, and the next begins, at the last border that the count allows; `within` says where to cut what is
    longer than a window. An overlap without a border, or that leaves no room for what comes next, is given up.

    Raises:
        ValueError: `overlap` is negative or not below `size`; the windows would not advance.
    """
    if not 0 <= overlap < size:
        raise ValueError(f"overlap {overlap} must be at least 0 and below size {size}")
    spans: list[tuple[int, int]] = []
    start = end = 0
    while end < tokens:
        reach = min(start + size, tokens)
        end = border(start, reach)
        if end == start:
            end = within(start, reach)
        spans.append((start, end))
        back = border(start, end - overlap) if start < end - overlap else start
        start = back if back > start and border(back, min(back + size, tokens)) > end else end
    return spans
