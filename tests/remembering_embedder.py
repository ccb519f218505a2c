"""The real embedder, which is asked for each text once: for tests that make many small indexes of the same texts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from citewell.models.embedder import ModelIdentity, QueryTokens, TokenSpans, Vectors
from citewell.models.minilm import MiniLM


class RememberingEmbedder:
    """A `TokenEmbedder`. `asked` lists every passage it was given."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._real = MiniLM(threads=1)
        self._known: dict[str, Vectors] = {}
        self._tokens: dict[str, Vectors] = {}
        self._queries: dict[str, QueryTokens] = {}

    @property
    def identity(self) -> ModelIdentity:
        return self._real.identity

    def token_spans(self, text: str) -> TokenSpans:
        return self._real.token_spans(text)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return self._vectors(texts)

    def embed_passage_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[Vectors]]:
        self.asked += texts
        for text in texts:
            if text not in self._tokens:
                _, (self._tokens[text],) = self._real.embed_passage_tokens([text])
        return self._vectors(texts), [self._tokens[text] for text in texts]

    def embed_query_tokens(self, query: str) -> QueryTokens:
        if query not in self._queries:
            self._queries[query] = self._real.embed_query_tokens(query)
        return self._queries[query]

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._vectors(texts)  # the model has one side

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        for text in texts:
            if text not in self._known:
                self._known[text] = self._real.embed_passages([text])[0]
        rows = [self._known[text] for text in texts]
        return np.stack(rows) if rows else np.empty((0, self.identity.dimensions), dtype=np.float32)


@cache
def remembering() -> RememberingEmbedder:
    """One for all tests of a process."""
    return RememberingEmbedder()
