"""The words by which a question in a conversation asks of another subject what was asked before."""

from __future__ import annotations

import re

from citewell.queries.rewriting.leaning import Kind, leanings_of
from citewell.queries.rewriting.subjects import roots_of
from citewell.queries.rewriting.vocabulary import is_general
from citewell.queries.rewriting.words import words_of

_OF_ANOTHER = re.compile(
    r"""\b(?:about|as|at|by|for|from|in|of|on|to|with)\s+(?P<what>[^\s,;:?!]+(?:\s+[^\s,;:?!]+){0,3}?)
    (?:\s+(?:also|as\swell|either|instead|then|too))?[?.!\s]*$""",
    re.IGNORECASE | re.VERBOSE,
)


def subject_words(question: str) -> list[str]:
    """Its words that name a subject, in small letters."""
    return [word.low for word in words_of(question) if roots_of(word.low) and not is_general(word.low)]


def own_words(question: str, alone: str, last: str) -> list[str]:
    """The words of `question` that name the other subject: those that the question before has not, where there are any.

    `alone` is the question standing alone, `last` the one before it. [] where it asks something new: then its words are
    no name that documents must hold.
    """
    if alone == question:
        return []
    if alone.endswith(question):
        before = alone.removesuffix(question)
    elif _asks_of_another(question):
        before = last
    else:
        return []
    words = subject_words(question)
    return [word for word in words if not roots_of(word) <= roots_of(before)] or words


def _asks_of_another(question: str) -> bool:
    """`Is that so for balloons?`, `balloons?`: it says nothing but of what."""
    if any(leaning.kind is Kind.FRAGMENT for leaning in leanings_of(question)):
        return True
    named = _OF_ANOTHER.search(question)
    return named is not None and set(subject_words(question)) <= set(subject_words(named["what"]))
