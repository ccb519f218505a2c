"""Two pipes to another process, with an hour: no side can keep the other waiting beyond it, whoever holds the ends."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

_AT_ONCE = 1 << 16
_AWAKE_S = 0.5


@dataclass(slots=True)
class Pipes:
    """Reads from one file descriptor and writes to another until `deadline` (on `time.monotonic`'s clock).

    `on_wait` is called about twice a second while nothing comes; what it raises goes on to the caller. On Windows a
    pipe cannot be waited for, and whoever made the other process has to end it at the deadline.
    """

    source: int
    target: int
    deadline: float = float("inf")
    on_wait: Callable[[], None] | None = None

    def __post_init__(self) -> None:
        if sys.platform != "win32":
            os.set_blocking(self.target, False)

    def read(self, size: int) -> bytes:
        """`size` bytes, or fewer where the other side has gone.

        Raises:
            TimeoutError: the deadline has passed.
        """
        parts = bytearray()
        while len(parts) < size:
            self._wait(reading=True)
            part = os.read(self.source, min(size - len(parts), _AT_ONCE))
            if not part:
                break
            parts += part
        return bytes(parts)

    def write(self, data: bytes) -> None:
        """All of `data`.

        Raises:
            TimeoutError: the deadline has passed.
            BrokenPipeError: the other side has gone.
        """
        left = memoryview(data)
        while left:
            self._wait(reading=False)
            left = left[os.write(self.target, left[:_AT_ONCE]) :]

    def _wait(self, *, reading: bool) -> None:
        if sys.platform == "win32":
            return
        while True:
            left = self.deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            readable, writable = ([self.source], []) if reading else ([], [self.target])
            if any(select.select(readable, writable, [], min(left, _AWAKE_S))):
                return
            if self.on_wait is not None:
                self.on_wait()
