"""Cutting by count: windows of as many tokens as a chunk may have, whatever they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import regex

from citewell.chunking.measured import Measured
from citewell.chunking.pieces import Piece
from citewell.chunking.windows import windows
from citewell.chunking.within import LONGEST_GRAPHEME

# The borders of words by Unicode Standard Annex 29.
_WORD = regex.compile(r"(?w)\b(?=[^\s\p{GCB=EX}\p{GCB=SM}\p{GCB=ZWJ}])")
_GRAPHEME = regex.compile(r"\X")
# Tokens: a longer word is cut.
LONGEST_WORD = 32
# Characters that the rules of the annex look at beyond a border.
_AHEAD = 64


def by_count(measured: Measured, place: str) -> Iterator[Piece]:
    """The windows of a document below the line `place`, ordered by start. They end between words, or graphemes."""
    text, starts = measured.document.text, measured.ruler.starts
    edges = [len(text) - len(text.lstrip()), *starts[1:], len(text)]
    room = measured.limit - measured.count(place)
    found = _Edges(measured, edges, room)
    for first, last in windows(len(edges) - 1, room, min(measured.overlap, room - 1), found.word, found.grapheme):
        start = edges[first]
        yield Piece(start, start + len(text[start : edges[last]].rstrip()), place)


@dataclass(frozen=True, slots=True)
class _Edges:
    """Where a window may be cut. `edges` are the positions at which tokens begin, and the end of the text."""

    measured: Measured
    edges: list[int]
    room: int

    def word(self, low: int, high: int) -> int:
        """The last token in (low, high] that begins a word, so that what is before it fits; or `low`."""
        return self._fitting(low, high, self._last_word)

    def grapheme(self, low: int, high: int) -> int:
        """The last token in (low, high] that begins a grapheme, so that what is before it fits."""
        return self._fitting(low, high, self._last_grapheme)

    def _fitting(self, low: int, high: int, last: Callable[[int, int], int]) -> int:
        text, edges = self.measured.document.text, self.edges
        while True:
            place = last(low, high)
            # A word cut in two may count more tokens than it did whole.
            excess = len(self.measured.token_spans(text[edges[low] : edges[place]])) - self.room
            if excess <= 0 or place <= low + 1:
                return place
            high = max(low + 1, low + (place - low) // 2, place - excess)

    def _last_word(self, low: int, high: int) -> int:
        edges = self.edges
        if high == len(edges) - 1:
            return high
        nearest = max(low, high - LONGEST_WORD)
        words = _WORD.finditer(self.measured.document.text, edges[nearest], edges[high] + _AHEAD)
        starts = {word.start() for word in words}
        return next((place for place in range(high, nearest, -1) if edges[place] in starts), low)

    def _last_grapheme(self, low: int, high: int) -> int:
        """Any token, in a grapheme that is longer than those of a real text."""
        edges = self.edges
        starts: set[int] = set()
        for grapheme in _GRAPHEME.finditer(self.measured.document.text, edges[low], edges[high] + _AHEAD):
            long = grapheme.end() - grapheme.start() >= LONGEST_GRAPHEME
            starts.update(range(grapheme.start(), grapheme.end()) if long else (grapheme.start(),))
        return next((place for place in range(high, low, -1) if edges[place] in starts), high)
