"""Which of the passages found may be answered from, and why the others may not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from citewell.generation.answer import NO_PASSAGE, NO_SENTENCE
from citewell.retrieval.floor import evidence, holds
from citewell.types import Hit, KeptBack

UNDER_FLOOR = "its evidence is under the floor"
NO_CODE = "the code that is asked for is in no passage found"
NO_OWN_WORD = "it has no word that the follow-up adds"
NOT_ABOUT = "no sentence of it is about the question"

REASONS = {
    NO_OWN_WORD: "no passage found has a word that the follow-up adds",
    NO_CODE: NO_CODE,
    NOT_ABOUT: NO_SENTENCE,
    UNDER_FLOOR: NO_PASSAGE,
}
"""What an abstention says where all that was found was kept back: the first of these that was met. A passage that lacks
a word had come further than one under the floor."""


@dataclass(frozen=True, slots=True)
class Passing:
    """What was found for one query: the hits to answer from, in their order, and the others."""

    kept: tuple[Hit, ...]
    back: tuple[KeptBack, ...]


def passing(query: str, hits: Sequence[Hit], least: float | None, own: str = "") -> Passing:
    """The hits whose evidence for `query` reaches `least`; where `own` words of a follow-up are given, only those that
    hold one of them, and a code that they name."""
    judged = tuple(zip(hits, evidence(query, hits), evidence(own, hits) if own else (0.0,) * len(hits), strict=True))
    kept, back = list[Hit](), list[KeptBack]()
    for hit, value, for_own in judged:
        why = _why(hit, value, for_own, least, own)
        if why:
            back.append(KeptBack(hit, query, value, why))
        else:
            kept.append(hit)
    return Passing(tuple(kept), tuple(back))


def none_passing(query: str, hits: Sequence[Hit]) -> Passing:
    """Where no sentence of the hits is about the query."""
    values = zip(hits, evidence(query, hits), strict=True)
    return Passing((), tuple(KeptBack(hit, query, value, NOT_ABOUT) for hit, value in values))


def never_passed(back: Iterable[KeptBack], kept: Sequence[Hit]) -> tuple[KeptBack, ...]:
    """Each passage that passed for no query once, by its best evidence; the nearest to the question first."""
    passed = {hit.passage.id for hit in kept}
    best: dict[str, KeptBack] = {}
    for each in sorted(back, key=lambda one: (-one.evidence, -one.hit.cosine)):
        if each.hit.passage.id not in passed:
            best.setdefault(each.hit.passage.id, each)
    return tuple(best.values())


def reason_of(back: Sequence[KeptBack]) -> str:
    """Why there is no passage to answer from."""
    met = {each.why for each in back}
    return next((reason for why, reason in REASONS.items() if why in met), NO_PASSAGE)


def _why(hit: Hit, value: float, for_own: float, least: float | None, own: str) -> str:
    if -math.inf in (value, for_own):
        return NO_CODE
    if least is not None and value < least:
        return UNDER_FLOOR
    return NO_OWN_WORD if own and not holds(own, hit) else ""
