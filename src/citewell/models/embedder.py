"""The embedder protocol: texts to vectors, and texts to the tokens that the embedder counts in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
TokenSpans = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """What a user sees of a model. It is recorded with an index, and compared by vectors, never by name alone."""

    name: str
    revision: str
    dimensions: int
    max_tokens: int
    pooling: str
    query_prefix: str
    passage_prefix: str


class Embedder(Protocol):
    """Turns texts into vectors of one space."""

    @property
    def identity(self) -> ModelIdentity: ...

    def token_spans(self, text: str) -> TokenSpans:
        """Character spans [start, end) of the text's tokens, shape (tokens, 2), int64, in order, not truncated.

        Special tokens are not among them: a passage may have `identity.max_tokens - 2` of these.
        """
        ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimensions), float32, rows of length 1, in the order given."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """As `embed_passages`, with the model's query prefix where it has one."""
        ...
