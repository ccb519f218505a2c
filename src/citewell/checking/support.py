"""Is a sentence of an answer supported by what it cites? The model-free judge of the bench, made for every answer.

It goes from the cheap to the dear, and most sentences need no embedder: word for word; a fact that the cited text has
otherwise; a fact that it does not have; the share of the words, where that decides whatever the meaning; the meaning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

import numpy as np

from citewell.checking.aligned import likeness
from citewell.checking.alignment import MOST_ALIGNED, aligned, nearest, words_of
from citewell.checking.claims import claims_of
from citewell.checking.contrast import contrast
from citewell.checking.exact import (
    Facts,
    Source,
    facts_of,
    holds,
    missing_codes,
    missing_dates,
    missing_figures,
    missing_names,
    source_of,
)
from citewell.checking.figures import Figure, written
from citewell.checking.polarity import against, stand_of
from citewell.checking.reading import Passages, Statement, plain, read
from citewell.checking.wording import normal, telling, whole
from citewell.models.embedder import Embedder

SURE = 0.5
"""The likeness (`aligned.likeness`) of a sentence from which on it is supported."""

UNLIKE = 0.15
"""The likeness below which it is not: that of less than 3 % of the supported claims of each set (docs/checking.md)."""

MOST_NEAR = 24
MOST_EMBEDDED = 8
"""Statements near to a claim by words: those looked at, and those compared by meaning, at about 2 ms each."""

NOTHING_CITED = "cites nothing"
SAYS_LITTLE = "the passage says little of it"
SAYS_NO_MORE = "says no more than yes or no"
SAYS_A_PART = "the passage may say only a part of it"

_YES_OR_NO = re.compile(r"(?:yes|no|ja|nein|oui|non|nee|sí|sì)[,.;:!–-]\W*(?=\w)", re.IGNORECASE)
_BARE = re.compile(r"(?:yes|no|ja|nein|oui|non|nee|sí|sì)\W*", re.IGNORECASE)


class Standing(StrEnum):
    """Whether a sentence is supported by what it cites."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Support:
    """How a sentence stands. `missing` are its figures, dates, codes and names that the cited text does not hold, as
    they are written; `reason` is a line for a user, "" where it is supported."""

    standing: Standing
    missing: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Cited:
    """What a sentence cites. `explained` holds the question's words as well, which an answer may repeat."""

    passages: Passages
    question: str
    source: Source
    explained: Source


_TO_WORST = (Standing.SUPPORTED, Standing.UNSURE, Standing.UNSUPPORTED)
_SUPPORTED = Support(Standing.SUPPORTED)


def support(sentence: str, cited: Sequence[str], embedder: Embedder, question: str = "") -> Support:
    """Whether a sentence is supported by the texts that it cites, taken together.

    `cited` are its quotes and the passages around them, with the titles and headings above these, which may hold what
    the sentence is about. Its parts are looked at one by one, and it stands as its worst. Figures, dates, codes and
    names are compared exactly. The names and figures of the `question` need not be in the cited text. A sentence that
    states nothing, as a question, has nothing to support.
    """
    given = _cited(tuple(map(whole, cited)), whole(question))
    sentence = whole(sentence)
    if not given.passages.statements:
        return Support(Standing.UNSUPPORTED, reason=NOTHING_CITED)
    if _copied(sentence, given.passages):
        return _SUPPORTED
    parts = claims_of(sentence)
    if len(parts) != 1 and (fault := _fault(sentence, given, _near(sentence, given))):
        return fault  # of a sentence that states nothing, or of how its parts stand together
    found = [_of_claim(part, given, embedder) for part in parts]
    return max(found, key=lambda each: _TO_WORST.index(each.standing), default=_SUPPORTED)


@lru_cache(maxsize=16)
def _cited(texts: tuple[str, ...], question: str) -> _Cited:
    taken = read(texts)
    return _Cited(taken, question, source_of(taken.texts), source_of([*taken.texts, question]))


