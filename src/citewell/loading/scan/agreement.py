"""Whether a page's text layer says what OCR reads in its picture.

A layer that does not is no transcript of the page: it belongs to another one, it was made badly, or someone added to it
what no reader of the page sees.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

AGREES = 0.55
"""A layer from this agreement on is the page's own.

On six real pages their own texts have 0.93 to 1.00, and 0.73 to 0.90 with 4 % of the letters wrong. With one sentence
added they have 0.00 to 0.40, and those of other pages 0.00 to 0.29, also of the same book. A page of several scripts,
half of which the engine does not read, is not told from a wrong one (0.52).
"""
_WINDOW = 15
"""Words; an added sentence fills it, and common words are then not enough to hide it."""
_ALIKE = 0.5
"""Of their letter triples, for two words to be one read in two ways."""
_CANDIDATES = 5
_COMMON = 100
"""Words; a triple of letters that more of them have tells nothing."""
_MOST_MISREAD = 2_000
"""Words of a page; more are another text's, and are not looked for."""
_LONGEST = 40
_ILLEGIBLE = 0.3
"""Of a layer's signs; fewer are read on a page in a script that the engine does not know."""
_WORD = re.compile(r"[\u2e80-\u9fff]|[^\W_\u2e80-\u9fff]+")
_FOREIGN = re.compile(r"[\u0370-\u2bff\ua000-\uf8ff]")
"""Letters of scripts that the engine does not read: all but the Latin, the Chinese and the Japanese ones."""


def agreement(layer: str, seen: str) -> float:
    """How far two texts of a page agree, 0 to 1, whatever the order of their lines.

    It is the share of letters in the words of the `layer` that are also in the words `seen`, of the 15 words in a row
    that have the least; or, where that is less, the share of what is seen that the layer has. A word that is not found
    counts by the letter triples that it shares with the one most like it (Dice), so that OCR's errors weigh little.

    A layer in a script that the engine does not read cannot be judged: it is 1 where little is read on the page, which
    is then in such a script itself, and 0 where much is.
    """
    written, read = _words(layer), _words(seen)
    signs = sum(map(len, written))
    if 2 * sum(len(_FOREIGN.findall(word)) for word in written) > signs:
        return float(sum(map(len, read)) < _ILLEGIBLE * signs)
    if not written or not read:
        return float(not written and not read)
    # As sums from the beginning, so that each window is a difference of two.
    letters, agreed = _sums(written, _Found(read))
    width = min(_WINDOW, len(written))
    least = ((agreed[width:] - agreed[:-width]) / (letters[width:] - letters[:-width])).min()
    letters, agreed = _sums(read, _Found(written))
    return float(min(least, agreed[-1] / letters[-1]))


def _words(text: str) -> list[str]:
    return [word[:_LONGEST] for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold())]


def _sums(words: Sequence[str], found: _Found) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The letters in the first 0, 1, 2 ... words, and how many of them are found."""
    letters = np.array([0, *map(len, words)], np.float64)
    shares = np.array([0, *map(found.share, words)], np.float64)
    return letters.cumsum(), (letters * shares).cumsum()


class _Found:
    """The words of a text, to look others up in."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = frozenset(words)
        self._holders: dict[str, list[str]] = defaultdict(list)
        for word in self._words:
            for triple in set(_triples(word)):
                self._holders[triple].append(word)
        self._misread = 0
        self.share = cache(self._share)

    def _share(self, word: str) -> float:
        """1 for a word of the text, else how like it is to the most similar one; 0 if that is another word."""
        if word in self._words:
            return 1.0
        self._misread += 1
        if self._misread > _MOST_MISREAD:
            return 0.0
        own = Counter(_triples(word))
        telling = (self._holders.get(triple, []) for triple in own)
        shared = Counter(other for holders in telling if len(holders) <= _COMMON for other in holders)
        best = max((_dice(own, Counter(_triples(other))) for other, _ in shared.most_common(_CANDIDATES)), default=0.0)
        return best if best >= _ALIKE else 0.0


def _triples(word: str) -> tuple[str, ...]:
    padded = f" {word} "
    return tuple(padded[at : at + 3] for at in range(len(padded) - 2))


def _dice(one: Counter[str], other: Counter[str]) -> float:
    return 2 * (one & other).total() / (one.total() + other.total())
