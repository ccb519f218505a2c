"""An embedder that costs nothing, for what depends on whose vectors are stored and not on what they mean."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from citewell.models.embedder import ModelIdentity, TokenSpans, Vectors, unit_rows


class ScriptedEmbedder:
    """A text's vector is drawn from the hash of its name and the text. `embedded` lists every text it was given."""

    def __init__(self, name: str, dimensions: int, max_tokens: int = 256) -> None:
        self.identity = ModelIdentity(name, "1", dimensions, max_tokens, "mean", "", "")
        self.embedded: list[str] = []

    def token_spans(self, text: str) -> TokenSpans:
        """A token a character."""
        starts = np.arange(len(text), dtype=np.int64)
        return np.stack([starts, starts + 1], axis=1)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        return self._vectors(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._vectors(texts)

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        rows = [self._draws(text).standard_normal(self.identity.dimensions) for text in texts]
        return unit_rows(np.array(rows).reshape(len(rows), self.identity.dimensions))

    def _draws(self, text: str) -> np.random.Generator:
        seed = hashlib.sha256(f"{self.identity.name}\0{text}".encode()).digest()[:8]
        return np.random.default_rng(int.from_bytes(seed))
