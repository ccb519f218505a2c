"""Work: calls to models and tokens through them, what they cost at given prices and take at given speeds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass

from citewell.evaluation.forecast.rates import Prices, Speeds

MILLION = 1_000_000
MS_PER_SECOND = 1_000


@dataclass(frozen=True, slots=True)
class Work:
    """`calls` of a language model and the tokens of each kind; all but the last two are the language model's.

    A provider keeps the beginning of a prompt that comes again: it is written once (`cache_write_tokens`) and then
    only looked up (`cached_tokens`).
    """

    calls: int = 0
    input_tokens: int = 0
    cache_write_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    embedding_tokens: int = 0
    rerank_tokens: int = 0

    def __add__(self, other: Work) -> Work:
        return Work(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    def times(self, number: int) -> Work:
        return Work(*(each * number for each in astuple(self)))

    @property
    def prompt_tokens(self) -> int:
        """What the language model is given, looked up or not."""
        return self.input_tokens + self.cache_write_tokens + self.cached_tokens

    @property
    def llm_tokens(self) -> int:
        """What goes into the language model and comes out."""
        return self.prompt_tokens + self.output_tokens

    def usd(self, prices: Prices) -> float | None:
        """None where the price of a kind that there is is not known."""
        cost = _total(
            [
                (self.input_tokens, prices.input),
                (self.cache_write_tokens, prices.cache_write),
                (self.cached_tokens, prices.cached),
                (self.output_tokens, prices.output),
                (self.embedding_tokens, prices.embedding),
                (self.rerank_tokens, prices.rerank),
            ]
        )
        return None if cost is None else cost / MILLION

    def seconds(self, speeds: Speeds) -> float | None:
        """One call after another; what is looked up takes no time. None where a speed is not known."""
        taken = _total(
            [
                (self.input_tokens + self.cache_write_tokens, speeds.prefill),
                (self.output_tokens, speeds.output),
                (self.embedding_tokens, speeds.embedding),
                (self.rerank_tokens, speeds.rerank),
            ]
        )
        return None if taken is None else taken / MS_PER_SECOND


NOTHING = Work()


def _total(parts: Iterable[tuple[int, float | None]]) -> float | None:
    known = [(tokens, rate) for tokens, rate in parts if tokens]
    rates = [rate for _, rate in known if rate is not None]
    if len(rates) < len(known):
        return None
    return sum((tokens * rate for (tokens, _), rate in zip(known, rates, strict=True)), 0.0)
