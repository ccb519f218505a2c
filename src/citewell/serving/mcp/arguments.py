"""What a tool may be called with."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from citewell.serving.asked import MAX_TURNS, AskedTurn
from citewell.serving.narrowing import Groups, Narrowed, Words

MAX_PASSAGES = 50
MAX_CHARS = 20_000
"""Of a document in one answer: an assistant has to read it."""


class SearchArguments(Narrowed):
    query: Words = Field(description="What to look for, in words or as a question.")
    k: int | None = Field(None, ge=1, le=MAX_PASSAGES, description="How many passages.")


class AskArguments(Narrowed):
    question: Words
    turns: Annotated[list[AskedTurn], Field(max_length=MAX_TURNS)] = Field(
        [], description="The conversation before, oldest first, where the question leans on it."
    )


class OpenArguments(BaseModel):
    """A page, or from `start` on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    document: str = Field(min_length=1, max_length=200, description="Its id, as search and ask give it.")
    page: int | None = Field(None, ge=1, description="The number of a page, as `page_number` gives it.")
    start: int = Field(0, ge=0, le=1_000_000_000, description="A character of the document's text; of no page.")
    end: int | None = Field(None, ge=0, le=1_000_000_000, description=f"At most {MAX_CHARS:,} after the start.")
    as_of: date | None = Field(None, description="The version that was in force on that day.")
    groups: Groups | None = Field(None, description="Read with these of one's groups only.")
