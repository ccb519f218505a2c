"""`POST /mcp`: the Model Context Protocol, with the rights of whoever sends the request.

Each request stands for itself: it is guarded as any other, no session outlives it, and any worker process can answer.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from citewell.index import Index
from citewell.serving import audited
from citewell.serving.answering import Question, nobody_listens
from citewell.serving.asked import AskBody
from citewell.serving.caller import Caller
from citewell.serving.guard import MAX_BODY
from citewell.serving.service import MayRead, Service, request_id
from citewell.shapes import Shape
from citewell.types import Answer, Principal, Turn

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager


@asynccontextmanager
async def _running(app: FastAPI) -> AsyncIterator[None]:
    """Of the application: without the extra `mcp` there is nothing to run."""
    app.state.mcp = None
    if find_spec("mcp") is None:
        yield
        return
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from citewell.serving.mcp.server import server

    service: Service = app.state.service
    made = server(lambda context: _ServiceDesk.of(service, context.request))
    manager = StreamableHTTPSessionManager(made, json_response=True, stateless=True, max_request_body_size=MAX_BODY)
    async with manager.run():
        app.state.mcp = manager
        yield


router = APIRouter(lifespan=_running)


@router.post("/mcp", response_class=Response, include_in_schema=False)
async def mcp(request: Request, _: MayRead) -> Response:
    """Messages of the protocol. It has a schema of its own, so it is not in this one."""
    manager: StreamableHTTPSessionManager | None = request.app.state.mcp
    if manager is None:
        raise HTTPException(404)
    return _Handled(manager)


class _Handled(Response):
    """A response that the protocol's own implementation sends."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        super().__init__()
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._manager.handle_request(scope, receive, send)


@dataclass(frozen=True, slots=True)
class _ServiceDesk:
    """A `Desk`: the service's lanes, audit log and numbers."""

    service: Service
    caller: Caller
    request_id: str

    @classmethod
    def of(cls, service: Service, request: Any) -> _ServiceDesk:
        return cls(service, request.state.caller, request_id(request))

    @property
    def index(self) -> Index:
        return self.service.index

    async def reading(self, work: Callable[[], Shape]) -> Shape:
        return await self.service.reading.run(work)

    async def asking(self, work: Callable[[], Shape]) -> Shape:
        return await self.service.asking.run(work)

    def answer(self, body: AskBody, principal: Principal, turns: Sequence[Turn]) -> Answer:
        question = Question(body, principal, turns)
        return audited.ask(self.service, self.caller, self.request_id, question, nobody_listens)

    def note(self, action: str, asked: str, documents: Iterable[str]) -> None:
        self.service.audit.write(action, caller=self.caller, request=self.request_id, asked=asked, documents=documents)
