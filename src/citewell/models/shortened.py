"""Vectors cut to their first numbers: less room, less to compare.

Models trained as Matryoshkas put what matters most first (Kusupati et al. 2022, arXiv:2205.13147). Others lose more,
in proportion to what is cut. We cut ourselves, also where an endpoint has a parameter for it: every embedder then
does it in the same way, and few servers know the parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from citewell.errors import SettingsError
from citewell.models.embedder import Embedder, ModelIdentity, TokenSpans, Vectors, unit_rows


@dataclass(frozen=True, slots=True)
class Shortened:
    """An `Embedder` that keeps the first `dimensions` numbers of another's vectors, scaled to length 1 again.

    Raises:
        SettingsError: at the first use: the other's vectors have fewer.
    """

    embedder: Embedder
    dimensions: int

    @property
    def identity(self) -> ModelIdentity:
        whole = self.embedder.identity
        self._check(whole.dimensions)
        return replace(whole, revision=f"{whole.revision}[:{self.dimensions}]", dimensions=self.dimensions)

    def token_spans(self, text: str) -> TokenSpans:
        return self.embedder.token_spans(text)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._cut(self.embedder.embed_passages(texts))

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._cut(self.embedder.embed_queries(texts))

    def _cut(self, vectors: Vectors) -> Vectors:
        self._check(vectors.shape[1])
        return unit_rows(vectors[:, : self.dimensions])

    def _check(self, width: int) -> None:
        if self.dimensions > width:
            raise SettingsError(
                f"models.dimensions is {self.dimensions}, and the embedder's vectors have {width} numbers.",
                remedy=f"Give at most {width}, or 0 to keep them whole.",
            )
