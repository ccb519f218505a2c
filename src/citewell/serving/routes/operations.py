"""`/health`, `/ready`, `/metrics`"""

from __future__ import annotations

import asyncio
import logging

from fastapi import APIRouter
from starlette.responses import Response

from citewell.serving.answers import Answered
from citewell.serving.metrics import CONTENT_TYPE
from citewell.serving.openapi import answers, errors
from citewell.serving.problems import log_failure
from citewell.serving.schemas import Health
from citewell.serving.service import MayAdminister, Serving

log = logging.getLogger("citewell.serving")
router = APIRouter(tags=["service"])

READY_S = 5.0


@router.get(
    "/health", response_class=Answered, responses=answers(200, Health, "The process is there.", {"status": "ok"})
)
async def health() -> Answered:
    """Whether the process answers; restart it where it does not."""
    return Answered({"status": "ok"})


@router.get(
    "/ready",
    response_class=Answered,
    responses={
        **answers(200, Health, "Questions can be asked.", {"status": "ready"}),
        **answers(503, Health, "They cannot: the log says why.", {"status": "not ready"}),
    },
)
async def ready(service: Serving) -> Answered:
    """Whether the index and the service's own database can be read; send it no questions where they cannot."""

    def look() -> None:
        service.index.states()
        service.jobs.are_open()

    try:
        # Not in a lane: a full one is no reason to be taken out, it says 429 itself.
        await asyncio.wait_for(asyncio.to_thread(look), READY_S)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is not ready
        log_failure(log, "not ready", error)
        return Answered({"status": "not ready"}, 503)
    return Answered({"status": "ready"})


@router.get(
    "/metrics",
    response_class=Response,
    responses={
        200: {"description": "Prometheus' text format.", "content": {"text/plain": {"schema": {"type": "string"}}}},
        **errors(),
    },
)
async def metrics(_: MayAdminister, service: Serving) -> Response:
    """Numbers of all processes, for Prometheus. Needs an admin's key."""
    return Response(await asyncio.to_thread(service.metrics.text), media_type=CONTENT_TYPE)
