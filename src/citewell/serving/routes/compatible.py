"""`/v1/chat/completions`, `/v1/models`, `/v1/embeddings` and `/v1/rerank`, as clients of other services know them."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from citewell import clock
from citewell.question import checked
from citewell.serving import audited, events
from citewell.serving.answering import Question, Tell, nobody_listens
from citewell.serving.answers import Answered
from citewell.serving.asked import AskBody
from citewell.serving.caller import Caller
from citewell.serving.compatible import examples
from citewell.serving.compatible.completions import Chunks, completion
from citewell.serving.compatible.messages import ChatBody, conversation
from citewell.serving.compatible.model import MODEL, ModelName, model_shape, models_shape, require
from citewell.serving.compatible.problems import errors, reshaped
from citewell.serving.compatible.ranking import RerankBody, ranking
from citewell.serving.compatible.schemas import ChatCompletion, EmbeddingList, ModelList, OneModel, Ranking
from citewell.serving.compatible.vectors import EmbeddingsBody, embeddings
from citewell.serving.narrowing import Narrowed, principal_for
from citewell.serving.openapi import answers
from citewell.serving.problems import log_failure, told
from citewell.serving.service import MayRead, RequestId, Service, Serving
from citewell.shapes import Shape, ask_shape

log = logging.getLogger("citewell.serving")
router = APIRouter(tags=["compatible"])

_CHUNK = "chunk"
_CHAT = answers(
    200,
    ChatCompletion,
    "The answer; with `stream`, chunks of it. `annotations` has a citation for each mark in it. That there is no "
    "answer is said in words, and by `citewell.abstained`.",
    examples.COMPLETION,
)
_CHAT[200]["content"][events.MEDIA_TYPE] = {
    "itemSchema": events.SCHEMA,
    "example": f"{examples.STREAM}data: [DONE]\n\n",
}


@router.post("/v1/chat/completions", response_class=Answered, responses={**_CHAT, **errors(400, 404, 413, 502)})
async def chat(body: ChatBody, caller: MayRead, service: Serving, request_id: RequestId) -> Response:
    """A cited answer, as a chat completion. Messages of the system are ignored: the rules are the service's."""
    require(body.model)
    question, created = _question(body, caller), int(clock.now().timestamp())
    if body.stream:
        chunks = Chunks(request_id, created, body.wants_usage)
        return _stream(service, caller, request_id, question, chunks)
    answer = await service.asking.run(lambda: audited.ask(service, caller, request_id, question, nobody_listens))
    return Answered(completion(ask_shape(answer), request_id, created))


@router.get(
    "/v1/models",
    response_class=Answered,
    responses={**answers(200, ModelList, "The one model.", models_shape()), **errors()},
)
async def models(_: MayRead) -> Answered:
    """What `model` may be."""
    return Answered(models_shape())


@router.get(
    "/v1/models/{model}",
    response_class=Answered,
    responses={**answers(200, OneModel, "It is there.", model_shape()), **errors(404)},
)
async def one_model(model: Annotated[ModelName, Path(min_length=1, examples=[MODEL])], _: MayRead) -> Answered:
    """Whether there is a model of that name."""
    require(model)
    return Answered(model_shape())


@router.post(
    "/v1/embeddings",
    response_class=Answered,
    responses={
        **answers(200, EmbeddingList, "A vector for each text.", examples.EMBEDDINGS),
        **errors(400, 404, 413, 502),
    },
)
async def embed(body: EmbeddingsBody, caller: MayRead, service: Serving, request_id: RequestId) -> Answered:
    """Texts of one's own as vectors, by the embedder of the index. No document is read."""
    require(body.model)

    def embedded() -> Shape:
        service.audit.write("embed", caller=caller, request=request_id)
        return embeddings(service.index.embedder, body)

    return Answered(await service.asking.run(embedded))


@router.post(
    "/v1/rerank",
    response_class=Answered,
    responses={**answers(200, Ranking, "The best first.", examples.RANKING), **errors(400, 404, 413, 502)},
)
async def rerank(body: RerankBody, caller: MayRead, service: Serving, request_id: RequestId) -> Answered:
    """Documents of one's own in the order in which they answer a query, by the re-ranker of the index."""
    require(body.model)

    def ranked() -> Shape:
        service.audit.write("rerank", caller=caller, request=request_id, asked=body.query)
        return ranking(service.index, body, request_id)

    return Answered(await service.asking.run(ranked))


def _question(body: ChatBody, caller: Caller) -> Question:
    text, turns = conversation(body.messages)
    narrowed = body.citewell or Narrowed()
    asked = AskBody(
        question=checked(text),
        as_of=narrowed.as_of,
        where=narrowed.where,
        groups=narrowed.groups,
        turns=[],
        stream=False,
    )
    return Question(asked, principal_for(caller, narrowed.groups), turns)


def _stream(service: Service, caller: Caller, request_id: str, question: Question, chunks: Chunks) -> Response:
    def to_the_end(tell: Tell) -> events.Last:
        def is_there(_event: str, _says: Shape) -> None:
            # No drafts: these clients draw Markdown, and only a whole text can be made harmless. But whoever has gone
            # away ends the answer here.
            tell(_CHUNK, chunks.alive())

        tell(_CHUNK, chunks.begin())
        try:
            *first, last = chunks.rest(ask_shape(audited.ask(service, caller, request_id, question, is_there)))
        except Exception as error:  # noqa: BLE001 - the stream has begun: its last event says what happened
            log_failure(log, f"request {request_id}", error)
            return "error", reshaped(*told(error, caller))
        for chunk in first:
            tell(_CHUNK, chunk)
        return _CHUNK, last

    stream = events.Stream(service.asking, to_the_end)
    return events.Streamed(stream, _unnamed(stream))


async def _unnamed(stream: events.Stream) -> AsyncIterator[str]:
    """The stream as these clients read it: events without names, and an end."""
    async for event in stream.text():
        yield event.partition("\n")[2] if event.startswith("event:") else event
    yield "data: [DONE]\n\n"
