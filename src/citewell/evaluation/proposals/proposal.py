"""A question proposed, and where in its document the answer stands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import regex

from citewell.types import Document

LONGEST_QUESTION = 400
"""Characters; nobody asks more, whatever the length of a heading."""

_WORD = regex.compile(r"\p{L}+(?:['’-]\p{L}+)*")
_INSIDE_SENTENCE = regex.compile(r"[\p{Ll},]\s(\p{Lu}\p{Ll}[\p{L}'’-]*)")
_PLURAL = regex.compile(r"\p{Lu}\p{Ll}+s")
_ARTICLES = frozenset({"The", "A", "An"})


@dataclass(frozen=True, slots=True)
class Proposal:
    """`text[start:end]` of the document is the quote; with a `section`, it only says where that begins."""

    kind: str
    question: str
    answer: str
    start: int
    end: int
    section: str = ""


@dataclass(frozen=True)
class Wording:
    """The words of a document, to tell which are names."""

    document: Document

    def inside(self, phrase: str) -> str:
        """The phrase as it stands inside a sentence: its first word small, unless it is a name or a code."""
        first, *others = _WORD.findall(phrase) or [""]
        if not first or not phrase.startswith(first) or not (first in _ARTICLES or _is_capitalised(first)):
            return phrase
        following = phrase[len(first) :]
        if following and following[0] not in " ,":
            return phrase  # "Re-17"
        if first in _ARTICLES:
            is_name = False
        elif first.casefold() in self._small:
            # "Larkfield High Street", "Card Controls Desk": a name of several words keeps its capitals.
            is_name = following.startswith(" ") and any(map(_is_capitalised, others[:1]))
        else:
            is_name = not others or any(map(_is_capitalised, others)) or first in self._capitalised
        return phrase if is_name else phrase[0].lower() + phrase[1:]

    def subject(self, phrase: str) -> str:
        """As `inside`, of what begins a sentence or is a heading: a single word there is a plural before a name."""
        if _PLURAL.fullmatch(phrase) and phrase not in self._capitalised:
            return phrase.lower()
        return self.inside(phrase)

    @cached_property
    def _small(self) -> frozenset[str]:
        return frozenset(word for word in _WORD.findall(self.document.text) if word.islower())

    @cached_property
    def _capitalised(self) -> frozenset[str]:
        return frozenset(_INSIDE_SENTENCE.findall(self.document.text))


def _is_capitalised(word: str) -> bool:
    return word[0].isupper() and word[1:2].islower()
