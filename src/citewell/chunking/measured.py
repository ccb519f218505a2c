"""A document with its tokens counted, and the sizes that its chunks may have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Self

from citewell.chunking.ruler import Ruler, Tokenise
from citewell.models.embedder import SPECIAL_TOKENS, Embedder
from citewell.settings import Chunking
from citewell.types import Document

PREFIX_TOKENS = 48


@dataclass(frozen=True, slots=True)
class Measured:
    """What every step of chunking goes by. Sizes are in the embedder's tokens, its special ones not counted.

    `limit` is for a text that is embedded, all that stands above it included; `most` is for one that must not be cut.
    `count` is for short texts, which come again: it remembers them. The steps add to `warnings` what they could not
    do as they should.
    """

    document: Document
    ruler: Ruler
    token_spans: Tokenise
    count: Callable[[str], int]
    limit: int
    most: int
    overlap: int
    warnings: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, document: Document, settings: Chunking, embedder: Embedder) -> Self:
        most = embedder.identity.max_tokens - SPECIAL_TOKENS
        limit = min(settings.size, most)
        return cls(
            document,
            Ruler.of(document.text, embedder.token_spans),
            embedder.token_spans,
            cache(lambda text: len(embedder.token_spans(text))),
            limit,
            most,
            min(settings.overlap, limit // 2),
        )

    @property
    def place_room(self) -> int:
        """What the line above a passage, with its title and headings, may have."""
        return min(PREFIX_TOKENS, self.limit // 4)

    def at(self, position: int) -> str:
        """Where `position` is, for a warning."""
        pages = self.document.pages_of(position, position + 1)
        return f"at character {position}" + (f", page {pages[0].label}" if pages else "")
