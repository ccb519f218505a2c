"""Server-sent events from a thread: sent as they come, with a sign of life while nothing does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from citewell.serving.answering import Tell
from citewell.serving.answers import dumped
from citewell.serving.lane import Lane
from citewell.shapes import Shape

MEDIA_TYPE = "text/event-stream"
SCHEMA = {
    "type": "object",
    "properties": {"event": {"type": "string"}, "data": {"type": "string", "contentMediaType": "application/json"}},
    "required": ["data"],
}
"""Of one event, as OpenAPI has it in `itemSchema`."""
ALIVE_S = 10.0
ALIVE = ": working\n\n"
"""A comment, so that nobody between us and the client takes the line for dead."""

Last = tuple[str, Shape]
"""The name of the last event, and what it says."""


class Stream:
    """Work in a lane that tells events. It has its place when the stream is made, so that a full lane is still an error
    of the request. When whoever reads goes away, the work ends where it next tells something.
    """

    def __init__(self, lane: Lane, work: Callable[[Tell], Last]) -> None:
        """Raises TooBusy: there is no place."""
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[Last | None] = asyncio.Queue()
        self._left = False
        self._future: Future[Last] = lane.begin(lambda: work(self._tell))
        self._future.add_done_callback(lambda _: self._loop.call_soon_threadsafe(self._events.put_nowait, None))

    def leave(self) -> None:
        """Nobody reads any more."""
        self._left = True
        self._future.cancel()  # work that has not begun

    async def text(self) -> AsyncIterator[str]:
        """The stream."""
        while True:
            try:
                told = await asyncio.wait_for(self._events.get(), ALIVE_S)
            except TimeoutError:
                yield ALIVE
                continue
            if told is None:
                break
            yield event(*told)
        yield event(*self._future.result())

    def _tell(self, name: str, says: Shape) -> None:
        if self._left:
            raise asyncio.CancelledError  # no `Exception`: nobody takes it for a failure
        self._loop.call_soon_threadsafe(self._events.put_nowait, (name, says))


class Streamed(StreamingResponse):
    """A stream as a response: `text` is its events as they are sent. However it ends, the stream knows."""

    def __init__(self, stream: Stream, text: AsyncIterator[str]) -> None:
        # Proxies would hold the events back, to send them in one piece.
        super().__init__(text, media_type=MEDIA_TYPE, headers={"X-Accel-Buffering": "no"})
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._stream.leave()


def event(name: str, says: Shape) -> str:
    return f"event: {name}\ndata: {dumped(says)}\n\n"
