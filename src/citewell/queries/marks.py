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
    r"""\b(?:no|not|never|none|neither|nor|nothing|nobody|without|cannot|except|excluding|unless|non
    |nicht|kein\w*|nie|niemals|ohne|au\u00dfer|pas|jamais|sans|aucun\w*|sauf|sin|nunca|ning[u\u00fa]n\w*|mai|senza|niet|geen
    |nooit|zonder|n\u00e3o|sem|bez)\b|n['\u2019]t\b""",
    re.IGNORECASE | re.VERBOSE,
)
_SPELLINGS_OF_NOT = frozenset({"cannot", "n't", "n\u2019t"})
# Japanese is written in all of them at once.
_KANA = frozenset({"HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"})


def marks(text: str) -> frozenset[str]:
    """Its codes, numbers and identifiers, each as one token, whatever its spelling: `R-17` and `R 17` are the same."""
    figures = (token for token in analyse(text) if any(sign.isdigit() for sign in token))
    return frozenset(figures) | {name.casefold() for name in _IDENTIFIER.findall(text)}


def negations(text: str) -> Counter[str]:
    """The words in it that turn a statement round, casefolded, and how often; "isn't" and "cannot" have a "not"."""
    words = (word.casefold() for word in _NEGATION.findall(text))
    return Counter("not" if word in _SPELLINGS_OF_NOT else word for word in words)


def without_foreign_marks(text: str, question: str) -> str:
    """The text without the codes and numbers that the question has not."""
    known = marks(question)
    for lump in dict.fromkeys(lumps_of(text)):
        if not marks(lump) <= known:
            text = re.sub(rf"(?<!\w){re.escape(lump)}(?!\w)", "", text)
    return " ".join(text.split())


def same_language(text: str, question: str, said: str = "") -> bool:
    """Whether nothing tells their languages apart: the scripts are the question's, and both are English or neither.

    `said` is what else the text may take a script from: the questions before.
    """
    written, asked, known = (_scripts(each) for each in (text, question, f"{question} {said}"))
    main = {script for script, _ in asked.most_common(1)}
    english, asked_in_english = shows_english(text), shows_english(question)
    return (not written or not known or main <= written.keys() <= known.keys()) and (
        english is asked_in_english or english is None or asked_in_english is None
    )


def _scripts(text: str) -> Counter[str]:
    """LATIN, GREEK, CJK ...: the first words of the Unicode names of its letters, and how many have each."""
    names = (unicodedata.name(sign, "").partition(" ")[0] for sign in text if sign.isalpha())
    return Counter("KANA" if name in _KANA else name for name in names)
