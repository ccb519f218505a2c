"""Waiting for an endpoint, so that the run that waits can show that it is alive, and be stopped.

An endpoint may ask for minutes, several layers below whoever knows what to do meanwhile. What to do belongs to the
context of the thread, not to each function between.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

STEP_S = 0.2

_on_wait: ContextVar[Callable[[], None]] = ContextVar("on_wait", default=lambda: None)


@contextmanager
def waiting(on_wait: Callable[[], None]) -> Iterator[None]:
    """Inside, in this thread, each wait calls `on_wait` every `STEP_S`. What that raises ends the wait."""
    token = _on_wait.set(on_wait)
    try:
        yield
    finally:
        _on_wait.reset(token)


def show_alive() -> None:
    """Call `on_wait`: for who waits for something, every `STEP_S`."""
    _on_wait.get()()


def pause(seconds: float) -> None:
    """Wait so long."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        show_alive()
        time.sleep(min(left, STEP_S))
