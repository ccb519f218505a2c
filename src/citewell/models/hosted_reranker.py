"""A re-ranker elsewhere, over the one HTTP shape that most of them share. Texts leave the machine: docs/reranking.md.

POST `{url}/rerank` with a query and documents gives a score for each by its index: Cohere (v2), Jina and Voyage, vLLM
and llama.cpp. They differ in the names of two fields of the answer, and Voyage in one of the question.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence

import numpy as np
from pydantic import AliasChoices, BaseModel, Field, ValidationError

from citewell.errors import ServiceUnreachable
from citewell.models.endpoint import Endpoint, key_in
from citewell.models.reranker import Scores

SETTING = "models.reranker"
KEY_VARIABLE = "CITEWELL_RERANKER_API_KEY"
VOYAGE_HOST = "api.voyageai.com"
"""It refuses a question with a field that it does not know, and others refuse one without that field."""


class _Item(BaseModel):
    index: int
    score: float = Field(validation_alias=AliasChoices("relevance_score", "score"))


class _Reply(BaseModel):
    results: list[_Item] = Field(validation_alias=AliasChoices("results", "data"))


class HostedReranker:
    """A `Reranker` at `url` (up to and with "/v1" or "/v2"), asked once for all texts.

    The key comes from the environment at each call and is never kept: `CITEWELL_RERANKER_API_KEY`; a server of one's
    own needs none. `timeout_s` bounds a call with its retries. Safe to share between threads.

    Raises:
        SettingsError: `url` is none; at a call: the key is none, or would go over an open connection.
        ServiceError: at a call: see `Endpoint.post`; and for an answer that is not one score for each text.
    """

    name = "hosted"

    def __init__(self, model: str, url: str, timeout_s: float = 60) -> None:
        self._model = model
        shorter = "retrieval.rerank_candidates, or chunking.size"
        self._endpoint = Endpoint(url, "rerank", timeout_s, setting=SETTING, shorter=shorter)
        self._timeout_s = timeout_s
        self._most = "top_k" if self._endpoint.host == VOYAGE_HOST else "top_n"

    def scores(self, query: str, texts: Sequence[str], until: float | None = None) -> Scores:
        """As `Reranker.scores`: in time there are scores for all texts, or for none."""
        left = self._timeout_s if until is None else min(self._timeout_s, until - time.monotonic())
        none = np.full(len(texts), np.nan, dtype=np.float32)
        if not texts or left <= 0:
            return none
        # An empty text is refused by some; a blank one by none.
        asked = {"model": self._model, "query": query, "documents": [text or " " for text in texts]}
        body = json.dumps(asked | {self._most: len(texts)}).encode()
        try:
            answer = self._endpoint.post(body, key_in(KEY_VARIABLE), left, timeout_s=left)
        except ServiceUnreachable:
            if until is not None and time.monotonic() >= until:
                return none
            raise
        return self._checked(answer, len(texts))

    def _checked(self, answer: bytes, count: int) -> Scores:
        """One score for each text, in the order of the texts."""
        try:
            results = _Reply.model_validate_json(answer).results
        except ValidationError:
            raise self._nonsense("no scores") from None
        times = Counter(item.index for item in results)
        odd = [f"index {index} of {count} texts" for index in times if not 0 <= index < count]
        odd += [f"{times[index]} scores for index {index}" for index in range(count) if times[index] != 1]
        if odd:
            raise self._nonsense(odd[0])
        scores = np.empty(count, dtype=np.float32)
        with np.errstate(over="ignore"):  # what it warns of is refused below
            scores[[item.index for item in results]] = [item.score for item in results]
        if not np.isfinite(scores).all():
            raise self._nonsense("a score that is no number")
        return scores

    def _nonsense(self, what: str) -> ServiceUnreachable:
        return ServiceUnreachable(
            f"{self._endpoint.place} answered with {what}.",
            remedy=f"Check {SETTING}_url, and that {self._model!r} is a re-ranking model.",
        )
