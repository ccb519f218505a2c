"""What was made of queries, remembered in memory: a query is read more than once, and an endpoint is paid each time.

Each set of groups has its own: how fast an answer comes must not tell one reader what another asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np

from citewell.models.embedder import Embedder, ModelIdentity, QueryTokens, TokenEmbedder, TokenSpans, Vectors
from citewell.models.encoding import Encoders
from citewell.models.sparse import SparseEncoder, SparseVector

Readers = frozenset[str] | None
"""The groups of who asks; None is the owner."""
Made = TypeVar("Made")
Memory = Callable[[Readers, str], Made]


class QueryMemory:
    """What some encoders made of the last `most` queries. Safe to share between threads."""

    def __init__(self, encoders: Encoders, most: int) -> None:
        embedder, sparse = encoders.embedder, encoders.sparse
        self._encoders = encoders
        self._vectors = _remembered(lambda text: _own(embedder.embed_queries([text])[0]), most)
        self._tokens = _remembered(embedder.embed_query_tokens, most) if isinstance(embedder, TokenEmbedder) else None
        self._sparse = _remembered(sparse.encode_query, most) if sparse is not None else None

    def read_for(self, readers: Readers) -> Encoders:
        """These encoders, which look here first."""
        embedder, sparse = self._encoders.embedder, self._encoders.sparse
        remembering: Embedder = _Remembering(embedder, readers, self._vectors)
        if self._tokens is not None and isinstance(embedder, TokenEmbedder):
            remembering = _RememberingTokens(embedder, readers, self._vectors, embedder, self._tokens)
        if self._sparse is None or sparse is None:
            return Encoders(remembering)
        return Encoders(remembering, _RememberingSparse(sparse, readers, self._sparse))


def _remembered(make: Callable[[str], Made], most: int) -> Memory[Made]:
    @lru_cache(most)
    def made(readers: Readers, text: str) -> Made:  # noqa: ARG001  # the readers are part of the key
        return make(text)

    return made


def _own(vector: Vectors) -> Vectors:
    """By itself, or it would keep its whole batch, and not to be written to, since many will read it."""
    own: Vectors = np.array(vector)
    own.flags.writeable = False
    return own


@dataclass(frozen=True, slots=True)
class _Remembering:
    """An `Embedder` that asks the memory about queries."""

    embedder: Embedder
    readers: Readers
    vectors: Memory[Vectors]

    @property
    def identity(self) -> ModelIdentity:
        return self.embedder.identity

    def token_spans(self, text: str) -> TokenSpans:
        return self.embedder.token_spans(text)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self.embedder.embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self.vectors(self.readers, text) for text in texts])


@dataclass(frozen=True, slots=True)
class _RememberingTokens(_Remembering):
    """A `TokenEmbedder` that does: `whole` is the one that it stands for."""

    whole: TokenEmbedder
    tokens: Memory[QueryTokens]

    def embed_passage_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[Vectors]]:
        return self.whole.embed_passage_tokens(texts)

    def embed_query_tokens(self, query: str) -> QueryTokens:
        return self.tokens(self.readers, query)


@dataclass(frozen=True, slots=True)
class _RememberingSparse:
    """A `SparseEncoder` that does."""

    encoder: SparseEncoder
    readers: Readers
    vectors: Memory[SparseVector]

    @property
    def identity(self) -> str:
        return self.encoder.identity

    def encode_passages(self, texts: Sequence[str]) -> list[SparseVector]:
        return self.encoder.encode_passages(texts)

    def encode_query(self, text: str) -> SparseVector:
        return self.vectors(self.readers, text)

    def words(self, terms: Sequence[int]) -> list[str]:
        return self.encoder.words(terms)
