"""Jobs: whose they are, what becomes of them when they are cancelled or their process is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from citewell.serving.app import create_app
from citewell.serving.caller import Caller, Scope
from citewell.serving.jobs import MAX_QUEUED, Jobs, JobState
from citewell.serving.problems import TooBusy
from citewell.serving.runner import Runner, Running
from citewell.serving.state import State
from citewell.serving.uploading import TOGETHER
from citewell.types import Principal
from tests.serving.conftest import settings_at
from tests.serving.served import Served, finished, serving

ANN = Caller("key:ann", Principal("ann"), Scope.WRITE.contained)
BOB = Caller("key:bob", Principal("bob"), Scope.WRITE.contained)
ROOT = Caller("key:root", Principal("root"), Scope.ADMIN.contained)
TEXT = "# {0}\n\nThe text of {0}.\n"


def many(count: int) -> list[tuple[str, tuple[str, str]]]:
    return [("files", (f"{number}.md", TEXT.format(number))) for number in range(count)]


@contextmanager
def held_up(served: Served, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Each file waits until the event is set."""
    go, add = threading.Event(), served.service.index.add

    def waiting(*given: Any, **named: Any) -> Any:
        assert go.wait(30)
        return add(*given, **named)

    monkeypatch.setattr(served.service.index, "add", waiting)
    try:
        yield go
    finally:
        go.set()


def test_a_job_is_its_callers_and_an_admins(own: Served) -> None:
    job = own.client("ann", "write").post("/v1/documents", files=many(1)).json()["job"]
    assert finished(own.client("ann", "write"), job)["state"] == "done"
    bob, root = own.client("bob", "write"), own.client("root", "admin")
    for method in ("GET", "DELETE"):
        assert bob.request(method, f"/v1/jobs/{job}").status_code == 404
    assert bob.get("/v1/jobs").json()["jobs"] == []
    assert root.get(f"/v1/jobs/{job}").json()["caller"] == own.caller("ann")
    assert job in [each["job"] for each in root.get("/v1/jobs").json()["jobs"]]


def test_a_job_is_cancelled_between_steps_and_one_that_waits_at_once(
    own: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = own.client("ann", "write")
    with held_up(own, monkeypatch) as go:
        first = client.post("/v1/documents", files=many(TOGETHER + 2)).json()["job"]
        second = client.post("/v1/documents", files=[("files", ("more.md", "# More\n\nMore.\n"))]).json()["job"]
        while (client.get(f"/v1/jobs/{first}").json()["progress"] or {}).get("current") != "0.md":
            time.sleep(0.02)
        assert client.delete(f"/v1/jobs/{second}").json()["state"] == "cancelled"
        assert client.delete(f"/v1/jobs/{first}").json()["cancelling"] is True
        go.set()
        done = finished(client, first)
    assert done["state"] == "cancelled"
    names = [f"{number}.md" for number in range(TOGETHER)]
    assert [file["name"] for file in done["result"]["files"]] == names
    assert {path.name for path in own.folder("ann").iterdir()} == set(names)
    assert not any((own.service.state.folder / "uploads" / ".incoming").iterdir())
    assert client.delete(f"/v1/jobs/{first}").json()["state"] == "cancelled"  # what is over stays as it is


def test_a_service_that_stops_finishes_the_step_and_says_what_it_left(
    index_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_at(tmp_path)
    with serving(create_app(index_copy, settings)) as served, held_up(served, monkeypatch) as go:
        client = served.client("ann", "write")
        job = client.post("/v1/documents", files=many(TOGETHER + 2)).json()["job"]
        waiting = client.post("/v1/documents", files=[("files", ("more.md", "# More\n\nMore.\n"))]).json()["job"]
        while (client.get(f"/v1/jobs/{job}").json()["progress"] or {}).get("current") != "0.md":
            time.sleep(0.02)
        served.stop()
        threading.Timer(0.2, go.set).start()
    with serving(create_app(index_copy, settings)) as served:
        client = served.client("ann", "write")
        left = client.get(f"/v1/jobs/{job}").json()
        assert left["state"] == "interrupted"
        assert len(left["result"]["files"]) == TOGETHER
        assert finished(client, waiting)["state"] == "done"  # it had not begun, and is done now


def test_a_job_whose_process_was_killed_is_said_to_be_interrupted(index_copy: Path, tmp_path: Path) -> None:
    state = State.at(str(tmp_path / "state"))
    jobs = Jobs(state)
    spool = jobs.spool("first")
    spool.mkdir(parents=True)
    jobs.add("first", "sleep", ANN, {})
    jobs.add("second", "sleep", ANN, {})
    code = (
        "import sys, time; from pathlib import Path\n"
        "from citewell.serving.jobs import Jobs; from citewell.serving.runner import Runner\n"
        "from citewell.serving.state import State\n"
        "def sleep(running):\n    running.keep({'files': ['a']}); print('up', flush=True); time.sleep(60)\n"
        "state = State.at(sys.argv[1]); runner = Runner(Jobs(state), state.folder, {'sleep': sleep})\n"
        "runner.start(); time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(state.folder)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        assert jobs.get("first").state is JobState.RUNNING
        done = list[str]()
        runner = Runner(jobs, state.folder, {"sleep": lambda running: done.append(running.job.id)})
        runner.start()
        time.sleep(0.2)
        assert done == []  # another process is at it
        os.kill(process.pid, signal.SIGKILL)
    while not jobs.get("second").state.is_over:
        runner.wake()
        time.sleep(0.02)
    runner.stop()
    first = jobs.get("first")
    assert (first.state, first.result) == (JobState.INTERRUPTED, {"files": ["a"]})
    assert not spool.exists()
    assert done == ["second"]


def test_a_job_that_fails_says_so_and_the_next_one_goes_on(tmp_path: Path) -> None:
    state = State.at(str(tmp_path))
    jobs = Jobs(state)

    def broken(running: Running) -> None:
        raise RuntimeError("Meadow")

    runner = Runner(jobs, state.folder, {"broken": broken, "fine": lambda running: running.step(1, 1, "")})
    for job_id, kind in (("a", "broken"), ("b", "fine")):
        jobs.add(job_id, kind, ANN, {})
    runner.start()
    while jobs.are_open():
        time.sleep(0.02)
    runner.stop()
    failed = jobs.get("a").shape
    assert (failed["state"], failed["error"]["type"]) == ("failed", "Unexpected")
    assert "Meadow" not in str(failed)
    assert jobs.get("b").state is JobState.DONE


def test_the_queue_has_an_end_for_each_caller(tmp_path: Path) -> None:
    jobs = Jobs(State.at(str(tmp_path)))
    for number in range(MAX_QUEUED):
        jobs.add(str(number), "x", ANN, {})
    with pytest.raises(TooBusy):
        jobs.add("more", "x", ANN, {})
    assert jobs.add("of bob", "x", BOB, {}).state is JobState.QUEUED
    assert len(jobs.of(BOB)) == 1
    assert jobs.of(ROOT)[0].id == "of bob"
    first = jobs.take({"x"})
    assert first is not None
    assert first.id == "0"
