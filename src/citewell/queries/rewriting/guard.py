"""What no rewrite may change: codes, numbers, dates and negations, and the language.

A rewrite that fails is not searched, whoever wrote it: it would find the wrong passages with confidence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from citewell.queries.marks import marks
from citewell.queries.rewriting.vocabulary import FUNCTION_WORDS
from citewell.queries.rewriting.words import shows_english, words_of
from citewell.types import Turn

LEAST_KEPT = 1 / 3
"""Of the words of a question that say something."""

_CAPITALS = 2
_NEGATION = re.compile(
    r"""\b(?:no|not|never|none|neither|nor|nothing|nobody|without|cannot|except|excluding|unless|non
    |nicht|kein\w*|nie|niemals|ohne|au\u00dfer|pas|jamais|sans|aucun\w*|sauf|sin|nunca|ning[u\u00fa]n\w*|non|mai|senza|niet|geen
    |nooit|zonder|n\u00e3o|sem|nie|bez)\b|n['\u2019]t\b""",
    re.IGNORECASE | re.VERBOSE,
)
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
    return (
        before <= after
        and (after == before or after <= _exact(said))  # the answers are long: they are read only if they must be
        and _negations(question) <= _negations(rewrite) <= max(_negations(question), _negations(asked))
        and not _turned_round(question, rewrite, said)
        and _same_language(question, rewrite, asked)
    )


def _exact(text: str) -> frozenset[str]:
    """Codes, numbers, dates and abbreviations, each in one spelling."""
    words = words_of(text)
    figures = {word.low for word in words if word.low in _FIGURES_IN_WORDS}
    verbs = {word.low for word in words if word.low in _VERBS_TOO and not word.named}
    capitals = {word for word in words if sum(sign.isupper() for sign in word.written) >= _CAPITALS}
    abbreviations = {word.low.removesuffix("'s") for word in capitals} if not text.isupper() else set[str]()
    return marks(text) | (figures - verbs) | abbreviations


def _negations(text: str) -> int:
    return len(_NEGATION.findall(text))


def _turned_round(question: str, rewrite: str, said: str) -> bool:
    """Whether a word came in as its opposite, or lost what made it one: `unauthorised` and `authorised`."""
    before, after, known = ({word.low for word in words_of(text)} for text in (question, rewrite, said))
    lost = {_OPPOSITE.sub("", word) for word in before - after if _OPPOSITE.match(word)} & after
    new = {_OPPOSITE.sub("", word) for word in after - known if _OPPOSITE.match(word)} & known
    return bool(lost or new)


def _same_language(question: str, rewrite: str, asked: str) -> bool:
    if not _scripts(rewrite) <= _scripts(asked):
        return False
    shown, wanted = shows_english(rewrite), shows_english(question)
    if shown is not None and wanted is not None and shown is not wanted:
        return False
    words, kept = _telling(question), _telling(rewrite)
    return not words or len(words & kept) >= LEAST_KEPT * len(words)


def _telling(text: str) -> set[str]:
    return {word.low.removesuffix("s") for word in words_of(text) if word.low not in FUNCTION_WORDS}


def _scripts(text: str) -> set[str]:
    """The alphabets of its letters, by the first word of their Unicode names (LATIN, CYRILLIC, CJK)."""
    return {unicodedata.name(sign, "").split(" ")[0] for sign in set(text) if sign.isalpha()}
