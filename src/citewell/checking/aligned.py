"""The judge without a language model: claims aligned with the sentences of their passages, and facts compared exactly.

Support is a logistic function of how much of the claim its nearest sentences hold: the share of the words that are not
the question's, the share of the pairs of words, and the cosine of the nearest. It is fitted on halves of SciFact,
HaluEval, MTRAG and the example's questions (docs/judges.md). A figure, date, code or name that the passages do not hold
then caps it, and so does a sentence that says the same with another figure, a negation or the opposite word.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from citewell.checking.alignment import Aligner, Alignment
from citewell.checking.exact import Facts, Source, facts_of, holds, missing_figures, missing_words, source_of
from citewell.checking.figures import Figure
from citewell.checking.judge import Judgement
from citewell.checking.polarity import against, stand_of
from citewell.checking.reading import Passages, read
from citewell.checking.wording import telling, whole
from citewell.models.embedder import Embedder
from citewell.models.minilm import IDENTITY

NAME = "aligned-1"
"""Its number changes with every change of a judgement."""

FOCUSED, PAIRED, COSINE, HINGES, BIAS = 3.0, 1.0, 1.1, -1.8, -2.7
LACKING = 0.4
"""The most support of a claim with a fact that the passages do not hold."""

CONTRADICTED = 0.2
SAME = 0.6
"""The share of a claim's words in a sentence that says the same, or the opposite."""

ALIKE = 0.3
"""The share in a sentence that speaks of the same thing with another figure."""

FEWEST = 2  # words that tell what a figure is about
MOST_SHOWN = 200  # characters of a sentence in a reason
_YES = re.compile(r"(?:yes|ja|oui|sí|sì)(?:\W+|$)", re.IGNORECASE)
_NO = re.compile(r"(?:no|nein|non|nee)(?:[,.;:!–-]\W*|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Given:
    """What a claim is judged by. `explained` holds the question's words as well, which an answer may repeat."""

    passages: Passages
    question: str
    source: Source
    explained: Source


class AlignedJudge:
    """A `Judge` that always judges. Safe to share between threads; keeps vectors and passages for the next call."""

    def __init__(self, embedder: Embedder) -> None:
        self._aligner = Aligner(embedder)
        self.name = NAME if embedder.identity == IDENTITY else f"{NAME}, {embedder.identity.name}"

    def judge(self, claims: Sequence[str], passages: Sequence[str], question: str = "") -> list[Judgement]:
        """As `Judge.judge`; there is always a judgement."""
        given = _given(tuple(map(whole, passages)), whole(question))
        if not given.passages.statements:
            return [Judgement(0.0, reason="there is no passage") for _ in claims]
        return [self._answer(whole(claim), given) for claim in claims]

    def _answer(self, claim: str, given: _Given) -> Judgement:
        """A bare "yes" claims what the question asks, "no" its opposite; before a statement they add nothing."""
        for word in (_YES, _NO):
            if given.question and (said := word.match(claim)):
                if said.end() < len(claim):
                    return self._statement(claim[said.end() :], given)
                asked = self._statement(given.question, _given(given.passages.texts, ""))
                return asked if word is _YES else _turned(asked)
        return self._statement(claim, given)

    def _statement(self, claim: str, given: _Given) -> Judgement:
        if given.passages.hold(claim):
            return Judgement(1.0, reason="the passages say it word for word")
        alignment = self._aligner.align(claim, given.passages.statements, given.question)
        support, facts = likeness(alignment), facts_of(claim)
        if reason := _contradiction(claim, facts, alignment, given):
            return Judgement(min(support, CONTRADICTED), contradicted=True, reason=reason)
        if lacking := _lacking(facts, alignment, given):
            return Judgement(min(support, LACKING), reason=f"not in the passages: {', '.join(lacking)}")
        return Judgement(support, reason=f"nearest: {alignment.statements[0].text[:MOST_SHOWN]}")


@lru_cache(maxsize=16)
def _given(passages: tuple[str, ...], question: str) -> _Given:
    taken = read(passages)
    return _Given(taken, question, source_of(taken.texts), source_of([*taken.texts, question]))


def likeness(alignment: Alignment) -> float:
    """How far a claim is supported by how much of it its nearest statements hold, its facts aside: 0 to 1."""
    z = BIAS + FOCUSED * alignment.focused + PAIRED * alignment.paired + COSINE * alignment.cosine
    return 1 / (1 + math.exp(-(z + HINGES * alignment.hinges)))


def _turned(asked: Judgement) -> Judgement:
    """What "no" is worth where "yes" has been judged: it is supported by what contradicts, not by silence."""
    support = 1 - (asked.support or 0.0)
    if not asked.contradicted:
        support = min(support, LACKING)
    return Judgement(support, contradicted=asked.is_supported, reason=f"of yes: {asked.reason}")


def _contradiction(claim: str, facts: Facts, alignment: Alignment, given: _Given) -> str:
    """What the nearest sentence says against the claim; "" where it says nothing against it."""
    said = alignment.statements[0].text
    if alignment.best >= SAME and (word := against(stand_of(claim), stand_of(said))):
        return f"the passages say {word!r}"
    beside, missing = source_of([said]), missing_figures(facts, given.source)
    for figure in facts.figures if _says_the_rest(claim, alignment) else missing if alignment.best >= ALIKE else ():
        if not holds(beside, figure) and (other := _instead(figure, facts, beside)) is not None:
            return f"not {figure}: the passages say {other}"
    return ""


def _says_the_rest(claim: str, alignment: Alignment) -> bool:
    """Whether the nearest sentence holds all words of the claim but its figures, as another row of a table does not."""
    words = [word for word in telling(claim) if not any(sign.isdigit() for sign in word)]
    return len(words) >= FEWEST and alignment.statements[0].words.issuperset(words)


def _lacking(facts: Facts, alignment: Alignment, given: _Given) -> list[str]:
    """The facts of the claim that nothing explains: not the passages, and not what the question says."""
    near = source_of([each.text for each in alignment.statements])
    figures = [
        str(figure)
        for figure in missing_figures(facts, given.source)
        if _instead(figure, facts, near) is not None or not (_may_be_count(figure) or holds(given.explained, figure))
    ]
    return [*figures, *missing_words(facts, given.explained)]


def _instead(figure: Figure, facts: Facts, near: Source) -> Figure | None:
    """A figure of the same unit that the claim does not have."""
    others = (other for other in near.figures if other.unit == figure.unit and not other.is_loose)
    return next((other for other in others if not any(mine.agrees(other) for mine in facts.figures)), None)


def _may_be_count(figure: Figure) -> bool:
    """`two plans` may be counted, and `120 days` not."""
    return figure.is_spelt and not figure.unit
