"""The language model protocols: one prompt in, one completion out, at once or in pieces."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Protocol, Self, runtime_checkable


@dataclass(frozen=True, slots=True)
class Prompt:
    """The rules (`system`), what they are applied to (`user`), and the most tokens that may come back.

    `json_schema` is that of the JSON object that `system` asks for: an endpoint that can hold its model to a schema
    does so. None asks for text.
    """

    system: str
    user: str
    max_tokens: int
    json_schema: Mapping[str, object] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back. Token counts are the endpoint's own, 0 where it does not count.

    `finish_reason` is "stop", "length" (cut at `max_tokens`), "content_filter", or "" where the endpoint does not say.
    `cached_tokens` are those of the prompt that the endpoint had read before, and may charge less for.
    """

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    finish_reason: str = ""
    cached_tokens: int = 0


class LLM(Protocol):
    """Completes a prompt, as deterministically as the model can."""

    def complete(self, prompt: Prompt) -> Completion:
        """Blocks until the answer is there; safe from any thread, and inside a running event loop.

        Raises:
            ServiceUnreachable: no connection, a time-out, or a fault that outlasted the retries.
            ServiceRefused: the endpoint answered, and the answer is no (key, model name, quota); PromptRefused where it
                is so for this prompt (its size, its words).
        """
        ...


@runtime_checkable
class StreamingLLM(LLM, Protocol):
    """An `LLM` that can also give a completion piece by piece."""

    def stream(self, prompt: Prompt) -> Stream:
        """Asks when the first piece is wanted. Each piece may raise what `complete` raises."""
        ...


class Stream:
    """The pieces of a completion as they come, as an iterator; to leave it early (`close`, `with`) ends the request.

    Made of a generator of pieces (str) and of completions, whose counts are those so far and whose text is not read.
    """

    def __init__(self, parts: Generator[str | Completion, None, None]) -> None:
        self._parts = parts
        self._pieces: list[str] = []
        self._counts = Completion("")

    @property
    def completion(self) -> Completion:
        """All of it once the pieces have ended; before, and after an early end, what has come so far."""
        return replace(self._counts, text="".join(self._pieces))

    @property
    def counts(self) -> Completion:
        """The same without its text."""
        return self._counts

    def close(self) -> None:
        """End the request, if it is under way."""
        self._parts.close()

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        for part in self._parts:
            if isinstance(part, str):
                self._pieces.append(part)
                return part
            self._counts = replace(part, text="")
        raise StopIteration

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def stream(llm: LLM, prompt: Prompt) -> Stream:
    """The completion of any `LLM` as a stream: of one piece where it gives no pieces."""
    return llm.stream(prompt) if isinstance(llm, StreamingLLM) else Stream(_at_once(llm, prompt))


def _at_once(llm: LLM, prompt: Prompt) -> Generator[str | Completion, None, None]:
    completion = llm.complete(prompt)
    yield completion
    yield completion.text
