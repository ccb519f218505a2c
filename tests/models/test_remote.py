"""The embedder elsewhere: its vectors, what it sends, what it cuts, what it refuses."""

import json
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from citewell.errors import ServiceRefused, ServiceUnreachable, SettingsError
from citewell.models import endpoint
from citewell.models.minilm import MiniLM
from citewell.models.remote import RemoteEmbedder
from tests.models.scripted_embedding_server import ScriptedAnswer, ScriptedEmbeddingServer, refusal, serving

KEY = "sk-very-secret-0123456789"
TEXTS = [f"Invoice {number} is due within {number + 10} days." for number in range(40)]
LOCAL = MiniLM(threads=1)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedEmbeddingServer]:
    monkeypatch.setattr(endpoint, "FIRST_WAIT_S", 0.001)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("CITEWELL_EMBEDDER_API_KEY", raising=False)
    with serving(LOCAL) as scripted:
        yield scripted


def embeddings(rows: Sequence[Sequence[float]], indices: Sequence[int] | None = None) -> ScriptedAnswer:
    data = [{"index": at, "embedding": row} for at, row in zip(indices or range(len(rows)), rows, strict=True)]
    return ScriptedAnswer(body=json.dumps({"data": data}))


def test_the_vectors_are_those_of_the_model_in_the_order_of_the_texts(server: ScriptedEmbeddingServer) -> None:
    vectors = RemoteEmbedder("minilm", server.url).embed_passages(TEXTS)
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, LOCAL.embed_passages(TEXTS), atol=1e-6)


