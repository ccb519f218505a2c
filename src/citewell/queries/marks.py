"""What must not change when a question is put in other words: codes, numbers, negations, and the language."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from citewell.queries.rewriting.words import shows_english
from citewell.retrieval.analyser import analyse
from citewell.retrieval.codes import lumps_of

_IDENTIFIER = re.compile(r"\w+_\w+|\b[A-Za-z](?:\+\+|#)(?!\w)")
_NEGATION = re.compile(
    r"\b(?:not|no|never|without|neither|nor|none|except|cannot|unless|excluding)\b|n['\u2019]t\b", re.IGNORECASE
)


def marks(text: str) -> frozenset[str]:
    """Its codes, numbers and identifiers, each as one token, whatever its spelling: `R-17` and `R 17` are the same."""
    figures = (token for token in analyse(text) if any(sign.isdigit() for sign in token))
    return frozenset(figures) | {name.casefold() for name in _IDENTIFIER.findall(text)}


def negations(text: str) -> frozenset[str]:
    """The words in it that turn a statement round (English), casefolded."""
    return frozenset(word.casefold() for word in _NEGATION.findall(text))


def without_foreign_marks(text: str, question: str) -> str:
    """The text without the codes and numbers that the question has not."""
    known = marks(question)
    for lump in dict.fromkeys(lumps_of(text)):
        if not marks(lump) <= known:
            text = re.sub(rf"(?<!\w){re.escape(lump)}(?!\w)", "", text)
    return " ".join(text.split())


def same_language(text: str, question: str) -> bool:
    """Whether nothing tells their languages apart: one script, and both English or neither."""
    script, asked = _script(text), _script(question)
    english, asked_in_english = shows_english(text), shows_english(question)
    return (script == asked or not script or not asked) and (
        english is asked_in_english or english is None or asked_in_english is None
    )


def _script(text: str) -> str:
    """LATIN, GREEK, CJK ...: the first word of the Unicode name of most of its letters."""
    names = Counter(unicodedata.name(sign, "").partition(" ")[0] for sign in text if sign.isalpha())
    return names.most_common(1)[0][0] if names else ""
