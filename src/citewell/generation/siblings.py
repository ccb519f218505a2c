"""Which row of a table is asked for: what is asked of a credit card is not answered by the row of a debit card.

A row is known by its key, its first cell. Only short keys are judged: a long one is a sentence, and says the same in
other words.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass

from citewell.generation.units import Unit, units
from citewell.models.embedder import Embedder
from citewell.retrieval.analyser import analyse, analyse_query
from citewell.types import Hit

MOST_KEY_WORDS = 5
"""Words (stems) of a key."""

FEWEST_ROWS = 2

SAME_THING = 0.5
"""The least cosine of two words that may mean the same. `highest` and `maximum` have 0.64, `humidity` and `temperature`
0.45, `credit` and `debit` 0.38."""

_WORD = re.compile(r"[^\W_](?:[\w'\u2019.-]*[\w])?")


@dataclass(frozen=True, slots=True)
class AskedFor:
    """The words of a question that name a subject, in small letters; `own`, separated by blanks, are those that it adds
    to the questions before it."""

    subjects: frozenset[str] = frozenset()
    own: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """The keys of a table's rows, and the words of its rows and of all that stands above them, as stems.

    `has_names`: most keys have no word in small letters, as `France`, `EUR` and `R-17`, so that a name in the question
    may be a key; of `Credit transfer` and the like it says where or whose. `has_figures`: most have a figure.
    """

    keys: tuple[frozenset[str], ...] = ()
    words: frozenset[str] = frozenset()
    has_names: bool = False
    has_figures: bool = False

    @classmethod
    def around(cls, hit: Hit, row: Unit) -> Table:
        """The rows of a passage that stand under the same names of columns; none where most of what stands there has no
        key: a sentence with a colon makes no table."""
        beside = [unit for unit in units(hit.passage) if unit.context == row.context and not unit.is_fragment]
        rows = [unit for unit in beside if unit.key]
        if len(rows) < FEWEST_ROWS or len(rows) * 2 < len(beside):
            return cls()
        above = f"{hit.chunk.title} {row.context} {hit.passage.preamble}"
        words = frozenset(analyse(" ".join([above, *(unit.shown for unit in rows)])))
        names = sum(not any(word[0].islower() for word in _WORD.findall(unit.key)) for unit in rows)
        figures = sum(_has_digit(unit.key) for unit in rows)
        keys = tuple(stems(unit.key) for unit in rows)
        return cls(keys, words, has_names=names * 2 > len(rows), has_figures=figures * 2 > len(rows))

    def tells_apart(self, key: Set[str]) -> frozenset[str]:
        """The words of a key that are not in all keys."""
        return frozenset(word for word in key if not all(word in other for other in self.keys))

    def is_named(self, row: Unit, question: str) -> bool:
        """Whether the question has every word that tells a row from the others."""
        telling = self.tells_apart(stems(row.key))
        return bool(telling) and telling <= stems(question)

    def asks_for_sibling(self, row: Unit, question: str) -> bool:
        """Whether a word of the question is in the key of a row like this one and not in this row, which has another
        in its place."""
        key, named = stems(row.key), frozenset(analyse_query(question))
        if len(key) > MOST_KEY_WORDS or self.is_named(row, question):
            return False
        lacking = named - frozenset(analyse(f"{row.context} {row.shown}"))
        return any(key & other and lacking & other for other in self.keys if len(other) <= MOST_KEY_WORDS)

    def unknown(self, question: str, asked: AskedFor) -> tuple[str, ...]:
        """The question's words that say which row it asks for, and are nowhere in the table: names, codes and figures,
        and what stands beside a word of a key (`virtual card`)."""
        if not self.keys:
            return ()
        words = _WORD.findall(question)
        keys = frozenset(analyse_query(question)) & frozenset[str]().union(*self.keys)
        in_key = [not stems(word).isdisjoint(keys) for word in words]
        found = []
        for place, word in enumerate(words):
            if word.casefold() not in asked.subjects or not stems(word).isdisjoint(self.words):
                continue
            is_name = place > 0 and word[0].isupper()
            may_be_key = self.has_figures if _has_digit(word) else self.has_names and is_name
            if may_be_key or any(in_key[near] for near in (place - 1, place + 1) if 0 <= near < len(words)):
                found.append(word)
        return tuple(found)


def stems(text: str) -> frozenset[str]:
    return frozenset(analyse(text))


def means_another(unknown: Set[str], row: Unit, table: Table, question: str, embedder: Embedder) -> bool:
    """Whether a row that shares a part of its key with the question has, in the place of its unknown words, others that
    mean another thing."""
    key = stems(row.key)
    asked = stems(question)
    others = [word for word in _WORD.findall(row.key) if stems(word) <= table.tells_apart(key) - asked]
    if len(key) > MOST_KEY_WORDS or not key & asked or not others:
        return False
    if any(map(_has_digit, unknown)) and any(map(_has_digit, others)):
        return True
    near = embedder.embed_passages(sorted(unknown)) @ embedder.embed_passages(others).T
    return float(near.max()) < SAME_THING


def _has_digit(word: str) -> bool:
    return any(sign.isdigit() for sign in word)
