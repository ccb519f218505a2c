"""The judge protocol: claims and passages in, a degree of support or a named failure out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

SUPPORTED = 0.5
"""A claim counts as supported from this support on, for every judge."""


class Failure(StrEnum):
    """Why there is no judgement. It is counted by name, never as 0 and never in a mean."""

    TIME_OUT = "time-out"
    REFUSAL = "refusal"
    UNREADABLE = "unreadable"


class NotJudged(Exception):
    """A judgement that a measure needs is missing."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class Judgement:
    """How far a claim is supported: `support` from 0 to 1, or None with the `failure`. `reason` says what decided.

    `contradicted` is set where the passages say something else about the same thing: another figure, a negation.
    """

    support: float | None
    failure: Failure | None = None
    contradicted: bool = False
    reason: str = ""

    def __post_init__(self) -> None:
        if (self.support is None) == (self.failure is None):
            raise ValueError("a judgement is a degree of support or a failure")

    @property
    def is_supported(self) -> bool:
        """Whether the claim counts as supported.

        Raises:
            NotJudged: there is no judgement.
        """
        if self.failure is not None:
            raise NotJudged(self.failure)
        return (self.support or 0.0) >= SUPPORTED


class Judge(Protocol):
    """Decides alike each time it is asked (temperature 0)."""

    @property
    def name(self) -> str:
        """What scores are signed with, and cached by: it changes with everything that changes a judgement."""
        ...

    def judge(self, claims: Sequence[str], passages: Sequence[str], question: str = "") -> list[Judgement]:
        """How far each claim is supported by the passages taken together, one judgement a claim, in order.

        `question` is what the claims answer: a short answer ("120 days") is no statement without it. A claim is a
        sentence or less; without passages nothing is supported.
        """
        ...
