"""Sentences as many as the embedder has room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from citewell.chunking.shorten import without_end
from citewell.models.embedder import SPECIAL_TOKENS, Embedder


@dataclass(frozen=True, slots=True)
class Room:
    """What an embedder reads of a text, in its tokens, its special ones not counted."""

    embedder: Embedder

    @property
    def whole(self) -> int:
        return self.embedder.identity.max_tokens - SPECIAL_TOKENS

    def count(self, text: str) -> int:
        return len(self.embedder.token_spans(text))

    def fitted(self, told: Sequence[str], room: int) -> str:
        """As many of the sentences as have at most `room` tokens together; of the first at least its beginning.

        "" where there are none.
        """
        text = ""
        for sentence in told:
            longer = f"{text} {sentence}".lstrip()
            if self.count(longer) > room:
                break
            text = longer
        return text or (without_end(told[0], self.embedder.token_spans, room) if told else "")
