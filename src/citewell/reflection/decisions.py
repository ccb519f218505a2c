"""What was decided on the way to an answer, for `--explain`: names and numbers, never text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """The questions of Self-RAG (Asai et al. 2023, arXiv:2310.11511, table 1)."""

    RETRIEVE = "search"
    RELEVANT = "relevant"
    SUPPORTED = "supported"
    USEFUL = "useful"


class By(StrEnum):
    """Who decided."""

    MODEL = "the model"
    RULE = "a rule"
    BOTH = "the model and a rule"
    NOBODY = "the model's reply could not be read"
    """What is decided then is the careful thing."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One of them, in the round that it was made in, from 1.

    `place` is the number of the passage or sentence that it is about, from 1; 0 where it is about all.
    """

    round: int
    kind: Kind
    verdict: str
    by: By
    place: int = 0

    def __str__(self) -> str:
        about = {Kind.RELEVANT: "passage", Kind.SUPPORTED: "sentence"}.get(self.kind)
        subject = f"{about} {self.place} " if about else ""
        return f"round {self.round}: {subject}{self.kind}? {self.verdict} ({self.by})"
