"""`/v1/conversations` and `/v1/feedback`: a caller's own, as far as they may still read what was answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from citewell.conversations import (
    CallersConversations,
    Feedback,
    Thumb,
    conversation_shape,
    conversations_shape,
    turn_shape,
)
from citewell.conversations.callers import MAX_COMMENT_CHARS, MAX_NAME_CHARS, PAGE
from citewell.serving import examples
from citewell.serving.answers import Answered
from citewell.serving.caller import Caller
from citewell.serving.openapi import answers, errors
from citewell.serving.schemas import ConversationList, DeletedConversation, StoredConversation, StoredTurnBody
from citewell.serving.service import MayRead, RequestId, Service, Serving
from citewell.serving.talking import conversations_of
from citewell.shapes import VERSION, Shape

router = APIRouter(tags=["conversations"])

T = TypeVar("T")

ConversationId = Annotated[str, Path(min_length=1, max_length=200, examples=["9c2a7f00d1e4b3569c2a7f00d1e4b356"])]


class NameBody(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"name": "Disputes"}]})

    name: str = Field(max_length=MAX_NAME_CHARS, description='"" calls it by its first question.')


class FeedbackBody(BaseModel):
    """In the place of what was said of that turn before; without anything, it takes that back."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"turn": "9c2a7f00d1e4b356", "thumb": "down", "wrong": [1], "comment": "Old."}]
        },
    )

    turn: str = Field(min_length=1, max_length=200)
    thumb: Thumb | None = None
    wrong: Annotated[list[Annotated[int, Field(ge=1, le=1_000)]], Field(max_length=100)] = Field(
        [], description="Numbers of citations that do not say what they should."
    )
    comment: str = Field("", max_length=MAX_COMMENT_CHARS)


async def _own(service: Service, caller: Caller, look: Callable[[CallersConversations], T]) -> T:
    return await service.reading.run(lambda: look(conversations_of(service, caller, caller.principal)))


@router.get(
    "/v1/conversations",
    response_class=Answered,
    responses={**answers(200, ConversationList, "The last changed first.", examples.CONVERSATIONS), **errors()},
)
async def conversations(
    caller: MayRead,
    service: Serving,
    *,
    limit: Annotated[int, Query(ge=1, le=1_000)] = PAGE,
    offset: Annotated[int, Query(ge=0, le=1_000_000_000)] = 0,
) -> Answered:
    """The caller's own conversations."""
    return Answered(conversations_shape(await _own(service, caller, lambda own: own.listed(limit, offset))))


@router.post(
    "/v1/conversations",
    status_code=201,
    response_class=Answered,
    responses={**answers(201, StoredConversation, "A new one.", examples.NEW_CONVERSATION), **errors(400)},
)
async def start(caller: MayRead, service: Serving) -> Answered:
    """Start a conversation; `POST /v1/ask` goes on with it."""
    made = await _own(service, caller, lambda own: own.start())
    return Answered(conversation_shape(made, ()), 201, {"Location": f"/v1/conversations/{made.id}"})


@router.get(
    "/v1/conversations/{conversation_id}",
    response_class=Answered,
    responses={**answers(200, StoredConversation, "Its turns, oldest first.", examples.CONVERSATION), **errors(404)},
)
async def conversation(
    conversation_id: ConversationId, caller: MayRead, service: Serving, request_id: RequestId
) -> Answered:
    """A conversation. A turn that has something that the caller may not read any more is `withheld`."""

    def read(own: CallersConversations) -> Shape:
        found, turns = own.read(conversation_id)
        shown = [document for turn in turns for document in turn.documents]
        service.audit.write("conversation", caller=caller, request=request_id, asked=conversation_id, documents=shown)
        return conversation_shape(found, turns)

    return Answered(await _own(service, caller, read))


@router.patch(
    "/v1/conversations/{conversation_id}",
    response_class=Answered,
    responses={**answers(200, StoredConversation, "Renamed.", examples.NEW_CONVERSATION), **errors(400, 404, 413)},
)
async def rename(conversation_id: ConversationId, body: NameBody, caller: MayRead, service: Serving) -> Answered:
    """Call a conversation otherwise."""
    named = await _own(service, caller, lambda own: own.rename(conversation_id, body.name))
    return Answered(conversation_shape(named, ()))


@router.delete(
    "/v1/conversations/{conversation_id}",
    response_class=Answered,
    responses={**answers(200, DeletedConversation, "It is gone.", examples.DELETED), **errors(404)},
)
async def forget(conversation_id: ConversationId, caller: MayRead, service: Serving, request_id: RequestId) -> Answered:
    """Delete a conversation with its turns and their feedback, for good."""

    def deleted(own: CallersConversations) -> None:
        own.read(conversation_id)  # one that is not there is told of first
        service.audit.write("forget", caller=caller, request=request_id, asked=conversation_id)
        own.delete(conversation_id)

    await _own(service, caller, deleted)
    return Answered({"version": VERSION, "deleted": conversation_id})


@router.post(
    "/v1/feedback",
    response_class=Answered,
    responses={**answers(200, StoredTurnBody, "The turn with it.", examples.TURN), **errors(400, 404, 413)},
)
async def feedback(body: FeedbackBody, caller: MayRead, service: Serving, request_id: RequestId) -> Answered:
    """Say what one thinks of an answer in a conversation."""
    given = Feedback(body.thumb, tuple(body.wrong), body.comment)

    def judged(own: CallersConversations) -> Shape:
        turn = own.judge(body.turn, given)
        service.audit.write("feedback", caller=caller, request=request_id, asked=body.turn, documents=turn.documents)
        return turn_shape(turn)

    return Answered({"version": VERSION, **await _own(service, caller, judged)})
