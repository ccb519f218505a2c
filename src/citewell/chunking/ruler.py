"""Token counts by position: a document is tokenised once, and every question after that is a binary search."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from citewell.models.embedder import TokenSpans

Tokenise = Callable[[str], TokenSpans]

# A tokenizer drops invisible and control characters. Uncounted, a megabyte of them would fit into one chunk.
CHARS_PER_UNSEEN_TOKEN = 64


@dataclass(frozen=True, slots=True)
class Ruler:
    """`starts` holds the character positions at which the text's tokens begin, ascending."""

    length: int
    starts: list[int]

    @classmethod
    def of(cls, text: str, token_spans: Tokenise) -> Self:
        starts = token_spans(text)[:, 0]
        grid = np.arange(0, len(text), CHARS_PER_UNSEEN_TOKEN)
        before = np.searchsorted(starts, grid, side="right") - 1
        nearest = np.where(before >= 0, starts[before] if len(starts) else 0, -CHARS_PER_UNSEEN_TOKEN)
        unseen = grid[grid - nearest >= CHARS_PER_UNSEEN_TOKEN]
        return cls(len(text), np.sort(np.concatenate([starts, unseen])).tolist())

    def count(self, start: int, end: int) -> int:
        """Tokens that begin in [start, end)."""
        return bisect.bisect_left(self.starts, end) - bisect.bisect_left(self.starts, start)

    def reach(self, start: int, tokens: int) -> int:
        """The farthest end such that [start, end) holds at most `tokens` tokens."""
        place = bisect.bisect_left(self.starts, start) + tokens
        return self.starts[place] if place < len(self.starts) else self.length
