"""Errors as OpenAI's clients read them, on the routes that are theirs."""

from __future__ import annotations

import json
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from citewell.serving import openapi
from citewell.serving.answers import dumped
from citewell.serving.compatible.schemas import CompatibleProblem
from citewell.shapes import Shape

PATHS = frozenset({"/v1/chat/completions", "/v1/models", "/v1/embeddings", "/v1/rerank"})
BELOW = "/v1/models/"

KINDS = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
WRONG, FAULT = "invalid_request_error", "server_error"


def reshaped(status: int, problem: Shape) -> Shape:
    """The shape of `serving.problems` in OpenAI's: the remedy is part of the message, our type is the `code`."""
    error = problem["error"]
    return {
        "error": {
            "message": f"{error['message']} {error['remedy']}",
            "type": KINDS.get(status, FAULT if status >= 500 else WRONG),
            "param": None,
            "code": error["type"],
        }
    }


def errors(*more: int) -> openapi.Responses:
    """As `openapi.errors`, for the schema of these routes."""
    told = openapi.errors(*more)
    for status, response in told.items():
        content: dict[str, Any] = response["content"]["application/json"]
        response["model"] = CompatibleProblem
        content["example"] = reshaped(int(status), content["example"])
    return told


class CompatibleErrors:
    """The outermost layer: whoever refuses, the guard or a route, the client of these routes reads it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        theirs = scope["type"] == "http" and (scope["path"] in PATHS or scope["path"].startswith(BELOW))
        await self._app(scope, receive, _Reshaping(send).send if theirs else send)


class _Reshaping:
    """One response; an error is held back until its body is whole."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = b""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_error(message):
            self._start = message
        elif self._start is None:
            await self._send(message)
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self._whole(self._start)

    async def _whole(self, start: Message) -> None:
        body = dumped(reshaped(start["status"], json.loads(self._body))).encode()
        MutableHeaders(scope=start)["Content-Length"] = str(len(body))
        await self._send(start)
        await self._send({"type": "http.response.body", "body": body})


def _is_error(start: Message) -> bool:
    kind = Headers(raw=start["headers"]).get("content-type", "")
    return start["status"] >= 400 and kind.startswith("application/json")
