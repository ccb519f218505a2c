"""Headers, origins, rates, unknown routes, numbers and spans."""

from __future__ import annotations

import asyncio
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from citewell.serving.app import create_app
from citewell.serving.headers import ALWAYS
from citewell.serving.lane import Lane
from citewell.serving.problems import TooBusy
from citewell.serving.rate import Rate
from citewell.serving.turns import Turns
from citewell.serving.uploading import BESIDE
from tests.serving.conftest import QUESTION, settings_at
from tests.serving.served import SOON_S, Served, finished, serving


def test_every_response_has_its_headers(read_only: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    client, nobody = read_only.client("ann"), read_only.client()

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(read_only.service.index, "search", broken)
    answers = [
        nobody.get("/health"),
        nobody.get("/v1/ask"),
        client.get("/v1/nothing"),
        client.get("/v1/ask"),
        client.post("/v1/ask", json={}),
        client.post("/v1/ask", json={"question": QUESTION, "stream": True}),
        client.post("/v1/search", json={"query": "x"}),
    ]
    assert [answer.status_code for answer in answers] == [200, 401, 404, 405, 422, 200, 500]
    ids = [answer.headers["x-request-id"] for answer in answers]
    assert len(set(ids)) == len(ids)
    for answer in answers:
        for name, value in ALWAYS.items():
            assert answer.headers[name] == value
        if answer.status_code >= 400:
            assert set(answer.json()["error"]) == {"type", "message", "remedy"}
    policy = ALWAYS["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_only_the_origins_of_the_settings_may_read(built: Path, tmp_path: Path, read_only: Served) -> None:
    asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}
    with serving(create_app(built / "index", settings_at(tmp_path, cors_origins=["https://a.example"]))) as served:
        for origin, allowed in (("https://a.example", "https://a.example"), ("https://b.example", None)):
            answer = served.client("ann").get("/v1/documents", headers={"Origin": origin})
            assert answer.headers.get("access-control-allow-origin") == allowed
            assert "access-control-allow-credentials" not in answer.headers
            before = served.client().options("/v1/ask", headers={"Origin": origin, **asks})
            assert before.status_code == (200 if allowed else 400)
    none = read_only.client("ann").get("/v1/documents", headers={"Origin": "https://a.example"})
    assert "access-control-allow-origin" not in none.headers


def test_a_caller_asks_no_more_often_than_allowed(built: Path, tmp_path: Path) -> None:
    with serving(create_app(built / "index", settings_at(tmp_path, rate_per_minute=3))) as served:
        ann = served.client("ann")
        assert [ann.get("/v1/jobs").status_code for _ in range(5)] == [200, 200, 200, 429, 429]
        last = ann.get("/v1/jobs")
        assert 0 < int(last.headers["retry-after"]) <= 20
        assert served.client("bob").get("/v1/jobs").status_code == 200
        assert served.client().get("/health").status_code == 200


def test_a_bucket_fills_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    rate = Rate(60)
    for _ in range(60):
        rate.count("ann")
    with pytest.raises(TooBusy) as told:
        rate.count("ann")
    assert told.value.retry_after == 1
    now[0] += 1
    rate.count("ann")
    with pytest.raises(TooBusy):
        rate.count("ann")


def test_a_lane_gives_up_what_waits_when_it_is_closed() -> None:
    lane, go = Lane("x", 1, 1), threading.Event()
    first, second = lane.begin(lambda: go.wait(10)), lane.begin(lambda: True)
    with pytest.raises(TooBusy):
        lane.begin(lambda: True)
    threading.Timer(0.05, go.set).start()
    lane.close()
    assert first.result() is True
    assert second.cancelled()
    assert lane.inside == 0
    with pytest.raises(TooBusy):
        lane.begin(lambda: True)


def test_a_narrowed_lane_runs_so_many_at_once_and_all_after_that() -> None:
    lane, go, lock = Lane("x", 4, 8), threading.Event(), threading.Lock()
    at_work, most = [0], [0]

    def work() -> None:
        with lock:
            at_work[0] += 1
            most[0] = max(most[0], at_work[0])
        assert go.wait(10)
        with lock:
            at_work[0] -= 1

    def until_at_work(many: int) -> None:
        until = time.monotonic() + 10
        while at_work[0] != many:
            assert time.monotonic() < until, at_work
            time.sleep(0.005)

    with lane.narrowed(2):
        futures = [lane.begin(work) for _ in range(8)]
        until_at_work(2)
        time.sleep(0.1)
        assert most == [2]
        assert lane.inside == 8
    until_at_work(4)
    go.set()
    for future in futures:
        future.result(10)
    assert (most, lane.inside) == ([4], 0)
    with lane.narrowed(2), pytest.raises(ZeroDivisionError):
        lane.begin(lambda: 1 / 0).result(10)
    with lane.narrowed(1):  # one that failed has given its turn back
        assert lane.begin(lambda: True).result(10)
    lane.close()


def test_of_two_who_narrow_a_lane_the_narrowest_counts_and_both_give_back() -> None:
    lane = Lane("x", 3, 9)

    def most_at_once(many: int) -> int:
        go, begun = threading.Event(), list[int]()

        def work() -> None:
            begun.append(1)
            assert go.wait(10)

        futures = [lane.begin(work) for _ in range(5)]
        until = time.monotonic() + 10
        while len(begun) < many:
            assert time.monotonic() < until, begun
            time.sleep(0.005)
        time.sleep(0.05)
        most = len(begun)
        go.set()
        for future in futures:
            future.result(10)
        return most

    first, second = lane.narrowed(2), lane.narrowed(1)
    first.__enter__()
    second.__enter__()
    assert most_at_once(1) == 1
    first.__exit__(None, None, None)
    assert most_at_once(1) == 1
    second.__exit__(None, None, None)
    assert most_at_once(3) == 3
    lane.close()


def test_in_a_narrowed_lane_what_waits_is_given_up_by_who_goes_away_and_when_it_is_closed() -> None:
    lane, go, ran = Lane("x", 4, 4), threading.Event(), list[int]()

    async def asked() -> None:
        first = asyncio.create_task(lane.run(lambda: go.wait(10)))
        gone = [asyncio.create_task(lane.run(lambda n=n: ran.append(n))) for n in range(3)]  # type: ignore[misc]
        while lane.inside < 4:
            await asyncio.sleep(0.01)
        for each in gone:
            each.cancel()
        await asyncio.gather(*gone, return_exceptions=True)
        assert lane.inside == 1
        go.set()
        assert await first

    with lane.narrowed(1):
        asyncio.run(asked())
        go.clear()
        running, *waiting = [lane.begin(lambda: go.wait(10)) for _ in range(4)]
        threading.Timer(0.05, go.set).start()
        lane.close()
        assert running.result() is True
        assert [each.cancelled() for each in waiting] == [True] * 3
    assert (ran, lane.inside) == ([], 0)


def test_uploads_go_on_while_more_ask_than_can_be_answered(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(built / "index", tmp_path / "index")
    with serving(create_app(tmp_path / "index", settings_at(tmp_path))) as served:
        ann, service = served.client("ann", "write"), served.service
        begun, go, search = threading.Event(), threading.Event(), service.index.search
        add = service.index.add

        def held(*paths: Path) -> Any:
            begun.set()
            assert go.wait(SOON_S)
            return add(*paths)

        def searched(*given: Any, **named: Any) -> Any:
            with lock:
                at_once.append(len(inside := {*at_work, threading.get_ident()}))
                at_work.update(inside)
            try:
                time.sleep(0.05)
                return search(*given, **named)
            finally:
                with lock:
                    at_work.discard(threading.get_ident())

        at_once, at_work, lock = list[int](), set[int](), threading.Lock()
        monkeypatch.setattr(service.index, "add", held)
        monkeypatch.setattr(service.index, "search", searched)
        job = ann.post("/v1/documents", files=[("files", ("fees.md", "# Fees\n\nNine euros.\n"))]).json()["job"]
        assert begun.wait(SOON_S)
        with ThreadPoolExecutor(8) as clients:
            answers = list(clients.map(lambda _: ann.post("/v1/search", json={"query": "x"}).status_code, range(16)))
            assert answers == [200] * 16
            assert max(at_once) == BESIDE
            go.set()
            assert finished(ann, job)["state"] == "done"
            at_once.clear()
            assert set(clients.map(lambda _: ann.post("/v1/search", json={"query": "x"}).status_code, range(16))) == {
                200
            }
        assert max(at_once) > BESIDE


def test_who_waits_for_a_turn_gets_it_before_who_has_had_one(tmp_path: Path) -> None:
    turns, order, begun = Turns(tmp_path), list[str](), threading.Event()

    def one_file() -> None:
        order.append("job")
        begun.set()
        time.sleep(0.15)

    def often() -> None:
        for _ in range(4):
            turns.write(one_file, 30)

    job = threading.Thread(target=often)
    job.start()
    assert begun.wait(10)
    turns.write(lambda: order.append("delete"), 30)
    job.join()
    assert order.index("delete") <= 2
    assert len(order) == 5


def test_spans_tell_routes_and_steps_and_no_text(read_only: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    # A provider that is set stays for the whole process, and would hear of other tests.
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    client = read_only.client("ann")
    answer = client.post("/v1/ask", json={"question": QUESTION}, headers={"traceparent": parent}).json()
    client.get("/v1/documents", params={"where": 'title = "Meadow"'})
    provider.force_flush()
    spans = exporter.get_finished_spans()
    named = {span.name: span for span in spans}
    assert named["POST /v1/ask"].attributes == {
        "http.request.method": "POST",
        "http.route": "/v1/ask",
        "http.response.status_code": 200,
    }
    context = named["ask"].get_span_context()
    assert context is not None
    assert f"{context.trace_id:032x}" == parent.split("-")[1]
    steps = [span.name for span in spans if span.parent is not None and span.parent.span_id == context.span_id]
    assert sorted(steps) == sorted(step["step"] for step in answer["trace"])
    told = str([span.to_json() for span in spans])
    assert "Meadow" not in told
    assert QUESTION not in told


def test_numbers_count_routes_by_their_template(read_only: Served) -> None:
    client, root = read_only.client("ann"), read_only.client("root", "admin")
    client.get("/v1/documents/secret-words")
    client.get("/v1/secret-words")
    client.request("SECRETWORDS", "/v1/ask")
    text = root.get("/metrics").text
    assert 'citewell_requests_total{method="GET",route="/v1/documents/{document_id}",status="404"}' in text
    assert 'citewell_inside{lane="asking"} 0.0' in text
    assert "secret" not in text.lower()