def test_what_is_sent(server: ScriptedEmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEWELL_EMBEDDER_API_KEY", KEY)
    embedder = RemoteEmbedder(
        "org/minilm", f"{server.url}/?version=2", query_prefix="query: ", passage_prefix="passage: "
    )
    embedder.embed_passages(TEXTS)
    embedder.embed_queries(["When is it due?"])
    headers, first, _ = server.requests[0]
    assert (headers[":path"], headers["authorization"]) == ("/v1/embeddings?version=2", f"Bearer {KEY}")
    assert first == {
        "model": "org/minilm",
        "input": ["passage: " + text for text in TEXTS[:32]],
        "encoding_format": "float",
    }
    assert [len(body["input"]) for _, body, _ in server.requests] == [32, 8, 1]
    assert server.requests[2][1]["input"] == ["query: When is it due?"]


def test_vectors_are_scaled_to_length_one(server: ScriptedEmbeddingServer) -> None:
    server.say(embeddings([[3.0, 4.0], [0.0, 2.0]]))
    vectors = RemoteEmbedder("m", server.url).embed_passages(["a", "b"])
    assert vectors == pytest.approx(np.array([[0.6, 0.8], [0.0, 1.0]]))


def test_no_texts_have_no_vectors_of_the_right_width(server: ScriptedEmbeddingServer) -> None:
    assert RemoteEmbedder("m", server.url).embed_passages([]).shape == (0, 384)


def test_what_a_user_sees_of_it(server: ScriptedEmbeddingServer) -> None:
    embedder = RemoteEmbedder("minilm", server.url, max_tokens=512, passage_prefix="passage: ")
    identity = embedder.identity
    assert (identity.name, identity.dimensions, identity.max_tokens) == ("openai:minilm", 384, 510)
    assert embedder.identity == identity
    assert len(server.requests) == 1, "its width is asked for once"


def test_a_long_text_is_cut_to_what_the_model_reads(server: ScriptedEmbeddingServer) -> None:
    text = "Überweisung R-17 due. " * 200
    RemoteEmbedder("m", server.url, max_tokens=50).embed_queries([text, text[:100]])
    long, short = server.requests[0][1]["input"]
    assert (len(LOCAL.token_spans(long)), text.startswith(long), short) == (48, True, text[:100])


@pytest.mark.parametrize(
    "answer",
    [
        ScriptedAnswer(body="<html>"),
        ScriptedAnswer(body="[]"),
        ScriptedAnswer(body='{"data": [{"index": 0, "embedding": "AAAA"}]}'),
        embeddings([[1.0, 2.0]]),
        embeddings([[1.0, 2.0]] * 3),
        embeddings([[1.0, 2.0]] * 2, [0, 0]),
        embeddings([[1.0, 2.0]] * 2, [1, 2]),
        embeddings([[1.0, 2.0], [1.0]]),
        embeddings([[], []]),
        embeddings([[1.0, 2.0], [0.0, 0.0]]),
        embeddings([[1.0, 2.0], [float("nan"), 1.0]]),
        embeddings([[1.0, 2.0], [1e308, 1e308]]),
    ],
    ids=["html", "list", "base64", "few", "many", "twice", "shifted", "widths", "empty", "zero", "nan", "overflow"],
)
def test_an_answer_that_is_none_is_refused(server: ScriptedEmbeddingServer, answer: ScriptedAnswer) -> None:
    server.say(answer)
    with pytest.raises(ServiceUnreachable, match="answered with") as caught:
        RemoteEmbedder("m", server.url).embed_passages(["one", "two"])
    assert "models.embedder_url" in caught.value.remedy
    assert len(server.requests) == 1


def test_a_width_that_changes_is_refused(server: ScriptedEmbeddingServer) -> None:
    server.say(embeddings([[1.0, 2.0]]), embeddings([[1.0, 2.0, 3.0]]))
    embedder = RemoteEmbedder("m", server.url)
    embedder.embed_passages(["one"])
    with pytest.raises(ServiceUnreachable, match="3 numbers, and of 2 before"):
        embedder.embed_passages(["two"])


def test_a_refusal_says_how_far_it_came(server: ScriptedEmbeddingServer) -> None:
    server.say(None, refusal(429, "insufficient_quota"))
    with pytest.raises(ServiceRefused, match=r"quota is used up\. It came to 32 texts") as caught:
        RemoteEmbedder("m", server.url).embed_passages(TEXTS)
    assert "next run goes on" in caught.value.remedy


@pytest.mark.parametrize("key", ["sk-secret\n", "sk-sécret", "sk secret", "sk-secret\x7f"])
def test_a_key_that_is_none_is_not_shown(
    server: ScriptedEmbeddingServer, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("CITEWELL_EMBEDDER_API_KEY", key)
    with pytest.raises(SettingsError, match="CITEWELL_EMBEDDER_API_KEY") as caught:
        RemoteEmbedder("m", server.url).embed_passages(["one"])
    assert key.strip() not in str(caught.value)
    assert not server.requests


def test_a_key_is_not_sent_over_an_open_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEWELL_EMBEDDER_API_KEY", KEY)
    with pytest.raises(SettingsError, match=r"http://embed\.example/v1/embeddings over an open connection") as caught:
        RemoteEmbedder("m", "http://embed.example/v1").embed_passages(["one"])
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "CITEWELL_LLM_API_KEY", "CITEWELL_RERANKER_API_KEY"])
def test_a_key_for_others_is_not_sent(
    server: ScriptedEmbeddingServer, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.delenv("CITEWELL_EMBEDDER_API_KEY", raising=False)
    monkeypatch.setenv(variable, KEY)
    RemoteEmbedder("m", server.url).embed_passages(["one"])
    assert "authorization" not in server.requests[0][0]


@pytest.mark.parametrize("url", ["http://api.openai.com/v1", "https://api.openai.com:8443/v1"])
def test_openais_key_goes_to_no_other_port_of_its_host(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.delenv("CITEWELL_EMBEDDER_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    sent = []

    def post(self: endpoint.Endpoint, body: bytes, key: str, patience_s: float) -> bytes:
        sent.append((self.place, body != b"", patience_s > 0, key))
        return b'{"data": [{"index": 0, "embedding": [1.0, 0.0]}]}'

    monkeypatch.setattr(endpoint.Endpoint, "post", post)
    RemoteEmbedder("m", url).embed_queries(["one"])
    assert sent == [(f"{url}/embeddings", True, True, "")]


def test_openai_itself_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("CITEWELL_EMBEDDER_API_KEY", raising=False)
    with pytest.raises(ServiceRefused, match="Set CITEWELL_EMBEDDER_API_KEY or OPENAI_API_KEY"):
        RemoteEmbedder("text-embedding-3-small").embed_queries(["one"])


@pytest.mark.parametrize("url", ["http://[::1/v1", "http:///v1", "http://user:hunter2@127.0.0.1/v1"])
def test_a_url_that_is_none(url: str) -> None:
    with pytest.raises(SettingsError, match=r"models\.embedder_url") as caught:
        RemoteEmbedder("m", url)
    assert "hunter2" not in str(caught.value)


def test_signs_that_are_no_text_do_not_stop_it(server: ScriptedEmbeddingServer) -> None:
    server.say(embeddings([[1.0, 2.0]]))
    assert RemoteEmbedder("m", server.url).embed_passages(["a \ud800 b"]).shape == (1, 2)
