"""Re-ranking over HTTP: by hand, and by the client that Citewell itself has for other services."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from citewell.models.embedder import Embedder
from citewell.models.hosted_reranker import KEY_VARIABLE, HostedReranker
from citewell.models.reranker import Scores
from citewell.retrieval.scoring import scores_of
from tests.scripted_embedder import ScriptedEmbedder
from tests.serving.conftest import QUESTION, RULE
from tests.serving.served import Served

TEXTS = ["The branch opens at nine.", RULE, "Cards are sent by post."]


def test_the_best_come_first(read_only: Served) -> None:
    body = {"query": QUESTION, "documents": [TEXTS[0], {"text": TEXTS[1], "id": 7}, TEXTS[2]], "top_n": 2}
    found = read_only.client("ann").post("/v1/rerank", json=body).json()
    first, second = found["results"]
    assert first["index"] == 1
    assert first["relevance_score"] > second["relevance_score"]
    assert "document" not in found["results"][0]
    shown = read_only.client("ann").post("/v1/rerank", json={**body, "return_documents": True}).json()
    assert shown["results"][0]["document"] == {"text": RULE}
    assert found["usage"]["total_tokens"] > 20


def test_it_is_the_re_ranker_of_the_index(read_only: Served) -> None:
    assert read_only.service.index.search(QUESTION, k=1)[0].lists["maxsim"] == 1
    scores = read_only.service.index.rerank(QUESTION, [*TEXTS, " "])
    assert scores.argmax() == 1
    assert np.isfinite(scores).all()


def test_our_own_client_reads_it(read_only: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    client = read_only.client("ann")
    monkeypatch.setenv(KEY_VARIABLE, client.headers["Authorization"].removeprefix("Bearer "))
    scores = HostedReranker("citewell", f"{read_only.url}/v1").scores(QUESTION, TEXTS)
    np.testing.assert_allclose(scores, read_only.service.index.rerank(QUESTION, TEXTS), atol=1e-6)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"query": QUESTION, "documents": []}, 422),
        ({"query": QUESTION, "documents": ["x"] * 257}, 422),
        ({"query": " ", "documents": ["x"]}, 400),
        ({"query": QUESTION, "documents": ["x" * 10_000] * 20}, 413),
        ({"query": QUESTION, "documents": ["x"], "top_n": 0}, 422),
        ({"query": QUESTION, "documents": ["x"], "model": "rerank-v3.5"}, 404),
    ],
)
def test_a_body_is_bounded(read_only: Served, body: dict[str, object], status: int) -> None:
    answer = read_only.client("ann").post("/v1/rerank", json=body)
    assert answer.status_code == status
    assert set(answer.json()["error"]) == {"message", "type", "param", "code"}


def test_no_more_text_is_embedded_at_once(read_only: Served) -> None:
    answer = read_only.client("ann").post("/v1/embeddings", json={"input": ["x" * 10_001] * 20})
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "TooLarge")
    assert "200,020 characters" in answer.json()["error"]["message"]


def test_without_vectors_of_tokens_it_is_the_cosine() -> None:
    embedder: Embedder = ScriptedEmbedder("x", 8)
    one, other = embedder.embed_passages(["a", "b"])
    np.testing.assert_allclose(scores_of("a", ["b", "a"], embedder, None), [one @ other, 1.0], atol=1e-6)


class ScriptedReranker:
    """Has no time for the first text."""

    name = "scripted"

    def scores(self, query: str, texts: Sequence[str], until: float | None = None) -> Scores:  # noqa: ARG002 - the protocol's
        return np.array([np.nan, 0.3, 0.1], np.float32)


def test_what_has_no_score_is_as_the_last() -> None:
    found = scores_of("a", ["b", "c", "d"], ScriptedEmbedder("x", 8), ScriptedReranker())
    np.testing.assert_allclose(found, [0.1, 0.3, 0.1])
