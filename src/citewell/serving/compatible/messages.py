"""A chat's messages as a question with the turns before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from citewell.errors import UsageError
from citewell.question import MAX_QUESTION_CHARS
from citewell.serving.asked import MAX_ANSWER, MAX_TURNS
from citewell.serving.compatible.model import ModelName
from citewell.serving.narrowing import Narrowed
from citewell.types import Turn

MAX_MESSAGES = 2_000
MAX_CONTENT = 1_000_000


class _Open(BaseModel):
    """Clients send much that means nothing here."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Part(_Open):
    """A piece of a message."""

    type: str = Field(max_length=100)
    text: str = Field("", max_length=MAX_CONTENT)


class Message(_Open):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Annotated[str, Field(max_length=MAX_CONTENT)] | Annotated[list[Part], Field(max_length=1_000)] | None = (
        None
    )

    @property
    def text(self) -> str:
        """Raises UsageError: it has more than text."""
        if not isinstance(self.content, list):
            return (self.content or "").strip()
        if any(part.type != "text" for part in self.content):
            raise UsageError("A message holds more than text.", remedy="Send text alone: no image or sound is read.")
        return "\n".join(part.text for part in self.content).strip()


class StreamOptions(_Open):
    include_usage: bool = False


class ChatBody(_Open):
    """`POST /v1/chat/completions`. What is not named here (temperature, tools ...) is ignored."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "model": "citewell",
                    "messages": [
                        {"role": "user", "content": "How many days does a customer have to dispute a card payment?"}
                    ],
                    "stream": False,
                    "citewell": {"as_of": "2026-06-30", "where": 'department = "fraud"', "groups": ["fraud_team"]},
                }
            ]
        }
    )

    model: ModelName
    messages: Annotated[list[Message], Field(min_length=1, max_length=MAX_MESSAGES)] = Field(
        description="The last one of a user is the question; those of users and assistants before it are its turns."
    )
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = Field(None, description="There is one answer.")
    citewell: Narrowed | None = Field(None, description="Our own: what the question may see.")

    @property
    def wants_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage


def conversation(messages: Sequence[Message]) -> tuple[str, tuple[Turn, ...]]:
    """The question, and the last turns before it, oldest first.

    Raises:
        UsageError: no user asks anything, or not in text alone.
    """
    asking = [place for place, message in enumerate(messages) if message.role == "user"]
    if not asking:
        raise UsageError("No message is of the role user.", remedy="Send the question as the last message.")
    turns: list[Turn] = []
    for message in messages[: asking[-1]]:
        if message.role == "user":
            turns.append(Turn(message.text[:MAX_QUESTION_CHARS]))
        elif message.role == "assistant" and turns:
            answer = "\n".join(filter(None, (turns[-1].answer, message.text)))
            turns[-1] = replace(turns[-1], answer=answer[:MAX_ANSWER])
    return messages[asking[-1]].text, tuple(turn for turn in turns if turn.question)[-MAX_TURNS:]
