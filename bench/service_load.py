"""The service under load: requests a second and their times, while documents are added through the API.

    python bench/service_load.py [--documents 200] [--seconds 10] [--clients 1,8,64] [--workers 1,2] [--json]

`citewell serve` runs in processes of its own on loopback, on an index of examples/bank/documents, with a key. Its
clients ask it the questions of the bank's test set, one after the other each, as fast as they are answered; one that
is told 429 comes again after as long as `Retry-After` says. The answer is quoted: no language model. Meanwhile small
documents are uploaded, ten at a time, each after those before are indexed, until all are or the measuring is over.

Times are those of answered requests. The clients share the machine with the service, and so do the documents: on two
cores, more clients than two only wait longer. `memory` is what the service's processes have in use, in megabytes, after
each row; at the start, after a warm-up with as many clients as there will be. Anything but an answer and 429 is an
error, and the exit code is then 1.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import cycle, islice
from pathlib import Path

import httpx
import machine
import numpy as np
from bank import BANK
from scale_data import bank_words

from citewell import Index, Settings
from citewell.evaluation.testset import read_testset
from citewell.serving.caller import Scope
from citewell.serving.keys import Keys
from citewell.serving.state import State
from citewell.settings import Loading

WORDS = 120
AT_ONCE = 100
START_S = 120.0
REQUEST_S = 120.0
COLUMNS = {"clients": 8, "a second": 10, "p50 ms": 9, "p95 ms": 9, "429": 6, "errors": 8, "added": 7, "memory": 8}
BODIES = {"search": "query", "ask": "question"}


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of request by so many clients; milliseconds, and megabytes (2^20)."""

    workers: int
    request: str
    clients: int
    per_second: float
    p50_ms: float
    p95_ms: float
    sent_away: int
    errors: int
    documents_added: int
    memory_mb: float


@dataclass(slots=True)
class Counted:
    """What became of requests."""

    seconds: list[float] = field(default_factory=list)
    sent_away: int = 0
    errors: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Server:
    """A running service, its processes and a key for everything."""

    url: str
    key: str
    pids: tuple[int, ...]

    def client(self) -> httpx.AsyncClient:
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=REQUEST_S, limits=limits)

    @property
    def memory_mb(self) -> float:
        return sum(map(machine.resident_mb, self.pids))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=10, help="of each row")
    parser.add_argument("--clients", type=_numbers, default=[1, 8, 64])
    parser.add_argument("--workers", type=_numbers, default=[1, 2])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not options.json:
        print(machine.header())
    rows = list[Row]()
    with tempfile.TemporaryDirectory() as scratch:
        index = built(Path(scratch) / "index")
        for workers in options.workers:
            with served(index, Path(scratch) / f"{workers}", workers) as server:
                measuring = measured(server, workers, options.clients, options.seconds, options.documents)
                rows += asyncio.run(measuring)
            if not options.json:
                _print(rows[-len(options.clients) * len(BODIES) - 1 :])
    if options.json:
        print(json.dumps({"machine": machine.describe(), "rows": [asdict(row) for row in rows]}, allow_nan=False))
    return 1 if any(row.errors for row in rows) else 0


def _numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


def built(place: Path) -> Path:
    """An index of the bank's documents."""
    loading = Loading(ocr="off")  # bench/loading.py measures it
    with Index.create(place, settings=Settings(loading=loading)) as index:
        index.add(BANK / "documents")
    return place


@contextmanager
def served(index: Path, folder: Path, workers: int) -> Iterator[Server]:
    """The service on a copy of the index, until the block ends."""
    shutil.copytree(index, folder / "index")
    groups = sorted({group for each in read_testset(BANK / "testset.jsonl") for group in each.groups})
    _, key = Keys(State.at(str(folder / "state"))).add("load", Scope.ADMIN, groups)
    settings = folder / "citewell.toml"
    state = json.dumps(str(folder / "state"))
    settings.write_text(f'[loading]\nocr = "off"\n[service]\nstate = {state}\n', encoding="utf-8")
    port = _free_port()
    options = ["--port", str(port), "--workers", str(workers), "--index", str(folder / "index")]
    command = [sys.executable, "-m", "citewell", "serve", *options, "--settings", str(settings)]
    url, log = f"http://127.0.0.1:{port}", folder / "log"
    with log.open("wb") as errors, subprocess.Popen(command, stderr=errors) as process:
        try:
            _wait_until_ready(url, process, log)
            yield Server(url, key, tuple(_with_children(process.pid)))
        finally:
            process.terminate()
            process.wait()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_S
    while True:
        try:
            if httpx.get(f"{url}/ready", timeout=REQUEST_S).status_code == 200:
                return
        except httpx.TransportError:
            pass  # it is starting
        if process.poll() is not None or time.monotonic() > until:
            raise SystemExit(f"The service did not start:\n{log.read_text(encoding='utf-8')[-2_000:]}")
        time.sleep(0.1)


