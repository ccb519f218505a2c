"""The language model protocol: one prompt in, one completion out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Prompt:
    """The rules (`system`), what they are applied to (`user`), and the most tokens that may come back."""

    system: str
    user: str
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back. Token counts are the endpoint's own, 0 where it does not count.

    `finish_reason` is "stop", "length" (cut at `max_tokens`), "content_filter", or "" where the endpoint does not say.
    """

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    finish_reason: str = ""


class LLM(Protocol):
    """Completes a prompt, as deterministically as the model can."""

    def complete(self, prompt: Prompt) -> Completion:
        """Blocks until the answer is there; safe from any thread, and inside a running event loop.

        Raises:
            ServiceUnreachable: no connection, a time-out, or a fault that outlasted the retries.
            ServiceRefused: the endpoint answered, and the answer is no (key, model name, quota, size).
        """
        ...
