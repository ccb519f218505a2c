"""A question as a request asks it."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from citewell.serving.narrowing import Narrowed, Words
from citewell.types import Turn

MAX_TURNS = 50
MAX_ANSWER = 100_000


class AskedTurn(BaseModel):
    """One exchange before."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: Words
    answer: str = Field("", max_length=MAX_ANSWER)

    @property
    def turn(self) -> Turn:
        return Turn(self.question, self.answer)


class AskBody(Narrowed):
    """`POST /v1/ask`."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [
                {"question": "How many days does a customer have to dispute a card payment?"},
                {
                    "question": "And for business cards?",
                    "turns": [{"question": "How long is the time limit for disputes?", "answer": "120 days [1]"}],
                    "as_of": "2026-06-30",
                    "where": 'department = "fraud"',
                    "groups": ["fraud_team"],
                    "stream": True,
                },
            ]
        },
    )

    question: Words
    turns: Annotated[list[AskedTurn], Field(max_length=MAX_TURNS)] = Field(
        [], description="The conversation before, oldest first."
    )
    conversation: str | None = Field(
        None, min_length=1, max_length=200, description="Go on with this one, and keep the question in it."
    )
    stream: bool = Field(False, description="Server-sent events: `step` ..., `draft` ..., then `answer` or `error`.")

    @model_validator(mode="after")
    def _goes_on_with_one(self) -> Self:
        if self.turns and self.conversation is not None:
            raise ValueError("give turns or a conversation, not both")
        return self


class SearchBody(Narrowed):
    """`POST /v1/search`."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_extra={"examples": [{"query": "time limit for disputes", "k": 5}]}
    )

    query: Words
    k: int | None = Field(None, ge=1, le=1_000, description="How many passages; the setting `keep` otherwise.")
