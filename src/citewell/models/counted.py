"""A language model whose calls are counted: what was asked of it for one question, by whatever step, and its price."""

from __future__ import annotations

import threading
from collections.abc import Generator
from dataclasses import dataclass

from citewell.models.llm import LLM, Completion, Prompt, Stream, stream
from citewell.types import Usage


@dataclass(frozen=True, slots=True)
class Price:
    """USD for a million tokens: of a prompt, of a completion, and of what of a prompt the endpoint had cached."""

    prompt: float
    completion: float
    cached: float

    def of(self, completion: Completion) -> float:
        """USD for one call."""
        new = completion.prompt_tokens - completion.cached_tokens
        millionths = (
            new * self.prompt + completion.cached_tokens * self.cached + completion.completion_tokens * self.completion
        )
        return millionths / 1_000_000


class CountedLLM:
    """A `StreamingLLM` that passes on to another model. A call's cost is unknown where no price is given, and where its
    endpoint did not tell the tokens of the prompt, as one does not that is left before it has told them.

    Safe to share between threads.
    """

    def __init__(self, llm: LLM, price: Price | None = None) -> None:
        self._llm = llm
        self._price = price
        self._usage = Usage()
        self._lock = threading.Lock()

    @property
    def usage(self) -> Usage:
        """Of all calls that were answered so far; of one that was broken off, what its endpoint had told by then."""
        return self._usage

    def complete(self, prompt: Prompt) -> Completion:
        """As `LLM.complete`."""
        completion = self._llm.complete(prompt)
        self._count(completion)
        return completion

    def stream(self, prompt: Prompt) -> Stream:
        """As `StreamingLLM.stream`, from any `LLM`; counted when it ends."""
        return Stream(self._counted(prompt))

    def _counted(self, prompt: Prompt) -> Generator[str | Completion, None, None]:
        with stream(self._llm, prompt) as pieces:
            try:
                for piece in pieces:
                    yield pieces.counts
                    yield piece
                yield pieces.counts
            finally:
                if pieces.completion != Completion(""):
                    self._count(pieces.completion)

    def _count(self, completion: Completion) -> None:
        cost = self._price.of(completion) if self._price is not None and completion.prompt_tokens else None
        with self._lock:
            self._usage += Usage(completion.prompt_tokens, completion.completion_tokens, cost, calls=1)
