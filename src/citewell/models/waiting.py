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
    """Inside, in this thread, each `pause` calls `on_wait` every `STEP_S`. What that raises ends the pause."""
    token = _on_wait.set(on_wait)
    try:
        yield
    finally:
        _on_wait.reset(token)


def pause(seconds: float) -> None:
    """Wait so long."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        _on_wait.get()()
        time.sleep(min(left, STEP_S))
