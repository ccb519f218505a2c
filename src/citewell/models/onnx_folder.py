"""An embedder of one's own: a folder with `model.onnx` and `tokenizer.json`, as sentence embedders are exported."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal

from citewell.models.embedder import ModelIdentity, QueryTokens, TokenSpans, Vectors
from citewell.models.onnx_failures import ModelFolder
from citewell.models.onnx_network import MODEL, TOKENIZER, OnnxNetwork, first_token, mean_pool
from citewell.models.tokens import TokenCounter

POOLS = {"mean": mean_pool, "cls": first_token}
PREFIX = "onnx:"


class OnnxFolder:
    """An `Embedder`. Loads its files at the first use; safe to share between threads after that.

    `max_tokens` is what the network reads, `query_prefix` and `passage_prefix` are put before each text. The network
    takes `input_ids` and any of `attention_mask` and `token_type_ids`, and its first output is a vector a token.

    Raises:
        SettingsError: at the first use: a file is missing or damaged, or the network is of another kind.
    """

    def __init__(
        self,
        folder: Path,
        *,
        pooling: Literal["mean", "cls"] = "mean",
        max_tokens: int = 256,
        query_prefix: str = "",
        passage_prefix: str = "",
        threads: int = 0,
    ) -> None:
        self._folder = ModelFolder("embedder", folder, "models.embedder_max_tokens")
        self._pooling = pooling
        self._max_tokens = max_tokens
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix
        self._network = OnnxNetwork(folder, POOLS[pooling], max_tokens, threads)
        self._counter = TokenCounter(lambda: (folder / TOKENIZER).read_text(encoding="utf-8"))

    @cached_property
    def identity(self) -> ModelIdentity:
        width = self._width  # what is wrong with the network is said before its file is read again
        with (self._folder.path / MODEL).open("rb") as file:
            revision = hashlib.file_digest(file, "sha256").hexdigest()[:16]
        return ModelIdentity(
            name=f"{PREFIX}{self._folder.path}",
            revision=revision,
            dimensions=width,
            max_tokens=self._max_tokens - len(self.token_spans(self._passage_prefix)),
            pooling=self._pooling,
            query_prefix=self._query_prefix,
            passage_prefix=self._passage_prefix,
        )

    def token_spans(self, text: str) -> TokenSpans:
        with self._folder.explained():
            return self._counter.spans(text)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed(self._passage_prefix, texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed(self._query_prefix, texts)

    def embed_passage_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[Vectors]]:
        width = self._width
        with self._folder.explained():
            return self._network.embed_tokens(texts, width, self._passage_prefix)

    def embed_query_tokens(self, query: str) -> QueryTokens:
        with self._folder.explained():
            return self._network.query_tokens(query, self._query_prefix)

    def _embed(self, prefix: str, texts: Sequence[str]) -> Vectors:
        width = self._width
        with self._folder.explained():
            return self._network.embed([prefix + text for text in texts], width)

    @cached_property
    def _width(self) -> int:
        return self._folder.width(self._network)
