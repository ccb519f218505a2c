"""A claim laid beside the statements of its passages that are most like it, by words and by meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from citewell.checking.dates import undated
from citewell.checking.reading import Statement, statement
from citewell.checking.wording import normal, telling
from citewell.models.embedder import Embedder, Vectors

MOST_EMBEDDED = 24
"""Statements compared with a claim by meaning, at about 2 ms each: those that share most of its words."""

MOST_ALIGNED = 3
FEW = 3
REMEMBERED = 4_096
"""Vectors kept: the passages of an answer are looked at once for each of its measures."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """The statements nearest to a claim, best first, and how near they are, each 0 to 1 (`cosine` -1 to 1).

    `best` is the share of the claim's words that the first one holds, `focused` the share that all hold of the words
    which the question does not have, `paired` that of its pairs of words, `cosine` the nearest statement's. It `hinges`
    on a word where it repeats the question, adds at most `FEW` words, and lacks one of those.
    """

    statements: tuple[Statement, ...]
    best: float
    focused: float
    paired: float
    cosine: float
    hinges: bool


class Aligner:
    """Aligns by the words of the analyser and the vectors of an embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Vectors] = {}

    def align(self, claim: str, among: Sequence[Statement], question: str) -> Alignment:
        """`among` holds at least one statement."""
        words = words_of(claim)
        near = nearest(words, among, MOST_EMBEDDED)
        vectors = self._embedded([claim, *(each.text for each in near)])
        return aligned(claim, words, near, vectors[1:] @ vectors[0], question)

    def _embedded(self, texts: Sequence[str]) -> Vectors:
        known = {text: self._vectors[text] for text in texts if text in self._vectors}
        if new := [text for text in dict.fromkeys(texts) if text not in known]:
            known |= zip(new, self._embedder.embed_passages(new), strict=True)
            # Replaced and never changed, so that another thread may read it meanwhile.
            kept = self._vectors if len(self._vectors) + len(new) <= REMEMBERED else {}
            self._vectors = kept | known
        return np.stack([known[text] for text in texts])


def words_of(claim: str) -> list[str]:
    """The words that a claim is aligned by: those of no date, which are compared as such, however they are written."""
    return telling(undated(normal(claim)))


def nearest(words: Sequence[str], among: Sequence[Statement], most: int) -> list[Statement]:
    """The statements that share most of the words, best first."""
    return sorted(among, key=lambda each: -share(words, each.words))[:most]


def aligned(claim: str, words: Sequence[str], near: Sequence[Statement], cosines: Vectors, question: str) -> Alignment:
    """A claim of these words beside statements at these cosines, of which there is at least one."""
    chosen = _chosen(words, near, cosines)
    held = frozenset[str]().union(*(each.words for each in chosen))
    known = frozenset(telling(question)) if question else frozenset[str]()
    focus = [word for word in words if word not in known]
    focused = share(focus or words, held)
    return Alignment(
        tuple(chosen),
        best=share(words, chosen[0].words),
        focused=focused,
        paired=_paired(statement(undated(normal(claim))).pairs, chosen, words),
        cosine=float(cosines.max()),
        hinges=focused < 1 and 0 < len(focus) <= FEW and len(focus) < len(words),
    )


def share(words: Sequence[str], held: frozenset[str]) -> float:
    """How many of the words are held, 0 to 1; 0 without words."""
    return sum(word in held for word in words) / len(words) if words else 0.0


def _chosen(words: Sequence[str], near: Sequence[Statement], cosines: Vectors) -> list[Statement]:
    """The statement that is most like the claim, and those that hold most of the words that it lacks."""
    likeness = [share(words, each.words) + cosine for each, cosine in zip(near, cosines.tolist(), strict=True)]
    order = sorted(range(len(near)), key=lambda place: -likeness[place])
    chosen = [near[order[0]]]
    while len(chosen) < MOST_ALIGNED:
        lacking = [word for word in words if all(word not in each.words for each in chosen)]
        best = max(order, key=lambda place: len(near[place].words.intersection(lacking)))
        if not near[best].words.intersection(lacking):
            break
        chosen.append(near[best])
    return chosen


def _paired(pairs: frozenset[tuple[str, str]], chosen: Sequence[Statement], words: Sequence[str]) -> float:
    """Share of the pairs that stand in a statement; of a claim of one word, the share of words."""
    if not pairs:
        return max(share(words, each.words) for each in chosen)
    return sum(any(pair in each.pairs for each in chosen) for pair in pairs) / len(pairs)
