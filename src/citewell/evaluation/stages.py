"""The stages that evidence passes on its way into an answer, and so the ways to lose it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What became of a failed question, in the order of the stages: the first that lost something counts."""

    NOT_LOADED = "not loaded"
    NOT_ALLOWED = "not allowed"
    NOT_IN_FORCE = "not in force"
    CUT = "cut by chunking"
    BROKEN_LEG = "a leg is broken"
    NOT_A_CANDIDATE = "not in the candidates"
    LOST_IN_FUSION = "lost in fusion"
    BELOW_K = "below k"
    BELOW_FLOOR = "below the floor"
    NOT_IN_PROMPT = "did not fit the prompt"
    CONTRADICTED = "contradicted"
    UNUSED = "in the prompt and unused"
    NOT_COVERED = "not covered"
    SHOWN = "shown and should not be"
    NO_EVIDENCE = "no evidence given"

    @property
    def stage(self) -> int:
        """Its place in the order, from 0."""
        return list(Kind).index(self)


MEANING = {
    Kind.NOT_LOADED: "no document of the index has the evidence in its text",
    Kind.NOT_ALLOWED: "who asks may not read the document",
    Kind.NOT_IN_FORCE: "the document is not in force on the day asked about",
    Kind.CUT: "the evidence is in the text, and whole in no chunk",
    Kind.BROKEN_LEG: "a leg has all that shares a word with the question, and not the evidence, which does",
    Kind.NOT_A_CANDIDATE: "no leg has the evidence among its candidates",
    Kind.LOST_IN_FUSION: "a leg has it among the first passages, and joined with the other lists it is not",
    Kind.BELOW_K: "it is a candidate, and in no leg among the first passages",
    Kind.BELOW_FLOOR: "it was kept, and the floor took it away",
    Kind.NOT_IN_PROMPT: "it was found, and generation.passage_tokens left no room for it",
    Kind.CONTRADICTED: "it was there, and the answer says something else",
    Kind.UNUSED: "it was there, and the answer is not right",
    Kind.NOT_COVERED: "the documents do not answer it, and there is an answer",
    Kind.SHOWN: "who asks should not see the evidence, and does",
    Kind.NO_EVIDENCE: "the answer is not right, and the test set does not say where the right one stands",
}


@dataclass(frozen=True, slots=True)
class Lost:
    """The stage that lost a piece of evidence, and what is known of how. `detail` may hold text of documents.

    `rank` is that of its passage in the joined list, as far as that was looked at: `Outcome.hits`.
    """

    kind: Kind
    detail: str
    rank: int | None = None
