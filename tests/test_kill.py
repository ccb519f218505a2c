"""Kill -9 in the middle of each operation that writes, at random moments.

What is open again is sound each time, without repair: the state before or the state after, whole, in both legs. The
operation can be repeated, and completes. CITEWELL_TEST_KILLS is the number of kills of each kind.
"""

from __future__ import annotations

import json
import logging
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from citewell import Index
from citewell.stores.store import VersionKey
from tests.kills import KINDS, Kind, Picture, Place, index_twice, picture, run_of_nothing, scaled_down
from tests.stores.child import ROOT

KILLS = int(os.environ.get("CITEWELL_TEST_KILLS", "1"))
ATTEMPTS = 10
"""For each kill: one that comes when the operation has ended is none."""

LATE = 0.05
LONGEST = 10.0
"""Seconds: for the second step of a purge, and to wait for it."""

log = logging.getLogger(__name__)


@pytest.fixture(scope="module", autouse=True)
def _scaled_down() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        scaled_down(patch)
        yield


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory, _scaled_down: None) -> tuple[Path, Path]:
    """A place after `index_twice`, and a copy of it: sources are paths, so each test has it at the same one."""
    root, copy = (tmp_path_factory.mktemp(name) for name in ("place", "copy"))
    index_twice(Place(root / "files", root / "index"))
    restore(root, copy)
    return root, copy


@pytest.fixture
def place(indexed: tuple[Path, Path]) -> Place:
    root, copy = indexed
    restore(copy, root)
    return Place(root / "files", root / "index")


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.timeout(60 + 60 * KILLS)
def test_a_kill_leaves_the_state_before_or_the_state_after(
    name: str, place: Place, killer: Killer, tmp_path: Path
) -> None:
    kind, spare = KINDS[name], tmp_path / "spare"
    place = replace(place, vectors=kind.vectors)
    if kind.prepare is not None:
        kind.prepare(place)
    before, traces = picture(place), traces_by_source(place)
    restore(place.index, spare)
    seconds = killer.whole_run(name, place)
    after = picture(place)
    assert before != after
    needles = [trace for source in before.keys() - after.keys() for trace in traces[source]]
    assert bool(needles) is name.startswith("purge")
    assert not holding(place.index, needles)

    moments = random.Random(os.getpid())
    ends = []
    for attempt in range(ATTEMPTS * KILLS):
        restore(spare, place.index)
        # Between the two steps of a purge, of which the second is short.
        late = bool(needles) and moments.random() < 0.5
        if not killer.killed_inside(name, place, moments.uniform(0, LATE if late else seconds), late=late):
            seconds *= 1 if late else 0.8
            continue
        seconds *= 1 if late else 1.1  # so that of ten kills seven come before the end, however busy the machine is
        left = picture(place)
        check(kind, before, left, after)
        ends.append("before" if left == before else "after" if left == after else "between two steps")
        if needles and left == after:
            ends[-1] += ended_by_the_next_run(place, needles)
        kind.act(place)
        assert picture(place) == after, f"repeated after kill {len(ends)}, attempt {attempt}"
        assert not holding(place.index, needles), "what is purged is in no file"
        if len(ends) == KILLS:
            break
    assert len(ends) == KILLS
    counts = ", ".join(f"{ends.count(end)} {end}" for end in sorted(set(ends)))
    log.warning("%s: %d kills; left %s", name, len(ends), counts)


def ended_by_the_next_run(place: Place, needles: Sequence[bytes]) -> str:
    """A purge that was killed after its commit: until the next writer, the index tells of it."""
    with Index.open(place.index, settings=place.settings) as index:
        waiting = index._store.erasing is not None
    assert waiting or not holding(place.index, needles)
    run_of_nothing(place)
    assert not holding(place.index, needles), "after any run, what is purged is in no file"
    return ", files waiting" if waiting else ""


def restore(source: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    if source.exists():
        shutil.copytree(source, target)


class Killer:
    """Starts operations, each in a process of its own, and kills them."""

    def __init__(self, server: subprocess.Popen[str]) -> None:
        assert server.stdin is not None
        assert server.stdout is not None
        self._requests, self._said = server.stdin, server.stdout

    def whole_run(self, name: str, place: Place) -> float:
        """Let the operation run to its end; says how many seconds it took."""
        self._start(name, place)
        begin = time.perf_counter()
        assert self._hear() == "out"
        seconds = time.perf_counter() - begin
        assert self._bury() == ["ended"]
        return seconds

    def killed_inside(self, name: str, place: Place, delay: float, *, late: bool) -> bool:
        """Kill it so many seconds after it began, or (`late`) after the commit of a purge, and say whether it had not
        come out yet."""
        process, begin = self._start(name, place), time.perf_counter()
        while late and not place.is_erasing() and time.perf_counter() < begin + LONGEST:
            time.sleep(0.001)
        time.sleep(delay)
        os.kill(process, signal.SIGKILL)  # the number is its own until it is buried
        return self._bury() == ["ended"]

    def _start(self, name: str, place: Place) -> int:
        self._say(json.dumps([name, str(place.folder), str(place.index)]))
        begun = {self._hear(), self._hear()}
        (number,) = begun - {"in"}
        return int(number)

    def _bury(self) -> list[str]:
        """What is said until it has ended."""
        self._say("bury")
        said = [self._hear()]
        while said[-1] != "ended":
            said.append(self._hear())
        return said

    def _say(self, line: str) -> None:
        self._requests.write(line + "\n")
        self._requests.flush()

    def _hear(self) -> str:
        line = self._said.readline()
        assert line, "the process that forks has died"
        return line.strip()


@pytest.fixture(scope="module")
def killer() -> Iterator[Killer]:
    command = [sys.executable, "-c", "from tests.kills import serve; serve()"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        yield Killer(server)
        assert server.stdin is not None
        server.stdin.close()


def check(kind: Kind, before: Picture, left: Picture, after: Picture) -> None:
    if not kind.in_steps:
        assert left in (before, after)
    for source in before.keys() | left.keys() | after.keys():
        assert left.get(source) in (before.get(source), after.get(source)), source


def traces_by_source(place: Place) -> dict[str, list[bytes]]:
    """The vectors of a document, and the words that are nowhere else."""
    found: dict[str, list[bytes]] = {}
    if place.index.exists():
        with Index.open(place.index) as index:
            store = index._store
            keys = [VersionKey(version.document_id, version.number) for version in store.versions()]
            for one in store.fetch(keys):
                words = re.findall(r"\bf\d+p\d+e\d+\b", one.document.text)
                traces = [*(vector.tobytes() for vector in one.vectors), *map(str.encode, words)]
                assert all(holding(place.index, [trace]) for trace in traces)
                found.setdefault(one.document.source, []).extend(traces)
    return found


def holding(index: Path, needles: Sequence[bytes]) -> list[Path]:
    """The files of the index with one of these in them."""
    contents = ((path, path.read_bytes()) for path in index.rglob("*") if path.is_file())
    return [path for path, content in contents if any(needle in content for needle in needles)]
