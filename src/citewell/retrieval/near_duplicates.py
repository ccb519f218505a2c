"""Passages that say the same in nearly the same words: one is shown, the others are listed with it.

Two passages are near duplicates if they share most of their runs of three words (the resemblance of Broder, "On the
resemblance and containment of documents", 1997), and have the same numbers, codes and names, the same negations and the
same may and must. A fee of EUR 25 and one of EUR 35 in the same sentence are two facts, however alike a vector or a
count of words finds them. A search compares a hundred passages at most, so all pairs are compared exactly and nothing
is sketched.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from citewell.retrieval.amounts import UNIT_WORDS
from citewell.retrieval.analyser import analyse
from citewell.types import Hit

UNITS = frozenset(UNIT_WORDS)
RUN = 3
RESEMBLANCE = 0.8
"""The least share of their runs that two passages have in common. A changed word costs 3 runs: of 100 words about 8
may differ."""

_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[^\W\d_]+")
# A capital after another word is no beginning of a sentence.
_AFTER_A_WORD = re.compile(r"(?:(?<=\w )|(?<=\w, ))[^\W\d_]+")
# Negations, what one may or must, and numbers in words: another one of these is another rule. Casefolded.
_DECISIVE = re.compile(
    r"\b(?:not|no|nor|never|none|cannot|without|except|unless|neither|\w+n't|may|might|must|shall|should|can|could"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|hundred|thousand|million|half|double"
    r"|nicht|kein\w*|nie|ohne|ausser|darf|dürfen|muss|müssen|soll|sollen|kann|können"
    r"|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|\w+zehn|\w+zig|hundert|tausend"
    r"|pas|ne|jamais|sans|sauf|ni|nunca|sin|salvo|non|mai|senza|não|nem|sem|niet|geen|nooit|zonder)\b"
)


@dataclass(frozen=True, slots=True)
class _Read:
    """A passage as it is compared: its runs of words, its numbers and decisive words in order, names, and all words."""

    runs: frozenset[tuple[str, ...]]
    telling: tuple[tuple[str, ...], tuple[str, ...]]
    names: frozenset[str]
    words: frozenset[str]

    @classmethod
    def of(cls, text: str) -> _Read:
        line = " ".join(unicodedata.normalize("NFKC", text).replace("\u2019", "'").split())
        # A text without words (a drawing, a formula) is one run of its own.
        tokens = analyse(text) or [line]
        numbers = tuple(token for token in tokens if _DIGIT.search(token))
        return cls(
            runs=frozenset(tuple(tokens[at : at + RUN]) for at in range(max(1, len(tokens) - RUN + 1))),
            telling=(numbers, tuple(_DECISIVE.findall(line.casefold()))),
            # A currency is compared with its amount, in whatever spelling.
            names=frozenset(word.casefold() for word in _AFTER_A_WORD.findall(line) if word[0].isupper()) - UNITS,
            words=frozenset(word.casefold() for word in _WORD.findall(line)),
        )

    def is_like(self, other: _Read) -> bool:
        if self.telling != other.telling or not (self.names <= other.words and other.names <= self.words):
            return False
        shared = len(self.runs & other.runs)
        return shared >= RESEMBLANCE * (len(self.runs) + len(other.runs) - shared)


def first_of_alike(hits: Sequence[Hit], k: int) -> tuple[Hit, ...]:
    """The first k that are no near duplicates of a better one, ranked anew, each with the passages that are its own."""
    passages = [hit.passage for hit in hits]
    found = groups([passage.text for passage in passages])[:k]
    return tuple(
        replace(hits[first], rank=rank, alike=tuple(passages[place] for place in others))
        for rank, (first, *others) in enumerate(found, start=1)
    )


def groups(texts: Sequence[str]) -> list[list[int]]:
    """The places of the texts, given best first, in groups of near duplicates: each group and the groups best first.

    Every text in a group is a near duplicate of the group's first one, which is the one to show. Only texts that the
    reader may read are given: that another one is nearly the same would tell of it.
    """
    read = [_Read.of(text) for text in texts]
    found: list[list[int]] = []
    for place, one in enumerate(read):
        of_it = next((group for group in found if read[group[0]].is_like(one)), None)
        if of_it is None:
            found.append([place])
        else:
            of_it.append(place)
    return found
