"""`POST /v1/ask`, as JSON or as server-sent events."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from fastapi import APIRouter, Request
from starlette.responses import Response

from citewell.serving import events, examples
from citewell.serving.answering import Question, Tell, nobody_listens
from citewell.serving.answers import Answered
from citewell.serving.asked import AskBody
from citewell.serving.caller import Caller
from citewell.serving.narrowing import principal_for
from citewell.serving.openapi import answers, errors
from citewell.serving.problems import log_failure, told
from citewell.serving.schemas import CitedAnswer
from citewell.serving.service import MayRead, RequestId, Service, Serving
from citewell.serving.talking import answered
from citewell.shapes import Shape

log = logging.getLogger("citewell.serving")
router = APIRouter(tags=["ask"])

_STREAM = events.event("step", examples.STEP) + events.event("answer", examples.ANSWER)
_GOOD = answers(
    200,
    CitedAnswer,
    "The answer, or that there is none and why. With `stream`, or `Accept: text/event-stream`, server-sent events: "
    "`step` (one of the trace), `draft` (a piece of text that is not checked yet), at last `answer`, or `error`.",
    examples.ANSWER,
)
_GOOD[200]["content"][events.MEDIA_TYPE] = {"itemSchema": events.SCHEMA, "example": _STREAM}


@router.post("/v1/ask", response_class=Answered, responses={**_GOOD, **errors(400, 404, 413, 502)})
async def ask(request: Request, body: AskBody, caller: MayRead, service: Serving, request_id: RequestId) -> Response:
    """A cited answer from the documents that the caller may read."""
    question = Question(body, principal_for(caller, body.groups), [turn.turn for turn in body.turns])

    work = partial(answered, service, caller, request_id, question)
    if body.stream or events.MEDIA_TYPE in request.headers.get("accept", ""):
        return _stream(service, work, caller, request_id)
    return Answered(await service.asking.run(lambda: work(nobody_listens)))


def _stream(service: Service, work: Callable[[Tell], Shape], caller: Caller, request_id: str) -> Response:
    def to_the_end(tell: Tell) -> events.Last:
        try:
            return "answer", work(tell)
        except Exception as error:  # noqa: BLE001 - the stream has begun: its last event says what happened
            log_failure(log, f"request {request_id}", error)
            return "error", told(error, caller)[1]

    stream = events.Stream(service.asking, to_the_end)
    return events.Streamed(stream, stream.text())
