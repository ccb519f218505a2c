"""Asynchronous work for synchronous callers: in a thread with a loop of its own, which leaves nothing behind.

So it can be called from any thread, and where a loop already runs (a notebook, a request handler). Whoever stops
reading, by an early end or by Ctrl-C, ends the work.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Generic, TypeVar

AHEAD = 1_024
"""Results that may wait for their reader; then the work waits."""
CLOSE_S = 2.0
"""What the end of the work is waited for. The thread is a daemon: a peer that is slow to hang up keeps nobody."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Result(Generic[T]):
    value: T


def each(source: Callable[[], AsyncGenerator[T, None]]) -> Generator[T, None, None]:
    """What `source()` yields, as it comes, and what it raises. The work begins with the first `next`."""
    loop = asyncio.new_event_loop()
    left, room = asyncio.Event(), asyncio.Semaphore(AHEAD)
    ready: SimpleQueue[_Result[T] | Exception | None] = SimpleQueue()

    async def produce() -> None:
        try:
            async with aclosing(source()) as results:
                async for result in results:
                    await room.acquire()
                    ready.put(_Result(result))
        except Exception as error:  # noqa: BLE001  handed to the reader, who raises it
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
    thread.start()
    try:
        while (result := ready.get()) is not None:
            if isinstance(result, Exception):
                raise result
            loop.call_soon_threadsafe(room.release)
            yield result.value
    finally:
        loop.call_soon_threadsafe(left.set)
        thread.join(CLOSE_S)
