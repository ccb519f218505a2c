"""Two statements that cannot both be right, and the one line in which an answer says so."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from urllib.parse import unquote

MOST_SHOWN, MOST_NAMED = 90, 60
"""Characters of a statement and of a document's name in a warning."""

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d]+")
_WORD = re.compile(r"\S+")


class Kind(StrEnum):
    """In what two statements differ."""

    FIGURE = "figure"
    DATE = "date"
    NEGATION = "yes or no"


@dataclass(frozen=True, slots=True)
class Said:
    """What a document says at `document.text[start:end]`, as one line, with its days in force as stated."""

    document_id: str
    start: int
    end: int
    text: str
    title: str
    source: str
    valid_from: date | None
    valid_to: date | None

    def beside(self, other: Said) -> str:
        """The part of it that the other one says otherwise, and where it is said."""
        name, shown = _name(self, other), _excerpt(self.text, _differs_at(self.text, other.text))
        days = [f"{word} {day}" for word, day in (("from", self.valid_from), ("to", self.valid_to)) if day is not None]
        in_force = f", in force {' '.join(days)}" if days else ""
        return f"“{shown}” ({name}{in_force})"


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two statements that cannot both be right, that of the better hit first."""

    kind: Kind
    one: Said
    other: Said

    @property
    def warning(self) -> str:
        """What an answer says about it, in one line."""
        one, other = self.one.beside(self.other), self.other.beside(self.one)
        return f"Two documents differ ({self.kind}): {one}; {other}."


def _name(one: Said, other: Said) -> str:
    """The document's title; of two with the same title, its path from where the two paths part."""
    name = one.title
    if one.title == other.title:
        path, beside = (unquote(each.source).split("/") for each in (one, other))
        parted = (at for at, both in enumerate(zip(path, beside, strict=False)) if both[0] != both[1])
        name = "/".join(path[next(parted, -1) :])
    return name if len(name) <= MOST_NAMED else f"{name[:MOST_NAMED]}…"


def _differs_at(text: str, other: str) -> int:
    """Where the first number begins that the other has not, or else the first word."""
    theirs = frozenset(_TOKEN.findall(other))
    own = [token for token in _TOKEN.finditer(text) if token[0] not in theirs]
    numbers = (token for token in own if token[0][0].isdigit())
    return next((token.start() for token in (*numbers, *own)), 0)


def _excerpt(text: str, place: int) -> str:
    """As many words around a place as a warning shows."""
    if len(text) <= MOST_SHOWN:
        return text
    begin = max(0, min(place - MOST_SHOWN // 2, len(text) - MOST_SHOWN))
    end = begin + MOST_SHOWN
    words = [word for word in _WORD.finditer(text) if begin <= word.start() <= word.end() <= end]
    shown = text[words[0].start() : words[-1].end()] if words else text[begin:end]
    return f"{'…' if begin else ''}{shown}{'…' if end < len(text) else ''}"
