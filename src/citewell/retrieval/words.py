"""Words to tokens: folded, stemmed by language, or cut in n-grams where the script writes no spaces.

A document's words are stemmed by its language. A query's language is unknown and a short text does not tell it, so a
query is stemmed by every language; the stems carry their language (`de:kundig`), so that no German rule can make an
English word match. English, the default, carries none.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from typing import Protocol, cast

MAX_LENGTH = 64
"""Characters of a token; what is longer (a hash, a blob) is cut, in documents and in queries alike."""

ENGLISH = "en"
_ALGORITHMS = {
    ENGLISH: "english", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "es": "spanish",
    "fi": "finnish", "fr": "french", "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian",
    "pl": "polish", "pt": "portuguese", "ro": "romanian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
_ALIASES = {"nb": "no", "nn": "no"}

# A script other than Latin gets its most widely written language, in documents and in queries alike.
_SCRIPTS = {
    "greek": "\u0370-\u03ff\u1f00-\u1fff",
    "russian": "\u0400-\u052f",
    "armenian": "\u0530-\u058f",
    "arabic": "\u0600-\u06ff\u0750-\u077f",
    "hindi": "\u0900-\u097f",
    "tamil": "\u0b80-\u0bff",
}
_SCRIPT = re.compile("|".join(f"(?P<{name}>[{letters}])" for name, letters in _SCRIPTS.items()))
_LATIN = re.compile("[a-z\u00aa-\u024f\u1e00-\u1eff]")

# Accents of Latin and Greek letters, Hebrew points, Arabic vowel signs and tatweel, the nukta of Hindi. Other marks are
# part of the letter.
_ACCENTS = re.compile(
    "(?<=[a-z\u00aa-\u024f\u0370-\u03ff])[\u0300-\u036f]+|[\u0591-\u05bd\u05bf-\u05c7\u0640\u064b-\u0655\u0670\u093c]"
)
# Letters that Unicode does not take apart, and letters written one for the other.
_LETTERS = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ё": "е", "\u0901": "\u0902"}
)
_ELISION = re.compile(r"^(?:[cdjlmnst]|qu|[dns][eu]ll|all|dall|un)'(?=\w\w)")


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - snowballstemmer's name


_STEMMING = threading.Lock()


@dataclass(frozen=True, slots=True)
class Reading:
    """How a text is read: the languages that its words are stemmed by, and whether it is a query or a document."""

    languages: tuple[str, ...]
    is_query: bool

    @staticmethod
    @lru_cache(maxsize=1 << 8)
    def document(tag: str) -> Reading:
        """Of a document with this language tag (`de`, `de-AT`, or "" for unknown, which is read as English)."""
        primary = re.split("[-_]", tag.strip().casefold())[0]
        language = _ALIASES.get(primary, primary)
        return Reading((language if language in _ALGORITHMS else ENGLISH,), is_query=False)


QUERY = Reading(tuple(_ALGORITHMS), is_query=True)


def fold(text: str) -> str:
    """Casefolded, without accents: `Straße` and `Café` become `strasse` and `cafe`."""
    text = text.casefold()
    if text.isascii():
        return text
    plain = _ACCENTS.sub("", unicodedata.normalize("NFD", text.translate(_LETTERS)))
    return unicodedata.normalize("NFC", plain)


def word_tokens(word: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    """The tokens of one word of a script with spaces: one a language, two where its accents change the stem."""
    return _word_tokens(word[:MAX_LENGTH], languages)


@lru_cache(maxsize=1 << 17)
def _word_tokens(word: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    word = _ELISION.sub("", word.casefold())
    if _LATIN.match(word):
        forms = dict.fromkeys((word, fold(word)))
        stems = {language: [_stem(form, _ALGORITHMS[language]) for form in forms] for language in languages}
        tokens = (
            stem if language == ENGLISH else f"{language}:{stem}" for language in stems for stem in stems[language]
        )
        return tuple(dict.fromkeys(tokens))
    word = fold(word)
    script = _SCRIPT.match(word)
    return (_stem(word, str(script.lastgroup)),) if script else (word,)


def gram_tokens(units: Sequence[str], n: int, reading: Reading) -> list[str]:
    """All the 1- to n-grams of `units`, for a document; only the longest that fit, for a query.

    So a query of two Chinese characters asks for that pair and nothing less, and a query of one still finds it.
    """
    sizes = [min(n, len(units))] if reading.is_query else range(1, min(n, len(units)) + 1)
    return ["".join(units[start : start + size]) for size in sizes for start in range(len(units) - size + 1)]


def _stem(word: str, algorithm: str) -> str:
    with _STEMMING:  # a stemmer holds the word in work
        return fold(_stemmer(algorithm).stemWord(word)) or fold(word)


@cache
def _stemmer(algorithm: str) -> _Stemmer:
    # Not by `snowballstemmer.stemmer`, which takes PyStemmer where that is installed: another version, other tokens.
    module = import_module(f"snowballstemmer.{algorithm}_stemmer")
    return cast("_Stemmer", getattr(module, f"{algorithm.capitalize()}Stemmer")())
