"""What forecasts are made of: a collection in numbers, and a question as the settings have it asked.

Tokens are the embedder's, also where they stand for a language model's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from citewell.evaluation.metrics import estimate


@dataclass(frozen=True, slots=True)
class Counted:
    """A document: its tokens, its passages, and the tokens of all of these together.

    `embedded_tokens` are theirs with what is put above each, `pages` 0 where the format has none.
    """

    tokens: int
    passages: int
    passage_tokens: int
    embedded_tokens: int
    pages: int = 0


@dataclass(frozen=True, slots=True)
class Collection:
    """`documents` in all, of which some or all were `counted`. Sums over the counted ones are scaled up.

    A passage is what is searched; a larger one that is only read in its place is none. `entries` are the vectors that
    there are, of `dimensions` numbers each. A token's own vector takes `token_bytes`, 0 where none are kept.
    """

    documents: int
    counted: tuple[Counted, ...]
    entries: int
    dimensions: int
    token_bytes: int = 0

    @property
    def tokens(self) -> int:
        return self._sum(lambda each: each.tokens)

    @property
    def tokens_interval(self) -> tuple[int, int] | None:
        """95 % interval of `tokens`; None where every document was counted."""
        if len(self.counted) >= self.documents:
            return None
        found = estimate([each.tokens for each in self.counted])
        return round(found.low * self.documents), round(found.high * self.documents)

    @property
    def passages(self) -> int:
        return self._sum(lambda each: each.passages)

    @property
    def passage_tokens(self) -> float:
        """Mean of a passage."""
        passages = sum(each.passages for each in self.counted)
        return sum(each.passage_tokens for each in self.counted) / passages if passages else 0.0

    @property
    def embedded_tokens(self) -> int:
        return self._sum(lambda each: each.embedded_tokens)

    @property
    def first_reading(self) -> int:
        """The tokens of every document that has a passage."""
        return self._sum(lambda each: each.tokens if each.passages else 0)

    @property
    def readings_again(self) -> int:
        """The tokens of the whole document, for each of its passages but the first."""
        return self._sum(lambda each: each.tokens * max(each.passages - 1, 0))

    def pages(self, tokens_per_page: int) -> int:
        """A document of a format without pages has as many as its tokens fill."""
        return self._sum(lambda each: each.pages or -(-each.tokens // tokens_per_page))

    def _sum(self, of: Callable[[Counted], int]) -> int:
        return round(sum(map(of, self.counted)) * self.documents / len(self.counted))


@dataclass(frozen=True, slots=True)
class Asking:
    """A prompt of `passages`, of which it has `room` for more where a technique finds more.

    `passage_tokens` is the mean of what is read of one (its parent, where it has one), `instruction_tokens` all else in
    the prompt, the question with it. `candidates` are what a re-ranker would read.
    """

    passages: int
    room: int
    passage_tokens: float
    instruction_tokens: int
    answer_tokens: int
    candidates: int
