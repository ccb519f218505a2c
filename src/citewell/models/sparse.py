"""Learned sparse vectors: a weight for each word of a vocabulary, most of them 0, some of words that a text has not.

Formal et al. 2021, "SPLADE" (arXiv:2107.05720) and "SPLADE v2" (arXiv:2109.10086).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

PACKED = np.dtype([("term", "<u4"), ("weight", "<f2")])
"""A term and its weight as they are stored: 6 bytes. Half precision keeps three digits of a weight."""


@dataclass(frozen=True, slots=True, eq=False)
class SparseVector:
    """Weights of terms: `terms` has shape (n,), uint32, ascending, each once; `weights` (n,), float32, above 0."""

    terms: NDArray[np.uint32]
    weights: NDArray[np.float32]

    def pack(self) -> bytes:
        """Without what half precision rounds to nothing, below 3e-8; at its other end, 65,504, no model comes near."""
        weights = self.weights.astype(PACKED["weight"])
        kept = weights > 0
        packed = np.empty(int(kept.sum()), PACKED)
        packed["term"], packed["weight"] = self.terms[kept], weights[kept]
        return packed.tobytes()

    @classmethod
    def unpack(cls, packed: bytes) -> SparseVector:
        rows = np.frombuffer(packed, PACKED)
        return cls(rows["term"].copy(), rows["weight"].astype(np.float32))


class SparseEncoder(Protocol):
    """Turns texts into sparse vectors; a passage's score for a query is the dot product of both."""

    @property
    def identity(self) -> str:
        """What made the vectors: changes with the model's files and with how they are read. Never "" ."""
        ...

    def encode_passages(self, texts: Sequence[str]) -> list[SparseVector]: ...

    def encode_query(self, text: str) -> SparseVector: ...

    def words(self, terms: Sequence[int]) -> list[str]:
        """The words of terms, as they are shown to a user."""
        ...
