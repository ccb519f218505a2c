"""Self-RAG with a model that was trained for it: one candidate a passage, and the best by its reflection tokens.

    retrieve? - for each passage: relevant? - a segment of text - supported? - useful? - the best, or none

Asai et al. 2023 (arXiv:2310.11511), algorithm 1, for one segment.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from citewell.chunking.sentences import sentences
from citewell.generation.answer import ABSTENTION, NO_PASSAGE, Draft
from citewell.generation.citations import Citations, PageOf
from citewell.generation.prompt import body
from citewell.generation.reply import supporting_unit
from citewell.reflection.scoring import Probabilities, Scores, Weights, scores, wants_passages
from citewell.reflection.tokens import IS_RELEVANT, IS_SUPPORTED, IS_USEFUL, RETRIEVE, Token
from citewell.security.planted import unplanted
from citewell.types import Hit, Sentence

NOT_NEEDED = "the model finds that this needs no documents"
NONE_KEPT = "the model finds no passage that supports an answer"

INSTRUCTION = ("### Instruction:\n", "\n\n### Response:\n")
"""Around a question, as the published models were trained."""

Context = tuple[str | Token, ...]
"""What a model has before it: texts, and reflection tokens, which no text can stand for."""


@dataclass(frozen=True, slots=True)
class Segment:
    """What a model writes up to its next reflection token, and the mean of its tokens' log-probabilities."""

    text: str
    log_probability: float


class ReflectiveModel(Protocol):
    """A language model that was trained with reflection tokens."""

    def probabilities(self, context: Context, among: Sequence[Token]) -> Probabilities:
        """Of each of these tokens, that it comes next."""
        ...

    def segment(self, context: Context) -> Segment:
        """What comes next, as likely as can be."""
        ...


@dataclass(frozen=True, slots=True)
class Choosing:
    """How the best candidate is found, as published but for `hard`.

    `retrieve_above` is the threshold for passages to be read; None reads them always. `hard`: a candidate whose most
    likely token is "irrelevant" or "no support" is none, however it scores.
    """

    weights: Weights = field(default_factory=Weights)
    retrieve_above: float | None = 0.2
    hard: bool = True


@dataclass(frozen=True, slots=True)
class Candidate:
    """A segment from the passage at `place`, from 0, and what the model says of both."""

    place: int
    segment: Segment
    scores: Scores
    is_relevant: bool
    is_supported: bool

    def score(self, weights: Weights) -> float:
        """S(Critique) and the text's probability, here the geometric mean of its tokens': a long text is not the worse
        for its length."""
        return self.scores.critique(weights) + math.exp(self.segment.log_probability)


@dataclass(frozen=True, slots=True)
class Generated:
    """All candidates in the order of their passages, and the best. `retrieved`: passages were to be read."""

    retrieved: bool
    candidates: tuple[Candidate, ...] = ()
    best: Candidate | None = None


def generated(question: str, passages: Sequence[str], model: ReflectiveModel, choosing: Choosing) -> Generated:
    """A candidate for each passage, and the best; of equal ones the first."""
    asked: Context = (INSTRUCTION[0], question, INSTRUCTION[1])
    above = choosing.retrieve_above
    if above is not None and not wants_passages(model.probabilities(asked, RETRIEVE), above):
        return Generated(retrieved=False)
    candidates = tuple(_candidate(asked, place, text, model) for place, text in enumerate(passages))
    return Generated(retrieved=True, candidates=candidates, best=best(candidates, choosing))


def best(candidates: Sequence[Candidate], choosing: Choosing) -> Candidate | None:
    """The one with the highest score; None where there is none, or none that is left."""
    left = [each for each in candidates if not choosing.hard or (each.is_relevant and each.is_supported)]
    return max(left, key=lambda each: each.score(choosing.weights), default=None)


def _candidate(asked: Context, place: int, passage: str, model: ReflectiveModel) -> Candidate:
    context: Context = (*asked, Token.RETRIEVAL, Token.PASSAGE, passage, Token.PASSAGE_END)
    relevant = model.probabilities(context, IS_RELEVANT)
    context += (_likeliest(relevant),)
    segment = model.segment(context)
    context += (segment.text,)
    supported = model.probabilities(context, IS_SUPPORTED)
    useful = model.probabilities((*context, _likeliest(supported)), IS_USEFUL)
    return Candidate(
        place=place,
        segment=segment,
        scores=scores(relevant, supported, useful),
        is_relevant=_likeliest(relevant) is Token.RELEVANT,
        is_supported=_likeliest(supported) is not Token.NO_SUPPORT,
    )


def _likeliest(found: Probabilities) -> Token:
    return max(found, key=lambda token: found[token])


def answered(
    question: str, hits: Sequence[Hit], *, model: ReflectiveModel, choosing: Choosing, page_of: PageOf
) -> tuple[Draft, Generated]:
    """The best candidate as an answer that cites its passage. There is no answer without passages here.

    What seems to be planted in an untrusted passage is not shown: such a model was not trained on marks.
    """
    passages = [unplanted(body(hit.passage), hit.passage.trust) for hit in hits]
    found = generated(question, passages, model, choosing)
    if not found.retrieved:
        return Draft(ABSTENTION, abstained=True, reason=NOT_NEEDED), found
    text = found.best.segment.text.strip() if found.best is not None else ""
    if found.best is None or not text:
        return Draft(ABSTENTION, abstained=True, reason=NONE_KEPT if hits else NO_PASSAGE), found
    hit, citations = hits[found.best.place], Citations(page_of)
    said = [text[start:end] for start, end in sentences(text)]
    made = tuple(Sentence(each, (citations.cite(hit, supporting_unit(each, hit)),)) for each in said)
    shown = " ".join(f"{sentence.text} [{sentence.citations[0]}]" for sentence in made)
    return Draft(shown, made, citations.made), found
