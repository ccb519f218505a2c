"""The default embedder: all-MiniLM-L6-v2, int8, on onnxruntime. Its files are in the package; nothing is fetched.

Model: Wang et al. 2020, "MiniLM" (arXiv:2002.10957), trained as a sentence embedder by Reimers and Gurevych 2019
(arXiv:1908.10084): mean of the token vectors, scaled to length 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from citewell.models import tokens
from citewell.models.embedder import ModelIdentity, QueryTokens, TokenSpans, Vectors
from citewell.models.onnx_network import OnnxNetwork, mean_pool

IDENTITY = ModelIdentity(
    name="all-MiniLM-L6-v2-int8",
    revision="9e80251537633bab",  # SHA-256 of model.onnx, first 16 digits
    dimensions=384,
    max_tokens=256,
    pooling="mean",
    query_prefix="",
    passage_prefix="",
)


class MiniLM:
    """An `Embedder`. Loads its files at the first use; safe to share between threads after that."""

    def __init__(self, threads: int = 0) -> None:
        folder = files("citewell.models") / "minilm"
        self._network = OnnxNetwork(folder, mean_pool, IDENTITY.max_tokens, threads)
        self._counter = tokens.built_in()

    @property
    def identity(self) -> ModelIdentity:
        return IDENTITY

    def token_spans(self, text: str) -> TokenSpans:
        return self._counter.spans(text)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._network.embed(texts, IDENTITY.dimensions)

    def embed_passage_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[Vectors]]:
        return self._network.embed_tokens(texts, IDENTITY.dimensions)

    def embed_query_tokens(self, query: str) -> QueryTokens:
        return self._network.query_tokens(query)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._network.embed(texts, IDENTITY.dimensions)
