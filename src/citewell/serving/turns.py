"""Who writes to the index next: one after the other, in all processes of the service.

A job gives its turn up after each file, and takes the next one behind whoever waits, so that a deletion need not wait
for a thousand files. Another program that writes (`citewell index`) is waited for, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout

from citewell.errors import IndexLocked

T = TypeVar("T")

POLL_S = 0.05
SOON_S = 20.0
"""So long a request waits for its turn."""
LONG_S = 3_600.0
"""So long a job does."""


class Turns:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, work: Callable[[], T], patience_s: float) -> T:
        """What `work` returns, in our turn.

        Raises:
            IndexLocked: others have been writing for all that time; and what `work` raises.
        """
        until = time.monotonic() + patience_s
        turn = self._lock("turn")
        try:
            # Only one waits for the turn itself, so that who gives it up does not take it again before them.
            with self._lock("next").acquire(timeout=patience_s, poll_interval=POLL_S):
                turn.acquire(timeout=max(until - time.monotonic(), 0), poll_interval=POLL_S)
        except Timeout:
            raise IndexLocked("The service is writing to the index.", remedy="Try again in a moment.") from None
        try:
            return _patient(work, until)
        finally:
            turn.release()

    def _lock(self, name: str) -> FileLock:
        # A new object each time: one is for one holder, and the holders here are threads.
        return FileLock(self._folder / f"{name}.lock", thread_local=False, fallback_to_soft=False)


def _patient(work: Callable[[], T], until: float) -> T:
    """Another program may hold the index."""
    while True:
        try:
            return work()
        except IndexLocked:
            if time.monotonic() > until:
                raise
        time.sleep(POLL_S)
