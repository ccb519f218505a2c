"""A sign of life from long work: each page read by OCR gives one, and the time limit starts again."""

from __future__ import annotations

from collections.abc import Callable


def _unheard() -> None:
    """Nobody listens."""


_listener: Callable[[], None] = _unheard


def listen(listener: Callable[[], None]) -> None:
    """Have `listener` called at each beat from now on."""
    global _listener
    _listener = listener


def beat() -> None:
    """Say that the work goes on."""
    _listener()
