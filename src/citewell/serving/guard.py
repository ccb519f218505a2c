"""Before a body is read: who is it, not too often, and how much may be sent."""

from __future__ import annotations

import time

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from citewell.serving.audit import Audit
from citewell.serving.caller import Caller
from citewell.serving.caller import Scope as CallerScope
from citewell.serving.identity import Identity
from citewell.serving.problems import Forbidden, TooLarge, Unauthenticated
from citewell.serving.rate import Rate

OPEN = frozenset({"/", "/health", "/ready", "/openapi.json", "/favicon.ico"})
"""For everybody. All else, whether it exists or not, is for those who have shown who they are."""
OPEN_BELOW = "/static/"
UPLOADS = "/v1/documents"

MAX_BODY = 2_000_000
"""Bytes of a request that uploads nothing."""

REFUSALS = 60
"""Lines in the audit log within a minute. Anybody can be refused as often as they like."""
MINUTE_S = 60.0


class BodyTooLarge(HTTPException):
    """`TooLarge`, where a body is read: there, the framework leaves only its own errors as they are."""

    def __init__(self, most: int) -> None:
        super().__init__(413, _too_large(most))


class Guard:
    """Puts the caller into the request's state."""

    def __init__(self, app: ASGIApp, identity: Identity, rate: Rate, audit: Audit, max_upload: int) -> None:
        self._app = app
        self._identity = identity
        self._rate = rate
        self._audit = audit
        self._max_upload = max_upload
        self._since, self._refused = 0.0, 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})  # there are none here
            return
        if scope["type"] == "http":
            most = MAX_BODY
            if not is_open(scope["path"]):
                caller = await self._identified(scope)
                scope["state"]["caller"] = caller
                self._rate.count(caller.name)
                most = self._most(scope, caller)
            receive = _bounded(scope, receive, most)
        await self._app(scope, receive, send)

    async def _identified(self, scope: Scope) -> Caller:
        peer = scope["client"][0] if scope.get("client") else ""
        try:
            return await run_in_threadpool(self._identity.caller, Headers(scope=scope), peer)
        except (Unauthenticated, Forbidden) as error:
            self._note(type(error).__name__, scope["state"]["request_id"])
            raise

    def _note(self, outcome: str, request_id: str) -> None:
        """In the audit log, or no more than counted: the first line after that minute says how many there were."""
        if time.monotonic() - self._since > MINUTE_S:
            more = self._refused - REFUSALS
            outcome = f"{outcome} and {more} before" if more > 0 else outcome
            self._since, self._refused = time.monotonic(), 0
        self._refused += 1
        if self._refused <= REFUSALS:
            self._audit.write("refused", caller=None, request=request_id, outcome=outcome)

    def _most(self, scope: Scope, caller: Caller) -> int:
        uploads = scope["method"] == "POST" and scope["path"] == UPLOADS and caller.may(CallerScope.WRITE)
        return self._max_upload if uploads else MAX_BODY


def is_open(path: str) -> bool:
    return path in OPEN or path.startswith(OPEN_BELOW)


def _bounded(scope: Scope, receive: Receive, most: int) -> Receive:
    """As `receive`, up to so many bytes; at once where the request says itself that it has more."""
    said = Headers(scope=scope).get("content-length", "")
    if said.isdecimal() and len(said) < 20 and int(said) > most:
        raise TooLarge(_too_large(most), remedy="Send less at once.")
    came = 0

    async def bounded() -> Message:
        nonlocal came
        message = await receive()
        came += len(message.get("body", b""))
        if came > most:
            raise BodyTooLarge(most)
        return message

    return bounded


def _too_large(most: int) -> str:
    return f"A request may hold {most:,} bytes."
