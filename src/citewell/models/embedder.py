"""The embedder protocol: texts to vectors, and texts to the tokens that the embedder counts in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
TokenSpans = NDArray[np.int64]

SPECIAL_TOKENS = 2
"""Of what a model reads, one at each end is its own: not the text's."""


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """What a user sees of a model. It is recorded with an index, and compared by vectors, never by name alone.

    `name` is what `models.embedder` calls it. `max_tokens` is what it reads of a text, its two special tokens included
    and its passage prefix not. `pooling` is "" where the model is elsewhere and does not say.
    """

    name: str
    revision: str
    dimensions: int
    max_tokens: int
    pooling: str
    query_prefix: str
    passage_prefix: str


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """What was made of a text: its vector, shape (dimensions,), those of its tokens, packed as `models.token_vectors`
    does, and its sparse vector, packed as `models.sparse` does; b"" where none are kept."""

    vector: Vectors
    tokens: bytes = b""
    sparse: bytes = b""


@dataclass(frozen=True, slots=True, eq=False)
class QueryTokens:
    """The vectors of a query's tokens, shape (tokens, width), rows of length 1, and the word that each is of."""

    vectors: Vectors
    words: tuple[str, ...]


class Embedder(Protocol):
    """Turns texts into vectors of one space."""

    @property
    def identity(self) -> ModelIdentity: ...

    def token_spans(self, text: str) -> TokenSpans:
        """Character spans [start, end) of the text's tokens, shape (tokens, 2), int64, in order, not truncated.

        Special tokens are not among them: a passage may have `identity.max_tokens - SPECIAL_TOKENS` of these.
        """
        ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimensions), float32, rows of length 1, in the order given."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """As `embed_passages`, with the model's query prefix where it has one."""
        ...


class TokenEmbedder(Embedder, Protocol):
    """An embedder that also gives a vector for each token: what late interaction compares (Khattab and Zaharia 2020,
    "ColBERT", arXiv:2004.12832). Those of special tokens and of punctuation are left out."""

    def embed_passage_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[Vectors]]:
        """What `embed_passages` gives, and for each text the vectors of its tokens: shape (tokens, width), float32,
        rows of length 1. Both come from one pass of the network."""
        ...

    def embed_query_tokens(self, query: str) -> QueryTokens: ...


def token_embedder(embedder: Embedder) -> TokenEmbedder | None:
    """The same, where it is a `TokenEmbedder`. Told by its class: on the object, a property may ask an endpoint."""
    return cast(TokenEmbedder, embedder) if hasattr(type(embedder), "embed_query_tokens") else None


def unit_rows(vectors: NDArray[np.float32] | NDArray[np.float64]) -> Vectors:
    """Rows scaled to length 1.

    Raises:
        ValueError: a row is zero, or holds what is no number.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # what they warn of is refused below
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise ValueError("a vector is zero, or holds what is no number")
    rows: Vectors = (vectors / lengths).astype(np.float32)
    return rows
