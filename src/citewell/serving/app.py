"""The application: one process of the service, from its parts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from citewell.conversations import ConversationStore
from citewell.index import Index
from citewell.serving.audit import Audit
from citewell.serving.border import REQUEST_ID, Border
from citewell.serving.compatible.problems import CompatibleErrors
from citewell.serving.daily import daily
from citewell.serving.evaluating import works
from citewell.serving.guard import MAX_BODY, Guard
from citewell.serving.identity import Identity, Loopback, Shown
from citewell.serving.jobs import Jobs
from citewell.serving.keys import Keys
from citewell.serving.lane import Lane
from citewell.serving.metrics import Metrics
from citewell.serving.openapi import TAGS, completed
from citewell.serving.rate import Rate
from citewell.serving.refused import wrong_http, wrong_values
from citewell.serving.routes import (
    ask,
    changes,
    compatible,
    conversations,
    documents,
    evaluations,
    jobs,
    mcp,
    me,
    operations,
    search,
)
from citewell.serving.routes.page import add_page
from citewell.serving.runner import Runner
from citewell.serving.service import Service
from citewell.serving.state import State
from citewell.serving.tracing import send_rest
from citewell.serving.turns import Turns
from citewell.serving.uploading import KIND, Uploading
from citewell.serving.uploads import Uploads, settle
from citewell.settings import Settings

MB = 1_000_000
WRITING = 4
ROUTERS = (
    search.router,
    ask.router,
    conversations.router,
    documents.router,
    changes.router,
    jobs.router,
    evaluations.router,
    operations.router,
    compatible.router,
    mcp.router,
    me.router,
)


def create_app(index_place: str | Path, settings: Settings, *, no_auth: bool = False) -> FastAPI:
    """The service for the index at that place, with its state in the folder that the settings name.

    With `no_auth`, whoever is on this machine may do everything, and nobody else anything.

    Raises:
        IndexNotFound: there is no index.
        IndexFormatError: it was made by another version, or is damaged.
        PermissionRefused: the folder of the service cannot be used.
    """
    return app_for(Index.open(index_place, settings=settings), str(index_place), settings, no_auth=no_auth)


def app_for(index: Index, place: str, settings: Settings, *, no_auth: bool = False) -> FastAPI:
    """As `create_app`, for an index that is open; it is closed when the application ends."""
    state = State.at(settings.service.state)
    service = service_for(index, place, settings, state)
    identity: Identity = Loopback(settings) if no_auth else Shown(Keys(state), settings)
    app = FastAPI(
        title="Citewell",
        summary="Ask your own documents a question and get an answer you can check.",
        version=version("citewell"),
        openapi_tags=TAGS,
        generate_unique_id_function=lambda route: route.name,
        docs_url=None,  # its page loads from elsewhere
        redoc_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # it would tell queries; tracing.py does not
        lifespan=_lifespan,
        middleware=[
            Middleware(CompatibleErrors),
            Middleware(Border, metrics=service.metrics),
            Middleware(
                CORSMiddleware,
                allow_origins=settings.service.cors_origins,
                allow_methods=["GET", "HEAD", "POST", "PATCH", "DELETE"],
                allow_headers=["Authorization", "Content-Type", "Accept", "Range", "If-Range"],
                expose_headers=["Location", "Retry-After", "Accept-Ranges", "Content-Range", "ETag", REQUEST_ID],
            ),
            Middleware(
                Guard,
                identity=identity,
                rate=Rate(settings.service.rate_per_minute),
                audit=service.audit,
                max_upload=int(settings.service.max_upload_mb * MB) + MAX_BODY,  # and what surrounds the files
            ),
        ],
    )
    app.exception_handler(RequestValidationError)(wrong_values)
    app.exception_handler(HTTPException)(wrong_http)
    app.state.service = service
    for router in ROUTERS:
        app.include_router(router)
    add_page(app)
    plain_schema = app.openapi
    app.openapi = lambda: completed(plain_schema())  # type: ignore[method-assign]  # FastAPI's own way to change it
    return app


def service_for(index: Index, place: str, settings: Settings, state: State) -> Service:
    """What the routes work with."""
    limits = settings.service
    asking = Lane("asking", limits.max_running, limits.max_waiting)
    reading = Lane("reading", limits.max_running, limits.max_waiting)
    writing = Lane("writing", WRITING, limits.max_waiting)
    # An answer of a model's is waited for: it leaves the processor to others.
    computing = (asking, reading) if settings.models.llm == "none" else (reading,)
    turns, uploads = Turns(state.folder), Uploads(state.folder / "uploads")
    jobs = Jobs(state, partial(settle, index))
    return Service(
        index=index,
        settings=settings,
        state=state,
        asking=asking,
        reading=reading,
        writing=writing,
        turns=turns,
        jobs=jobs,
        runner=Runner(jobs, state.folder, {KIND: Uploading(index, turns, uploads, computing)}),
        evaluating=Runner(jobs, state.folder, works(place, settings), "evaluations"),
        uploads=uploads,
        conversations=ConversationStore.at(state.folder, limits.conversation_days),
        audit=Audit(state.folder),
        metrics=Metrics((asking, reading, writing)),
    )


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Jobs run from the start to the end; at the end the step under way and what is being answered are waited for."""
    service: Service = app.state.service
    runners = (service.runner, service.evaluating)
    for runner in runners:
        runner.start()
    expiring = asyncio.create_task(daily("conversations", service.conversations.expire))
    try:
        yield
    finally:
        expiring.cancel()
        for runner in runners:
            runner.stop()
        for lane in (service.asking, service.reading, service.writing):
            lane.close()
        service.index.close()
        await asyncio.to_thread(send_rest)
