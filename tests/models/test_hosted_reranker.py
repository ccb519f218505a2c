"""The re-ranker elsewhere: its scores, what it sends, which answers it believes, and when it gives up."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from citewell.errors import ServiceRefused, ServiceUnreachable, SettingsError
from citewell.models import endpoint, hosted_reranker
from citewell.models.hosted_reranker import HostedReranker
from citewell.models.reranker import Reranker
from tests.models import scripted_rerank_server as shapes
from tests.models.scripted_embedding_server import ScriptedAnswer, refusal
from tests.models.scripted_rerank_server import ScriptedRerankServer, Shape, serving

KEY = "sk-very-secret-0123456789"
QUERY = "card dispute days limit"
TEXTS = ["parking", "a card dispute", "120 days is the limit of a card dispute", "days"]
SCORES = [0.0, 0.5, 1.0, 0.25]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedRerankServer]:
    monkeypatch.setattr(endpoint, "FIRST_WAIT_S", 0.001)
    monkeypatch.delenv("CITEWELL_RERANKER_API_KEY", raising=False)
    with serving() as scripted:
        yield scripted


def said(pairs: Sequence[tuple[object, object]]) -> ScriptedAnswer:
    results = [{"index": index, "relevance_score": score} for index, score in pairs]
    return ScriptedAnswer(body=json.dumps({"results": results}))


@pytest.mark.parametrize("shape", [shapes.cohere, shapes.jina, shapes.voyage, shapes.plain])
def test_the_scores_come_in_the_order_of_the_texts(server: ScriptedRerankServer, shape: Shape) -> None:
    server.shape = shape
    reranker: Reranker = HostedReranker("rerank-v3.5", server.url)
    scores = reranker.scores(QUERY, TEXTS)
    assert (scores.tolist(), reranker.name) == (SCORES, "hosted")
    assert scores.dtype == np.float32


def test_scores_may_be_logits(server: ScriptedRerankServer) -> None:
    server.shape = shapes.llama_cpp
    assert HostedReranker("bge", server.url).scores(QUERY, TEXTS).tolist() == [-5.5, -5.0, -4.5, -5.25]


def test_what_is_sent(server: ScriptedRerankServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEWELL_RERANKER_API_KEY", KEY)
    HostedReranker("rerank-v3.5", f"{server.url}/?version=2").scores(QUERY, ["one", ""])
    ((headers, body),) = server.requests
    assert (headers[":path"], headers["authorization"]) == ("/v1/rerank?version=2", f"Bearer {KEY}")
    assert body == {"model": "rerank-v3.5", "query": QUERY, "documents": ["one", " "], "top_n": 2}


def test_a_server_of_ones_own_needs_no_key(server: ScriptedRerankServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    HostedReranker("m", server.url).scores(QUERY, TEXTS)
    assert "authorization" not in server.requests[0][0]


def test_voyage_calls_one_field_otherwise(server: ScriptedRerankServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosted_reranker, "VOYAGE_HOST", "127.0.0.1")
    server.shape = shapes.voyage
    assert HostedReranker("rerank-2.5", server.url).scores(QUERY, TEXTS).tolist() == SCORES
    assert server.requests[0][1] == {"model": "rerank-2.5", "query": QUERY, "documents": TEXTS, "top_k": 4}


def test_no_texts_are_not_sent(server: ScriptedRerankServer) -> None:
    assert HostedReranker("m", server.url).scores(QUERY, []).shape == (0,)
    assert not server.requests


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (ScriptedAnswer(body="<html>"), "no scores"),
        (ScriptedAnswer(body="[]"), "no scores"),
        (ScriptedAnswer(body='{"results": [{"index": 0}]}'), "no scores"),
        (said([(0, "high"), (1, 0.5)]), "no scores"),
        (said([(0, 0.5)]), "0 scores for index 1"),
        (said([]), "0 scores for index 0"),
        (said([(0, 0.5), (1, 0.4), (1, 0.3)]), "2 scores for index 1"),
        (said([(0, 0.5), (1, 0.4), (2, 0.3)]), "index 2 of 2 texts"),
        (said([(0, 0.5), (-1, 0.4)]), "index -1 of 2 texts"),
        (said([(0, 0.5), (1, float("nan"))]), "a score that is no number"),
        (said([(0, float("inf")), (1, 0.5)]), "a score that is no number"),
        (said([(0, 1e308), (1, 0.5)]), "a score that is no number"),
    ],
    ids=["html", "list", "keyless", "word", "few", "none", "twice", "beyond", "negative", "nan", "endless", "overflow"],
)
def test_an_answer_that_is_none_is_refused(server: ScriptedRerankServer, answer: ScriptedAnswer, says: str) -> None:
    server.answers = [answer]
    with pytest.raises(ServiceUnreachable, match=f"answered with {says}") as caught:
        HostedReranker("m", server.url).scores(QUERY, ["one", "two"])
    assert "models.reranker_url" in caught.value.remedy
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("answer", "says"),
    [(refusal(401), "accept the key"), (refusal(404), "no such model"), (refusal(413), "texts are too long")],
)
def test_a_refusal_names_our_settings_and_no_secret(
    server: ScriptedRerankServer, monkeypatch: pytest.MonkeyPatch, answer: ScriptedAnswer, says: str
) -> None:
    monkeypatch.setenv("CITEWELL_RERANKER_API_KEY", KEY)
    server.answers = [answer]
    with pytest.raises(ServiceRefused, match=says) as caught:
        HostedReranker("m", server.url).scores(QUERY, TEXTS)
    whole = "".join(traceback.format_exception(caught.value)) + caught.value.remedy
    assert "embedder" not in whole
    for secret in (KEY, QUERY, TEXTS[2], "the text of a document"):
        assert secret not in whole


def test_what_passes_is_waited_for(server: ScriptedRerankServer) -> None:
    server.answers = [refusal(503), refusal(429, **{"Retry-After": "0"}), said([(1, 0.25), (0, 0.5)])]
    assert HostedReranker("m", server.url).scores(QUERY, ["one", "two"]).tolist() == [0.5, 0.25]
    assert len(server.requests) == 3


def test_time_that_has_run_out_is_no_failure(server: ScriptedRerankServer) -> None:
    server.answers = [ScriptedAnswer(hang_s=60)]
    reranker = HostedReranker("m", server.url)
    assert np.isnan(reranker.scores(QUERY, TEXTS, until=time.monotonic() + 0.2)).all()
    assert len(server.requests) == 1
    assert np.isnan(reranker.scores(QUERY, TEXTS, until=time.monotonic() - 1)).all()
    assert len(server.requests) == 1, "what comes too late is not asked for"


def test_a_failure_within_the_time_is_one(server: ScriptedRerankServer) -> None:
    server.answers = [refusal(401)]
    with pytest.raises(ServiceRefused):
        HostedReranker("m", server.url).scores(QUERY, TEXTS, until=time.monotonic() + 60)
    server.answers = [ScriptedAnswer(hang_s=60)]
    with pytest.raises(ServiceUnreachable, match=r"no answer in 0\.2 s") as caught:
        HostedReranker("m", server.url, timeout_s=0.2).scores(QUERY, TEXTS, until=time.monotonic() + 60)
    assert "models.reranker_timeout_s" in caught.value.remedy


def test_in_time_the_scores_come(server: ScriptedRerankServer) -> None:
    scores = HostedReranker("m", server.url).scores(QUERY, TEXTS, until=time.monotonic() + 60)
    assert scores.tolist() == SCORES


@pytest.mark.parametrize("key", ["sk-secret\n", "sk-sécret", "sk secret"])
def test_a_key_that_is_none_is_not_shown(
    server: ScriptedRerankServer, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("CITEWELL_RERANKER_API_KEY", key)
    with pytest.raises(SettingsError, match="CITEWELL_RERANKER_API_KEY") as caught:
        HostedReranker("m", server.url).scores(QUERY, TEXTS)
    assert key.strip() not in str(caught.value)
    assert not server.requests


def test_a_key_is_not_sent_over_an_open_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEWELL_RERANKER_API_KEY", KEY)
    with pytest.raises(SettingsError, match=r"http://rerank\.example/v1/rerank over an open connection") as caught:
        HostedReranker("m", "http://rerank.example/v1").scores(QUERY, TEXTS)
    assert "models.reranker_url" in caught.value.remedy
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("url", ["", "http://[::1/v1", "http:///v1", "http://user:hunter2@127.0.0.1/v1"])
def test_a_url_that_is_none(url: str) -> None:
    with pytest.raises(SettingsError, match=r"models\.reranker_url") as caught:
        HostedReranker("m", url)
    assert "hunter2" not in str(caught.value)


def test_signs_that_are_no_text_do_not_stop_it(server: ScriptedRerankServer) -> None:
    assert HostedReranker("m", server.url).scores(QUERY, ["\ud800 card"]).tolist() == [0.25]
