"""What no rewrite may change: codes, numbers, dates and negations, the language, and what is spoken of.

A rewrite that fails is not searched, whoever wrote it: it would find the wrong passages with confidence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.queries.marks import marks, negations, same_language
from citewell.queries.rewriting.vocabulary import FOREIGN, FUNCTION_WORDS, is_general
from citewell.queries.rewriting.words import words_of
from citewell.retrieval.analyser import analyse_query
from citewell.types import Turn

LEAST_KEPT = 1 / 3
"""Of the words of a question that say something."""
MOST_NEW = 1
"""Words of a rewrite that nobody said, and general ones only (`vocabulary.is_general`)."""

_CAPITALS = 2
_OPPOSITE = re.compile(r"^(?:un|in|im|ir|non-?|dis)(?=\w{4})")
_WRITTEN_OUT = """
january february march april may june july august september october november december monday tuesday wednesday thursday
friday saturday sunday today tomorrow yesterday two three four five six seven eight nine ten eleven twelve twenty thirty
forty fifty sixty seventy eighty ninety hundred thousand million billion half dozen
"""
_FIGURES_IN_WORDS = frozenset(_WRITTEN_OUT.split())
_VERBS_TOO = frozenset({"march", "may"})


def keeps(question: str, rewrite: str, turns: Sequence[Turn]) -> bool:
    """Whether `rewrite` says no other thing than `question` does, with the turns before it to take from."""
    said = " ".join([question, *(f"{turn.question} {turn.answer}" for turn in turns)])
    asked = " ".join([question, *(turn.question for turn in turns)])
    before, after = _exact(question), _exact(rewrite)
    not_before, not_after = (negations(text).total() for text in (question, rewrite))
    return (
        before <= after
        and (after == before or after <= _exact(said))  # the answers are long: they are read only if they must be
        and not_before <= not_after <= max(not_before, negations(asked).total())
        and not _turned_round(question, rewrite, said)
        and same_language(rewrite, question, asked)
        and _keeps_its_words(question, rewrite)
        and _speaks_of_what_was_said(rewrite, said)
    )


def _exact(text: str) -> frozenset[str]:
    """Codes, numbers, dates and abbreviations, each in one spelling."""
    words = words_of(text)
    figures = {word.low for word in words if word.low in _FIGURES_IN_WORDS}
    verbs = {word.low for word in words if word.low in _VERBS_TOO and not word.named}
    capitals = {word for word in words if sum(sign.isupper() for sign in word.written) >= _CAPITALS}
    abbreviations = {word.low.removesuffix("'s") for word in capitals} if not text.isupper() else set[str]()
    return marks(text) | (figures - verbs) | abbreviations


def _turned_round(question: str, rewrite: str, said: str) -> bool:
    """Whether a word came in as its opposite, or lost what made it one: `unauthorised` and `authorised`."""
    before, after, known = ({word.low for word in words_of(text)} for text in (question, rewrite, said))
    lost = {_OPPOSITE.sub("", word) for word in before - after if _OPPOSITE.match(word)} & after
    new = {_OPPOSITE.sub("", word) for word in after - known if _OPPOSITE.match(word)} & known
    return bool(lost or new)


def _keeps_its_words(question: str, rewrite: str) -> bool:
    words = _telling(question)
    return not words or len(words & _telling(rewrite)) >= LEAST_KEPT * len(words)


def _telling(text: str) -> set[str]:
    return {word.low.removesuffix("s") for word in words_of(text) if word.low not in FUNCTION_WORDS}


def _speaks_of_what_was_said(rewrite: str, said: str) -> bool:
    """Whether its words come from the question and the turns, in whatever form of a word."""
    known = set(analyse_query(said))
    words = {word.low for word in words_of(rewrite)} - FUNCTION_WORDS - FOREIGN
    new = [word for word in words if known.isdisjoint(analyse_query(word))]
    return len(new) <= MOST_NEW and all(map(is_general, new))