def _of_claim(claim: str, given: _Cited, embedder: Embedder) -> Support:
    if _copied(claim, given.passages):
        return _SUPPORTED
    if _BARE.fullmatch(claim):
        return Support(Standing.UNSURE, reason=SAYS_NO_MORE)
    if opening := _YES_OR_NO.match(claim):
        claim = claim[opening.end() :]
        if not telling(claim):  # "Yes, you can."
            return Support(Standing.UNSURE, reason=SAYS_NO_MORE)
    near = _near(claim, given)
    return _fault(claim, given, near) or _by_likeness(claim, given, near, embedder)


def _near(claim: str, given: _Cited) -> list[Statement]:
    return nearest(words_of(claim), given.passages.statements, MOST_NEAR)


def _fault(text: str, given: _Cited, near: Sequence[Statement]) -> Support | None:
    """What the cited text says otherwise, or what it does not hold."""
    missing, told = _missing(text, given, near), contrast(text, near)
    if not (missing or told):
        return None
    return Support(Standing.UNSUPPORTED, missing, told or f"not in the passage: {', '.join(missing)}")


def _copied(text: str, passages: Passages) -> bool:
    """Whether the passages say it word for word, and not within a sentence that negates it."""
    if not passages.hold(text):
        return False
    bare = plain(text)
    around = [each.text for each in passages.statements if f" {bare} " in f" {plain(each.text)} "]
    if not around or any(bare == plain(each) for each in around):
        return True
    mine = stand_of(text)
    return not all(against(mine, stand_of(each)) for each in around)


def _missing(claim: str, given: _Cited, near: Sequence[Statement]) -> tuple[str, ...]:
    """The facts of a claim that nothing explains: not the cited text, and not what the question says."""
    text = normal(claim)
    facts = facts_of(text)
    beside = source_of([each.text for each in near[:MOST_ALIGNED]])
    lacking = [each for each in missing_figures(facts, given.source) if not _is_explained(each, facts, beside, given)]
    figures = (written(figure, text) for figure in lacking)
    days = (text[date.start : date.end] for date in missing_dates(facts, given.explained))
    others = (*missing_codes(facts, given.explained), *missing_names(facts, given.explained))
    return tuple(dict.fromkeys((*figures, *days, *others)))


def _is_explained(figure: Figure, facts: Facts, beside: Source, given: _Cited) -> bool:
    """By the question, or as what was counted ("two plans"), where no other figure stands in its place."""
    others = (other for other in beside.figures if other.unit == figure.unit and not other.is_loose)
    if any(not any(mine.agrees(other) for mine in facts.figures) for other in others):
        return False
    return (figure.is_spelt and not figure.unit) or holds(given.explained, figure)


def _has_facts(facts: Facts) -> bool:
    return bool(facts.figures or facts.dates or facts.codes)


def _by_likeness(claim: str, given: _Cited, near: Sequence[Statement], embedder: Embedder) -> Support:
    """By the words where they decide for any cosine from 0 to 1, or else with the nearest statement's cosine."""
    words = words_of(claim)
    by_words = aligned(claim, words, near, np.zeros(len(near), np.float32), given.question)
    if likeness(by_words) >= SURE or (not words and _has_facts(facts_of(claim))):  # "On 14 March."
        return _SUPPORTED
    most = likeness(replace(by_words, cosine=1.0))
    if most >= UNLIKE:
        vectors = embedder.embed_passages([claim, *(each.text for each in near[:MOST_EMBEDDED])])
        most = likeness(replace(by_words, cosine=float((vectors[1:] @ vectors[0]).max())))
    if most >= SURE:
        return _SUPPORTED
    if most >= UNLIKE:
        return Support(Standing.UNSURE, reason=SAYS_A_PART)
    return Support(Standing.UNSUPPORTED, reason=SAYS_LITTLE)
