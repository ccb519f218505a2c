"""The part of a passage that supports a sentence: as few of its sentences in a row as say what the sentence says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.checking.alignment import share, words_of
from citewell.checking.exact import Facts, facts_of, holds, holds_date, joined, source_of
from citewell.checking.reading import quotable
from citewell.checking.wording import normal, whole
from citewell.generation.units import Unit
from citewell.retrieval.analyser import analyse

MOST = 2
"""Sentences, rows or items in a row."""

ENOUGH = 0.7
"""The share that a run holds of the sentence's words that the passage holds. One sentence seldom holds them all."""

LEAST = 0.3
"""The share of a sentence's words below which a run says nothing of it."""

_FIGURE_WEIGHT = 3.0


@dataclass(frozen=True, slots=True)
class _Part:
    """A unit of the passage, its words, and the figures, dates and codes of the sentence that it holds, by number."""

    unit: Unit
    words: frozenset[str]
    facts: frozenset[int]


def narrowed(sentence: str, passage_text: str) -> tuple[int, int] | None:
    """Where the smallest run of a passage's sentences, rows and items stands that says what the sentence says.

    It holds most of the sentence's words that the passage holds, and each such figure, date and code; of several as
    small it is the one that shares most with the sentence for its length. If no run of at most `MOST` does, that is one
    sentence, row or item. None where even that says nothing of the sentence.
    """
    sentence = whole(sentence)
    facts, words = facts_of(sentence), words_of(sentence)
    parts = [_part(unit, facts) for unit in quotable(whole(passage_text)) if not unit.is_fragment]
    if not parts:
        return None
    runs = [parts[at : at + length] for length in range(1, MOST + 1) for at in range(len(parts) - length + 1)]
    held = [word for word in words if word in _words(parts)]
    enough = [run for run in runs if _facts(run) == _facts(parts) and share(held, _words(run)) >= ENOUGH]
    fewest = min(map(len, enough), default=1)
    best = max((run for run in enough or runs if len(run) == fewest), key=lambda run: _likeness(sentence, run))
    if share(words, _words(best)) < LEAST:
        return None
    return best[0].unit.start, best[-1].unit.end


def _part(unit: Unit, facts: Facts) -> _Part:
    text = normal(unit.shown)
    source = source_of([text])
    held = (
        *(holds(source, figure) for figure in facts.figures),
        *(holds_date(source, date) for date in facts.dates),
        *(joined(code) in source.words for code in facts.codes),
    )
    return _Part(unit, frozenset(analyse(text)), frozenset(at for at, is_held in enumerate(held) if is_held))


def _words(run: Sequence[_Part]) -> frozenset[str]:
    return frozenset[str]().union(*(part.words for part in run))


def _facts(run: Sequence[_Part]) -> frozenset[int]:
    return frozenset[int]().union(*(part.facts for part in run))


def _likeness(sentence: str, run: Sequence[_Part]) -> float:
    """What a run shares with a sentence, figures before words, for its length."""
    words = _words(run)
    shared = words.intersection(analyse(normal(sentence)))
    weights = (_FIGURE_WEIGHT if any(sign.isdigit() for sign in word) else 1.0 for word in shared)
    return sum(weights) / math.sqrt(len(words) + 1)
