"""Passages as what an aligned judge compares with: their sentences, rows and items, each with its words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from citewell.checking.wording import normal, telling
from citewell.generation.units import Unit, units
from citewell.retrieval.analyser import analyse
from citewell.types import BETWEEN_CELLS, Chunk, ElementKind, Rights, Trust

MOST_STATEMENTS = 2_000
"""Of all passages of a call; what comes after is not looked at."""

VERBATIM_WORDS = 4
"""Fewer words in a row are no statement, and may stand anywhere."""

# The names of columns in a row as it is shown: "Chargeback – Debit: 15; Credit: 20".
_COLUMN = re.compile(r"(?:(?<= – )|(?<=; ))[^:;]{1,80}: ")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, item or row in one line, as an answer would quote it, with its words and the pairs of them."""

    text: str
    words: frozenset[str]
    pairs: frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Passages:
    """`texts` are the passages as they are given, `statements` what they say, in order."""

    texts: tuple[str, ...]
    statements: tuple[Statement, ...]

    def hold(self, claim: str) -> bool:
        """Whether they say it word for word: it is one of their statements, a long stretch of a text, or all cells of
        a row, which an answer shows with the names of its columns."""
        bare = plain(claim)
        if bare and any(bare == plain(each.text) for each in self.statements):
            return True
        if len(bare.split()) >= VERBATIM_WORDS and any(f" {bare} " in f" {plain(text)} " for text in self.texts):
            return True
        cells = _COLUMN.sub("", claim).replace(" – ", BETWEEN_CELLS)
        words = telling(cells) if BETWEEN_CELLS in cells else []
        rows = (each.words for each in self.statements if BETWEEN_CELLS in each.text)
        return bool(words) and any(row.issuperset(words) for row in rows)


def read(passages: Sequence[str]) -> Passages:
    """The passages taken apart, at most `MOST_STATEMENTS` statements."""
    texts = tuple(passage for passage in passages if passage.strip())
    shown = dict.fromkeys(unit.shown for text in texts for unit in quotable(text))
    return Passages(texts, tuple(statement(text) for text in list(shown)[:MOST_STATEMENTS]))


def statement(text: str) -> Statement:
    """One of them."""
    words = analyse(normal(text))
    return Statement(text, frozenset(words), frozenset(pairwise(words)))


def plain(text: str) -> str:
    """Its words and signs within them, without case, line breaks and what a sentence ends with."""
    words = (word.strip(".,;:!?\"'()[]*") for word in normal(text).casefold().split())
    return " ".join(word for word in words if word)


def quotable(passage: str) -> tuple[Unit, ...]:
    """What can be quoted of a passage, with its offsets there."""
    return units(_chunk(passage))


def _chunk(passage: str) -> Chunk:
    """A chunk that is nothing but its text: what can be quoted of it is asked of the room that quotes."""
    return Chunk(
        id="",
        document_id="",
        title="",
        source="",
        version="",
        text=passage,
        start=0,
        end=len(passage),
        heading_path=(),
        pages=(),
        kind=ElementKind.PARAGRAPH,
        rights=Rights(frozenset()),
        trust=Trust.UNREVIEWED,
    )
