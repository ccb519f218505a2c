"""Asynchronous work for synchronous callers: in a thread with a loop of its own, which leaves nothing behind.

So it can be called from any thread, and where a loop already runs (a notebook, a request handler). Whoever stops
reading, by an early end or by Ctrl-C, ends the work. Who waits shows meanwhile that the run is alive: see
`citewell.models.waiting`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Generic, ParamSpec, TypeVar

from citewell.models.waiting import STEP_S, show_alive

AHEAD = 1_024
"""Results that may wait for their reader; then the work waits."""
CLOSE_S = 2.0
"""What the end of the work is waited for. The thread is a daemon: a peer that is slow to hang up keeps nobody."""

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Result(Generic[T]):
    value: T


class _Daemons(ThreadPoolExecutor):
    """A daemon thread for each call. A loop looks up names in such an executor, which cannot be broken off; Python's
    own would keep the process until a name server answers."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:  # noqa: BLE001  the future's, as in any executor
                future.set_exception(error)

        future.set_running_or_notify_cancel()
        threading.Thread(target=run, name="citewell-look-up", daemon=True).start()
        return future


def each(source: Callable[[], AsyncGenerator[T, None]]) -> Generator[T, None, None]:
    """What `source()` yields, as it comes, and what it raises. The work begins with the first `next`."""
    loop = asyncio.new_event_loop()
    loop.set_default_executor(_Daemons())
    left, room = asyncio.Event(), asyncio.Semaphore(AHEAD)
    ready: SimpleQueue[_Result[T] | BaseException | None] = SimpleQueue()

    async def produce() -> None:
        try:
            async with aclosing(source()) as results:
                async for result in results:
                    await room.acquire()
                    ready.put(_Result(result))
        except BaseException as error:  # noqa: BLE001  handed to the reader, who raises it
            ready.put(error)
        else:
            ready.put(None)

    async def work() -> None:
        task = asyncio.ensure_future(produce())
        await left.wait()
        task.cancel()
        await asyncio.wait([task])

    def main() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(work())

    thread = threading.Thread(target=main, name="citewell-llm", daemon=True)
    try:
        thread.start()
        while (result := _next(ready)) is not None:
            if isinstance(result, BaseException):
                raise result
            loop.call_soon_threadsafe(room.release)
            yield result.value
    finally:
        if thread.ident is None:  # there was no room for another
            loop.close()
        else:
            loop.call_soon_threadsafe(left.set)
            thread.join(CLOSE_S)


def _next(ready: SimpleQueue[T]) -> T:
    while True:
        try:
            return ready.get(timeout=STEP_S)
        except Empty:
            show_alive()
