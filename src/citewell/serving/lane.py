"""Work in threads, so much at once and so much waiting; what comes after that is sent away, to come again."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from citewell.serving.problems import TooBusy

T = TypeVar("T")


class Lane:
    """`running` threads, and room for `waiting` more. A caller who goes away gives up a place that waits; what runs
    runs to its end, and keeps its thread until then.
    """

    def __init__(self, name: str, running: int, waiting: int) -> None:
        self.name = name
        self._pool = ThreadPoolExecutor(running, thread_name_prefix=f"citewell-{name}")
        self._most = running + waiting
        self._inside = 0
        self._counting = threading.Lock()
        self._at_once, self._at_work = running, 0
        self._turning = threading.Condition()

    @property
    def inside(self) -> int:
        """How many run or wait."""
        return self._inside

    def begin(self, work: Callable[[], T]) -> Future[T]:
        """Take a place.

        Raises:
            TooBusy: there is none.
        """
        with self._counting:
            if self._inside >= self._most:
                raise TooBusy("Too many are asking just now.", remedy="Try again in a moment.")
            self._inside += 1
        try:
            # With the span of the request, which is in the context.
            future = self._pool.submit(contextvars.copy_context().run, self._in_turn, work)
        except RuntimeError:  # it is closed
            self._left()
            raise TooBusy("The service is stopping.", remedy="Try again in a moment.") from None
        future.add_done_callback(lambda _: self._left())
        return future

    async def run(self, work: Callable[[], T]) -> T:
        """Raises:
        TooBusy: there is no place; and what `work` raises.
        """
        return await asyncio.wrap_future(self.begin(work))

    @contextmanager
    def narrowed(self, running: int) -> Iterator[None]:
        """Until the block ends, no more begins than so many at once; what runs already runs on."""
        with self._turning:
            before, self._at_once = self._at_once, min(self._at_once, running)
        try:
            yield
        finally:
            with self._turning:
                self._at_once = before
                self._turning.notify_all()

    def close(self) -> None:
        """Wait for what runs; what waits is given up."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _in_turn(self, work: Callable[[], T]) -> T:
        with self._turning:
            self._turning.wait_for(lambda: self._at_work < self._at_once)
            self._at_work += 1
        try:
            return work()
        finally:
            with self._turning:
                self._at_work -= 1
                self._turning.notify()

    def _left(self) -> None:
        with self._counting:
            self._inside -= 1
