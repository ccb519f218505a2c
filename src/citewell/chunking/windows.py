"""Fixed windows: the plainest way to cut, by count alone."""

from __future__ import annotations


def windows(tokens: int, size: int, overlap: int) -> list[tuple[int, int]]:
    """Spans [start, end) of windows of `size` tokens over a text of `tokens`, each sharing `overlap` with the last.

    The last window is shorter where the text ends; none lies wholly inside the one before it.

    Raises:
        ValueError: `overlap` is negative or not below `size`; the windows would not advance.
    """
    if not 0 <= overlap < size:
        raise ValueError(f"overlap {overlap} must be at least 0 and below size {size}")
    if tokens <= 0:
        return []
    starts = range(0, max(tokens - overlap, 1), size - overlap)
    return [(start, min(start + size, tokens)) for start in starts]
