"""Questions and searches over HTTP: what comes back, as JSON and as events."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from citewell.serving.app import create_app
from citewell.serving.service import Service
from tests.serving.conftest import QUESTION, RULE, settings_at
from tests.serving.served import Served, events, serving


def test_an_answer_is_that_of_the_index(read_only: Served) -> None:
    shape = read_only.client("ann").post("/v1/ask", json={"question": QUESTION}).json()
    assert shape["answer"] == f"{RULE} [1]"
    assert shape["citations"][0]["quote"] == RULE


def test_a_stream_tells_the_steps_and_then_the_answer(read_only: Served) -> None:
    client = read_only.client("ann")
    whole = client.post("/v1/ask", json={"question": QUESTION}).json()
    for body, headers in (
        ({"question": QUESTION, "stream": True}, {}),
        ({"question": QUESTION}, {"Accept": "text/event-stream"}),
    ):
        answer = client.post("/v1/ask", json=body, headers=headers)
        assert answer.headers["content-type"].startswith("text/event-stream")
        told = events(answer.text)
        assert [name for name, _ in told] == ["step"] * (len(told) - 1) + ["answer"]
        steps = [says["step"] for name, says in told if name == "step"]
        assert steps == [step["step"] for step in whole["trace"]]
        assert told[-1][1]["citations"] == whole["citations"]


def test_what_goes_wrong_in_a_stream_is_its_last_event(read_only: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("Meadow")

    monkeypatch.setattr(read_only.service.index, "ask", broken)
    client = read_only.client("ann")
    answer = client.post("/v1/ask", json={"question": QUESTION, "stream": True})
    assert [name for name, _ in events(answer.text)] == ["error"]
    assert "Meadow" not in answer.text
    plain = client.post("/v1/ask", json={"question": QUESTION})
    assert (plain.status_code, plain.json()["error"]["type"]) == (500, "Unexpected")
    assert "Meadow" not in plain.text


def test_a_conversation_may_be_sent_along(read_only: Served) -> None:
    turns = [{"question": QUESTION, "answer": "120 days [1]"}]
    shape = read_only.client("ann").post("/v1/ask", json={"question": "And why?", "turns": turns}).json()
    assert len(shape["searched"]) > 1


def test_groups_can_be_narrowed_and_never_widened(read_only: Served) -> None:
    client = read_only.client("member", "read", "board", "fraud_team")

    def sources(**body: Any) -> set[str]:
        answer = client.post("/v1/search", json={"query": "code word vault velocity dispute", **body})
        return {hit["source"].rpartition("/")[2] for hit in answer.json()["hits"]}

    assert sources() == {"disputes.md", "vault.md", "scoring.md"}
    assert sources(groups=["board"]) == {"disputes.md", "vault.md"}
    assert sources(groups=[]) == {"disputes.md"}
    assert sources(groups=["everyone"]) == {"disputes.md"}
    listed = client.get("/v1/documents", params={"groups": "fraud_team"}).json()
    assert [each["title"] for each in listed["documents"]] == ["Disputes", "Scoring"]
    wider = client.post("/v1/search", json={"query": "vault", "groups": ["board", "directors"]})
    assert (wider.status_code, wider.json()["error"]["type"]) == (403, "Forbidden")


def test_a_filter_is_a_text_or_a_tree(read_only: Served) -> None:
    client = read_only.client("member", "read", "board", "fraud_team")
    for where in ('title = "Scoring"', {"field": "title", "equal": "Scoring"}):
        hits = client.post("/v1/search", json={"query": "vault", "where": where}).json()["hits"]
        assert {hit["title"] for hit in hits} == {"Scoring"}
    wrong = client.post("/v1/search", json={"query": "vault", "where": "nothing = 1"})
    assert (wrong.status_code, wrong.json()["error"]["type"]) == (400, "FilterError")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"question": QUESTION, "principal": "board"},
        {"question": ""},
        {"question": "x" * 20_001},
        {"question": QUESTION, "turns": [{"question": "a"}] * 51},
        {"question": QUESTION, "as_of": "soon"},
        {"question": "\ud800"},
        {"question": QUESTION, "groups": "board"},
    ],
)
def test_a_body_is_closed_and_bounded(read_only: Served, body: dict[str, Any]) -> None:
    answer = read_only.client("ann").post(
        "/v1/ask", content=json.dumps(body), headers={"Content-Type": "application/json"}
    )
    assert (answer.status_code, answer.json()["error"]["type"]) == (422, "RequestError")


@pytest.mark.parametrize("content", [b"{", b"\xff", b"[" * 100_000, b"null", b'{"question": NaN}'])
def test_what_is_no_json_is_refused(read_only: Served, content: bytes) -> None:
    answer = read_only.client("ann").post("/v1/ask", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]["type"] == "RequestError"


@pytest.mark.parametrize("where", [{"field": "title", "equal": "\ud800"}, {"not": {"not": {}}}, {"field": "title"}])
def test_a_filter_of_any_json_is_an_answer(read_only: Served, where: dict[str, Any]) -> None:
    answer = read_only.client("ann").post(
        "/v1/search",
        content=json.dumps({"query": "x", "where": where}),
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code in (200, 400)


@contextmanager
def held_up(service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Answers wait until the event is set."""
    go, ask = threading.Event(), service.index.ask

    def waiting(*given: Any, **named: Any) -> Any:
        assert go.wait(30)
        return ask(*given, **named)

    monkeypatch.setattr(service.index, "ask", waiting)
    try:
        yield go
    finally:
        go.set()


def test_who_comes_when_all_places_are_taken_is_sent_away(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_at(tmp_path, max_running=1, max_waiting=2)
    with serving(create_app(built / "index", settings)) as served:
        client, statuses = served.client("ann"), list[int]()

        def ask() -> None:
            statuses.append(client.post("/v1/ask", json={"question": QUESTION}).status_code)

        with held_up(served.service, monkeypatch) as go:
            asking = [threading.Thread(target=ask) for _ in range(3)]
            for thread in asking:
                thread.start()
            while served.service.asking.inside < 3:
                go.wait(0.01)
            for stream in (False, True):
                away = client.post("/v1/ask", json={"question": QUESTION, "stream": stream})
                assert (away.status_code, away.json()["error"]["type"]) == (429, "TooBusy")
                assert int(away.headers["retry-after"]) > 0
            assert client.post("/v1/search", json={"query": "vault"}).status_code == 200  # has places of its own
            assert client.get("/ready").status_code == 200
            go.set()
            for thread in asking:
                thread.join()
        assert statuses == [200] * 3
        assert client.post("/v1/ask", json={"question": QUESTION}).status_code == 200


def test_a_stream_under_way_is_finished_when_the_service_stops(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    with (
        serving(create_app(built / "index", settings_at(tmp_path))) as served,
        held_up(served.service, monkeypatch) as go,
    ):
        client = served.client("ann")

        def ask() -> None:
            told.append(client.post("/v1/ask", json={"question": QUESTION, "stream": True}).text)

        thread = threading.Thread(target=ask)
        thread.start()
        while not served.service.asking.inside:
            go.wait(0.01)
        served.stop()
        go.set()
        thread.join()
    assert events(told[0])[-1][0] == "answer"
