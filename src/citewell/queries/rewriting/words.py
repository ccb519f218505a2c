"""The words of a text with their places, and whether it reads as English."""

from __future__ import annotations

import re
from dataclasses import dataclass

from citewell.queries.rewriting.vocabulary import ENGLISH, FOREIGN

_WORD = re.compile(r"[^\W_](?:[\w'\u2019./&#+@:-]*[\w#+])?")
_ACRONYM = re.compile(r"(?:[A-Z]\.){2,}")


@dataclass(frozen=True, slots=True)
class Word:
    """A word as written at `text[start:end]`, and `low`, what it is looked up by: small, with a plain apostrophe."""

    written: str
    low: str
    start: int
    end: int

    @property
    def named(self) -> bool:
        """Written as a name or a code is: with a capital or a digit."""
        return any(sign.isupper() or sign.isdigit() for sign in self.written)


def words_of(text: str) -> list[Word]:
    """A word keeps the signs inside it (`R-17`, `16/8`, `don't`), and the points of an acronym (`D.C.`)."""
    found = []
    for match in _WORD.finditer(text):
        end = match.end()
        if _ACRONYM.match(text, match.start()) and text[end : end + 1] == ".":
            end += 1
        written = text[match.start() : end]
        found.append(Word(written, written.casefold().replace("\u2019", "'"), match.start(), end))
    return found


_LAST_LATIN = "\u024f"


def is_english(*texts: str) -> bool:
    """Whether the first of the texts that shows its language shows English: `Jumbo frames` shows none."""
    return next((shown for text in texts if (shown := shows_english(text)) is not None), False)


def shows_english(text: str) -> bool | None:
    """By its small words and its letters; None where they tell nothing."""
    if any(sign.isalpha() and sign > _LAST_LATIN for sign in text):
        return False
    words = {word.low for word in words_of(text)}
    english, foreign = len(words & ENGLISH), len(words & FOREIGN)
    return english >= foreign if english or foreign else None
