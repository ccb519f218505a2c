"""What passes is waited for, as long as it takes and no longer; what does not pass is said."""

import time
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from citewell.errors import CitewellError, ServiceRefused, ServiceUnreachable
from citewell.models import endpoint
from citewell.models.endpoint import Endpoint, is_loopback
from citewell.models.minilm import MiniLM
from citewell.models.waiting import pause, waiting
from tests.models.scripted_embedding_server import ScriptedAnswer, ScriptedEmbeddingServer, refusal, serving

KEY = "sk-very-secret-0123456789"
QUERY = "signature=ab12"
BODY = b'{"input": ["the text of a document"]}'
GOOD = ScriptedAnswer(body='{"data": []}')
DROP = ScriptedAnswer(drop=True)


@pytest.fixture
def server() -> Iterator[ScriptedEmbeddingServer]:
    with serving(MiniLM(threads=1)) as scripted:
        yield scripted


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits that nobody asked for are short."""
    monkeypatch.setattr(endpoint, "FIRST_WAIT_S", 0.001)


def endpoint_at(url: str, timeout_s: float = 20) -> Endpoint:
    return Endpoint(url, "embeddings", timeout_s, setting="models.embedder", shorter="chunking.size")


def post(server: ScriptedEmbeddingServer, *, timeout_s: float = 20, patience_s: float = 60) -> bytes:
    return endpoint_at(f"{server.url}?{QUERY}", timeout_s).post(BODY, KEY, patience_s)


@pytest.mark.usefixtures("fast")
@pytest.mark.parametrize(
    ("answer", "kind", "says", "requests"),
    [
        (refusal(401), ServiceRefused, "does not accept the key", 1),
        (refusal(403), ServiceRefused, "does not accept the key", 1),
        (refusal(404), ServiceRefused, "no such model or path", 1),
        (refusal(400), ServiceRefused, "rejects the request", 1),
        (refusal(413), ServiceRefused, "texts are too long", 1),
        (refusal(307, Location="http://127.0.0.1:1/"), ServiceRefused, "answered 307", 1),
        (refusal(402), ServiceRefused, "quota is used up", 1),
        (refusal(429, "insufficient_quota", **{"Retry-After": "1"}), ServiceRefused, "quota is used up", 1),
        (refusal(429), ServiceRefused, "too many requests", endpoint.MAX_TRIES),
        (refusal(429, **{"Retry-After": "soon"}), ServiceRefused, "too many requests", endpoint.MAX_TRIES),
        (refusal(429, **{"Retry-After": "7200"}), ServiceRefused, "asks to wait 7,200 s", 1),
        (refusal(500), ServiceUnreachable, "answered 500: it fails", endpoint.MAX_TRIES),
        (ScriptedAnswer(503, "<html>busy"), ServiceUnreachable, "answered 503: it fails", endpoint.MAX_TRIES),
        (DROP, ServiceUnreachable, "no connection", endpoint.CONNECTION_TRIES),
    ],
)
def test_failures(
    server: ScriptedEmbeddingServer, answer: ScriptedAnswer, kind: type[CitewellError], says: str, requests: int
) -> None:
    server.say(answer)
    with pytest.raises(kind, match=says) as caught:
        post(server)
    assert caught.value.remedy
    assert len(server.requests) == requests
    whole = "".join(traceback.format_exception(caught.value))
    for secret in (KEY, QUERY, "the text of a document"):
        assert secret not in whole


@pytest.mark.usefixtures("fast")
@pytest.mark.parametrize("passing", [refusal(429), refusal(503), DROP], ids=["429", "503", "drop"])
def test_a_fault_that_passes_is_tried_again(server: ScriptedEmbeddingServer, passing: ScriptedAnswer) -> None:
    server.say(passing, passing, GOOD)
    assert post(server) == b'{"data": []}'
    assert len(server.requests) == 3


@pytest.mark.usefixtures("fast")
@pytest.mark.parametrize("form", ["seconds", "date"])
def test_a_server_that_says_when_to_come_back_is_obeyed(server: ScriptedEmbeddingServer, form: str) -> None:
    # A date has whole seconds: what is two seconds ahead when it is made is one when it is sent, or nearly.
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    server.say(refusal(429, **{"Retry-After": "1" if form == "seconds" else later}), GOOD)
    post(server)
    (_, _, asked), (_, _, again) = server.requests
    assert 0.8 < again - asked < 3


@pytest.mark.usefixtures("fast")
def test_a_server_that_always_says_at_once_is_not_stormed(
    server: ScriptedEmbeddingServer,
) -> None:
    server.say(refusal(429, **{"Retry-After": "0"}))
    with pytest.raises(ServiceRefused):
        post(server, patience_s=0.5)
    assert len(server.requests) <= 6


def test_patience_ends(server: ScriptedEmbeddingServer) -> None:
    server.say(refusal(503))
    with pytest.raises(ServiceUnreachable):
        post(server, patience_s=0.1)
    assert len(server.requests) == 1, "the first wait is longer than that"


@pytest.mark.parametrize(
    "answer",
    [ScriptedAnswer(hang_s=60), ScriptedAnswer(body="{" * 1000, pause_s=0.05)],
    ids=["silent", "slow"],
)
def test_the_time_limit_is_for_the_whole_answer(server: ScriptedEmbeddingServer, answer: ScriptedAnswer) -> None:
    server.say(answer)
    begin = time.monotonic()
    with pytest.raises(ServiceUnreachable, match=r"no answer in 0\.5 s"):
        post(server, timeout_s=0.5, patience_s=0.1)
    assert time.monotonic() - begin < 30


def test_a_call_may_have_a_time_limit_of_its_own(server: ScriptedEmbeddingServer) -> None:
    server.say(ScriptedAnswer(hang_s=60))
    with pytest.raises(ServiceUnreachable, match=r"no answer in 0\.2 s"):
        endpoint_at(server.url).post(BODY, KEY, 0.2, timeout_s=0.2)


def test_more_than_any_answer_has_is_not_read(server: ScriptedEmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "MAX_BYTES", 1_000_000)
    server.say(ScriptedAnswer(body=" " * 2_000_000))
    with pytest.raises(ServiceUnreachable, match="more than 1 MB"):
        post(server)


def test_a_wait_shows_that_it_is_alive_and_can_be_stopped(server: ScriptedEmbeddingServer) -> None:
    server.say(refusal(429, **{"Retry-After": "30"}))
    signs = 0

    def on_wait() -> None:
        nonlocal signs
        signs += 1
        if signs == 3:
            raise KeyboardInterrupt

    begin = time.monotonic()
    with waiting(on_wait), pytest.raises(KeyboardInterrupt):
        post(server)
    assert time.monotonic() - begin < 20
    pause(0.01)
    assert signs == 3, "afterwards a wait is nobody's"


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("", False),
        ("0.0.0.0", False),  # noqa: S104  a name, not bound to
        ("192.168.0.1", False),
        ("127.0.0.1.example", False),
        ("localhost.example", False),
    ],
)
def test_what_is_this_machine(host: str, here: bool) -> None:
    assert is_loopback(host) is here


@pytest.mark.usefixtures("fast")
def test_nobody_listens() -> None:
    with serving(MiniLM(threads=1)) as closed:
        url = closed.url
    with pytest.raises(ServiceUnreachable, match="no connection") as caught:
        endpoint_at(url).post(BODY, "", 60)
    assert "models.embedder_url" in caught.value.remedy


def test_a_proxy_does_not_see_what_stays_on_this_machine(
    server: ScriptedEmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    server.say(GOOD)
    assert post(server) == b'{"data": []}'