def _with_children(pid: int) -> Iterator[int]:
    yield pid
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split():
        yield from _with_children(int(child))


async def measured(server: Server, workers: int, clients: Sequence[int], seconds: float, documents: int) -> list[Row]:
    """A row for the start, and one for each kind of request and number of clients."""
    questions = [each.question for each in read_testset(BANK / "testset.jsonl") if each.answerable]
    words = cycle(bank_words())
    notes = [f"# Note {number}\n\n{' '.join(islice(words, WORDS))}.\n" for number in range(documents)]
    added = list[int]()
    async with server.client() as client:
        for request in BODIES:
            await _load(client, request, questions, max(clients), seconds)
        rows = [Row(workers, "start", 0, 0, 0, 0, 0, 0, 0, round(server.memory_mb, 1))]
        adding = asyncio.create_task(_add(client, notes, added))
        for request in BODIES:
            for count in clients:
                before = len(added)
                begin = time.perf_counter()
                counted = await _load(client, request, questions, count, seconds)
                took = time.perf_counter() - begin
                rows.append(_row(server, workers, request, count, counted, took, len(added) - before))
                for error in sorted(set(counted.errors)):
                    print(f"{request}, {count} clients: {error}", file=sys.stderr)
        adding.cancel()
        await asyncio.wait([adding])
        if not adding.cancelled():
            adding.result()
    return rows


def _row(server: Server, workers: int, request: str, clients: int, counted: Counted, took: float, added: int) -> Row:
    times = counted.seconds or [0.0]
    p50, p95 = (round(float(np.percentile(times, share)) * 1000, 1) for share in (50, 95))
    return Row(
        workers=workers,
        request=request,
        clients=clients,
        per_second=round(len(counted.seconds) / took, 1),
        p50_ms=p50,
        p95_ms=p95,
        sent_away=counted.sent_away,
        errors=len(counted.errors),
        documents_added=added,
        memory_mb=round(server.memory_mb, 1),
    )


async def _load(
    client: httpx.AsyncClient, request: str, questions: Sequence[str], clients: int, seconds: float
) -> Counted:
    counted, until = Counted(), time.perf_counter() + seconds
    asked = cycle(questions)

    async def one() -> None:
        while time.perf_counter() < until:
            begin = time.perf_counter()
            try:
                answer = await client.post(f"/v1/{request}", json={BODIES[request]: next(asked)})
            except httpx.TransportError as error:
                counted.errors.append(type(error).__name__)
                continue
            if answer.status_code == 200:
                counted.seconds.append(time.perf_counter() - begin)
            elif answer.status_code == 429:
                counted.sent_away += 1
                await asyncio.sleep(min(float(answer.headers["Retry-After"]), max(until - time.perf_counter(), 0)))
            else:
                counted.errors.append(f"{answer.status_code} {answer.text[:200]}")

    await asyncio.gather(*(one() for _ in range(clients)))
    return counted


async def _add(client: httpx.AsyncClient, notes: Sequence[str], added: list[int]) -> None:
    """Upload small documents, and note each that is indexed."""
    for first in range(0, len(notes), AT_ONCE):
        numbers = range(first, min(first + AT_ONCE, len(notes)))
        files = [("files", (f"load-{number}.md", notes[number])) for number in numbers]
        while (sent := await client.post("/v1/documents", files=files)).status_code == 429:
            await asyncio.sleep(float(sent.headers["Retry-After"]))
        sent.raise_for_status()
        done = 0
        while True:
            job = await client.get(f"/v1/jobs/{sent.json()['job']}")
            if job.status_code == 200:
                now = len((job.json()["result"] or {"files": []})["files"])
                added += numbers[done:now]
                done = now
                if job.json()["state"] not in ("queued", "running"):
                    break
            elif job.status_code != 429:
                job.raise_for_status()
            await asyncio.sleep(0.2)
        if done < len(numbers):
            raise SystemExit(f"Documents were not added: {job.text[:500]}")


def _print(rows: Sequence[Row]) -> None:
    start, *rest = rows
    print(f"\n{start.workers} worker{'s' if start.workers > 1 else ''}, memory at the start {start.memory_mb:,.0f} MB")
    print(f"{'':<8}" + "".join(f"{name:>{width}}" for name, width in COLUMNS.items()))
    for row in rest:
        print(
            f"{row.request:<8}{row.clients:>8}{row.per_second:>10.1f}{row.p50_ms:>9.1f}{row.p95_ms:>9.1f}"
            f"{row.sent_away:>6}{row.errors:>8}{row.documents_added:>7}{row.memory_mb:>8,.0f}"
        )


if __name__ == "__main__":
    sys.exit(main())
