"""Work in threads, so much at once and so much waiting; what comes after that is sent away, to come again."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

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
        # No more waits in the pool than there are threads for: what has not begun can be given up.
        self._waiting: dict[Future[Any], Callable[[], Any]] = {}
        self._at_work = 0
        self._at_once = [running]
        self._is_closed = False
        self._turning = threading.RLock()

    @property
    def inside(self) -> int:
        """How many run or wait."""
        with self._turning:
            return len(self._waiting) + self._at_work

    def begin(self, work: Callable[[], T]) -> Future[T]:
        """Take a place.

        Raises:
            TooBusy: there is none.
        """
        future = Future[T]()
        future.add_done_callback(self._given_up)
        with self._turning:
            if self._is_closed:
                raise TooBusy("The service is stopping.", remedy="Try again in a moment.")
            if self.inside >= self._most:
                raise TooBusy("Too many are asking just now.", remedy="Try again in a moment.")
            # With the span of the request, which is in the context.
            self._waiting[future] = partial(contextvars.copy_context().run, work)
            self._go_on()
        return future

    async def run(self, work: Callable[[], T]) -> T:
        """Raises:
        TooBusy: there is no place; and what `work` raises.
        """
        return await asyncio.wrap_future(self.begin(work))

    @contextmanager
    def narrowed(self, running: int) -> Iterator[None]:
        """Until the block ends, no more begins than so many at once; what runs already runs on. Of several such blocks
        the narrowest counts."""
        with self._turning:
            self._at_once.append(running)
        try:
            yield
        finally:
            with self._turning:
                self._at_once.remove(running)
                self._go_on()

    def close(self) -> None:
        """Wait for what runs; what waits is given up."""
        with self._turning:
            self._is_closed = True
            given_up, self._waiting = self._waiting, {}
        for future in given_up:
            future.cancel()
        self._pool.shutdown(wait=True)

    def _go_on(self) -> None:
        """Let begin what has waited longest, as much as may run."""
        with self._turning:
            while self._waiting and self._at_work < min(self._at_once):
                future = next(iter(self._waiting))
                work = self._waiting.pop(future)
                if future.set_running_or_notify_cancel():
                    self._at_work += 1
                    self._pool.submit(self._done, future, work)

    def _done(self, future: Future[Any], work: Callable[[], Any]) -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - whoever waits for it is told
            self._left()
            future.set_exception(error)
        else:
            self._left()
            future.set_result(result)

    def _left(self) -> None:
        with self._turning:
            self._at_work -= 1
            self._go_on()

    def _given_up(self, future: Future[Any]) -> None:
        with self._turning:
            self._waiting.pop(future, None)
