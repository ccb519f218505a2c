"""What was made of queries, remembered in memory: a query is read more than once, and an endpoint is paid each time.

Each set of groups has its own: how fast an answer comes must not tell one reader what another asked, nor that it asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from citewell.models.embedder import (
    Embedder,
    ModelIdentity,
    QueryTokens,
    TokenEmbedder,
    TokenSpans,
    Vectors,
    token_embedder,
)
from citewell.models.encoding import Encoders
from citewell.models.sparse import SparseEncoder, SparseVector

Readers = frozenset[str] | None
"""The groups of who asks; None is the owner."""

MOST_SETS = 50
"""Of groups that are remembered apart."""


class QueryMemory:
    """What some encoders made of the last `most` queries of each set of groups. Safe to share between threads."""

    def __init__(self, encoders: Encoders, most: int) -> None:
        self._encoders = encoders
        self._most = most
        self.read_for = lru_cache(MOST_SETS)(self._read_for)

    def _read_for(self, readers: Readers) -> Encoders:  # noqa: ARG002  # each has its own
        """These encoders, which remember."""
        embedder, sparse, most = self._encoders.embedder, self._encoders.sparse, self._most
        vectors = lru_cache(most)(lambda text: _own(embedder.embed_queries([text])[0]))
        of_tokens = token_embedder(embedder)
        remembering: Embedder = _Remembering(embedder, vectors)
        if of_tokens is not None:
            remembering = _RememberingTokens(
                embedder, vectors, of_tokens, lru_cache(most)(of_tokens.embed_query_tokens)
            )
        if sparse is None:
            return Encoders(remembering)
        return Encoders(remembering, _RememberingSparse(sparse, lru_cache(most)(sparse.encode_query)))


def _own(vector: Vectors) -> Vectors:
    """By itself, or it would keep its whole batch, and not to be written to, since many will read it."""
    own: Vectors = np.array(vector)
    own.flags.writeable = False
    return own


@dataclass(frozen=True, slots=True)
class _Remembering:
    """An `Embedder` that asks the memory about queries."""

    embedder: Embedder
    vectors: Callable[[str], Vectors]

    @property
    def identity(self) -> ModelIdentity:
        return self.embedder.identity

    def token_spans(self, text: str) -> TokenSpans:
        return self.embedder.token_spans(text)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self.embedder.embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self.vectors(text) for text in texts])


@dataclass(frozen=True, slots=True)
class _RememberingTokens(_Remembering):
    """A `TokenEmbedder` that does: `whole` is the one that it stands for."""

    whole: TokenEmbedder
    tokens: Callable[[str], QueryTokens]

    def embed_passage_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[Vectors]]:
        return self.whole.embed_passage_tokens(texts)

    def embed_query_tokens(self, query: str) -> QueryTokens:
        return self.tokens(query)


@dataclass(frozen=True, slots=True)
class _RememberingSparse:
    """A `SparseEncoder` that does."""

    encoder: SparseEncoder
    vectors: Callable[[str], SparseVector]

    @property
    def identity(self) -> str:
        return self.encoder.identity

    def encode_passages(self, texts: Sequence[str]) -> list[SparseVector]:
        return self.encoder.encode_passages(texts)

    def encode_query(self, text: str) -> SparseVector:
        return self.vectors(text)

    def words(self, terms: Sequence[int]) -> list[str]:
        return self.encoder.words(terms)
