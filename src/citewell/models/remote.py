"""Any OpenAI-compatible embeddings endpoint. Texts leave the machine: docs/models.md says which."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from citewell.errors import ServiceError, ServiceUnreachable
from citewell.models import tokens
from citewell.models.embedder import SPECIAL_TOKENS, ModelIdentity, TokenSpans, Vectors, unit_rows
from citewell.models.endpoint import Endpoint
from citewell.models.openai_compatible import OPENAI_KEY_VARIABLE, OPENAI_URL
from citewell.models.provider_keys import KeysOf

PREFIX = "openai:"
SETTING = "models.embedder"
OPENAI = KeysOf(OPENAI_URL, OPENAI_KEY_VARIABLE, f"{SETTING}_url", "CITEWELL_EMBEDDER_API_KEY")
BATCH = 32
"""Texts in a request: what text-embeddings-inference takes unless told otherwise; OpenAI takes more."""
PATIENCE_S = 600.0
"""How long the texts of one request are tried. A query has a reader who waits: it has the time of one try."""


class _Item(BaseModel):
    index: int
    embedding: Annotated[list[float], Field(min_length=1)]


class _Reply(BaseModel):
    data: list[_Item]


class RemoteEmbedder:
    """An `Embedder` at `url` (up to and with "/v1"; OpenAI's own where empty).

    Nobody but the server knows its tokens: they are counted, and longer texts cut, by the built-in embedder's
    tokenizer, whose vocabulary is small: others make fewer of the same text, mostly. The key comes from the environment
    at each call and is never kept: `CITEWELL_EMBEDDER_API_KEY`, or `OPENAI_API_KEY`, which is sent to OpenAI alone, so
    that a settings file with a foreign `url` cannot carry it off. Safe to share between threads.

    Raises:
        SettingsError: `url` is none; at a call: the key is none, or would go over an open connection.
        ServiceError: at a call: see `Endpoint.post`. What does not say when it passes is a refusal.
    """

    def __init__(  # each is a setting
        self,
        model: str,
        url: str = "",
        *,
        timeout_s: float = 60,
        max_tokens: int = 256,
        query_prefix: str = "",
        passage_prefix: str = "",
    ) -> None:
        self._model = model
        self._url = url
        shorter = f"{SETTING}_max_tokens, or chunking.size"
        self._endpoint = Endpoint(url or OPENAI_URL, "embeddings", timeout_s, setting=SETTING, shorter=shorter)
        self._timeout_s = timeout_s
        self._max_tokens = max_tokens
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix
        self._counter = tokens.built_in()
        self._width = 0
        self._made = 0

    @property
    def identity(self) -> ModelIdentity:
        return ModelIdentity(
            name=f"{PREFIX}{self._model}",
            revision="",  # no endpoint says: only its vectors do
            dimensions=self._found_width(),
            max_tokens=self._max_tokens - len(self.token_spans(self._passage_prefix)),
            pooling="",
            query_prefix=self._query_prefix,
            passage_prefix=self._passage_prefix,
        )

    def token_spans(self, text: str) -> TokenSpans:
        return self._counter.spans(text)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed(self._passage_prefix, texts, PATIENCE_S)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed(self._query_prefix, texts, self._timeout_s)

    def _embed(self, prefix: str, texts: Sequence[str], patience_s: float) -> Vectors:
        if not texts:
            return np.empty((0, self._found_width()), dtype=np.float32)
        batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
        return np.concatenate(
            [self._request([self._cut(prefix + text) for text in batch], patience_s) for batch in batches]
        )

    def _found_width(self) -> int:
        """The numbers of a vector: as many as those that came have."""
        return self._width or self._request(["width"], self._timeout_s).shape[1]

    def _request(self, texts: list[str], patience_s: float) -> Vectors:
        body = json.dumps({"model": self._model, "input": texts, "encoding_format": "float"}).encode()
        try:
            answer = self._endpoint.post(body, OPENAI.key(self._url), patience_s)
        except ServiceError as error:
            raise self._with_progress(error) from None
        vectors = self._vectors(answer, len(texts))
        self._width = self._width or vectors.shape[1]
        if vectors.shape[1] != self._width:
            raise self._nonsense(f"vectors of {vectors.shape[1]} numbers, and of {self._width} before")
        self._made += len(texts)
        return vectors

    def _vectors(self, answer: bytes, count: int) -> Vectors:
        """Checked: `count` vectors of one width, in the order of the texts, of length 1."""
        try:
            data = _Reply.model_validate_json(answer).data
        except ValidationError:
            raise self._nonsense("no embeddings") from None
        if sorted(item.index for item in data) != list(range(count)):
            raise self._nonsense(f"{len(data)} vectors, not one for each of {count} texts")
        rows = [item.embedding for item in sorted(data, key=lambda item: item.index)]
        try:
            return unit_rows(np.array(rows, dtype=np.float64))
        except ValueError:  # of different widths, too
            raise self._nonsense("vectors that are not of one width, zero, or no numbers") from None

    def _cut(self, text: str) -> str:
        """As much as the model reads: what an endpoint does with more differs, and some refuse it."""
        most = self._max_tokens - SPECIAL_TOKENS
        if len(text) <= most:  # a token has a character at least
            return text
        spans = self.token_spans(text)
        return text if len(spans) <= most else text[: int(spans[most - 1, 1])]

    def _with_progress(self, error: ServiceError) -> ServiceError:
        if not self._made:
            return error
        return type(error)(
            f"{error.message} It came to {self._made:,} texts before that.",
            remedy=f"{error.remedy} The next run goes on from what is stored.",
        )

    def _nonsense(self, what: str) -> ServiceUnreachable:
        return ServiceUnreachable(
            f"{self._endpoint.place} answered with {what}.",
            remedy=f"Check {SETTING}_url, and that {self._model!r} is an embedding model.",
        )
