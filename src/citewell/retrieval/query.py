"""What is searched for. One question may become several queries, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum


class Role(StrEnum):
    """Why a query is searched."""

    ORIGINAL = "original"
    REWRITE = "rewrite"
    """Standing alone, where the question leaned on the turns before."""
    VARIANT = "variant"
    """The same in other words."""
    HYPOTHETICAL = "hypothetical"
    """A passage that would answer it: embedded as one (HyDE)."""
    BROADER = "broader"
    """The more general question behind it (step-back)."""
    PART = "part"
    """One of the questions that it is made of."""


@dataclass(frozen=True, slots=True)
class Query:
    """A text to search for. A part may ask about another day than the question.

    One of `keyword_only` is for the keyword leg alone, where that finds anything.
    """

    text: str
    role: Role = Role.ORIGINAL
    as_of: date | None = None
    keyword_only: bool = False
