"""The outermost layer: what every request and every response goes through, and where every error becomes a response."""

from __future__ import annotations

import logging
import secrets
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from citewell.serving.answers import Answered
from citewell.serving.headers import ALWAYS
from citewell.serving.metrics import Metrics
from citewell.serving.problems import headers_of, log_failure, told
from citewell.serving.tracing import request_span

log = logging.getLogger("citewell.serving")

REQUEST_ID = "X-Request-Id"
ELSEWHERE = "other"
"""The route of what has none."""


class Border:
    """Gives each request an id, each response its headers; counts, logs and traces; turns errors into responses."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        passing = _Passing(scope, receive, send)
        begin = time.perf_counter()
        with request_span(passing.method, Headers(scope=scope)) as finish:
            try:
                await self._app(scope, receive, passing.send)
            except Exception as error:  # noqa: BLE001 - the last border: whatever it is, it is logged and answered
                await passing.fail(error)
            seconds = time.perf_counter() - begin
            finish(passing.route, passing.status)
            self._metrics.answered(passing.route, passing.method, passing.status, seconds)
            caller = scope["state"].get("caller")
            log.info(
                "%s %s %d %.0f ms %s %s",
                *(passing.method, passing.route, passing.status, seconds * 1000),
                *(caller.name if caller is not None else "-", passing.id),
            )


class _Passing:
    """One request on its way."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.id = secrets.token_hex(8)
        self.method: str = scope["method"]
        self.status = 0
        self._scope, self._receive, self._send = scope, receive, send
        scope.setdefault("state", {})["request_id"] = self.id

    @property
    def route(self) -> str:
        """The template of its path: a path itself may hold anything."""
        return str(getattr(self._scope.get("route"), "path", ELSEWHERE))

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers[REQUEST_ID] = self.id
            for name, value in ALWAYS.items():
                headers.setdefault(name, value)
        await self._send(message)

    async def fail(self, error: Exception) -> None:
        log_failure(log, f"request {self.id}", error)
        if self.status:
            # It has begun: all that is left is to break it off, so that nobody takes it for whole.
            self.status = 500
            raise error
        status, shape = told(error, self._scope["state"].get("caller"))
        await Answered(shape, status, headers_of(error))(self._scope, self._receive, self.send)
