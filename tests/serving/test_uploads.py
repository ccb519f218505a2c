"""A file that is put in its place, and what is there when that is cut off at any moment."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from citewell.index import Index
from citewell.serving import side_files, uploads
from citewell.serving.caller import Caller, Scope
from citewell.serving.jobs import Jobs, JobState
from citewell.serving.state import State
from citewell.serving.uploads import Arrival, Uploads
from citewell.types import Principal

ANN = Caller("key:ann", Principal("ann"), Scope.WRITE.contained)
FEES = Path(__file__).parents[2] / "examples/bank/documents/fees/card-fee-schedule-2026.pdf"
OLD, NEW = "# Plan\n\nA public text.\n", "# Plan\n\nNorthmoor will be sold.\n"
Replace = Callable[[Path, Path], Path]
PUBLIC, BOARD = {"groups": ["everyone"]}, {"groups": ["board"]}

# Ends the process where it calls what `argv[4]` names for the time `argv[5]`.
KILLED = """
import os, pathlib, shutil, signal, sys
from citewell.index import Index
from citewell.serving import side_files, uploads
index, spooled, place, where, at = sys.argv[1:]
owner, name = {"replace": (pathlib.Path, "replace"), "write": (side_files, "write"), "add": (Index, "add"),
               "rename": (pathlib.Path, "rename"), "rmtree": (shutil, "rmtree")}[where]
real, calls = getattr(owner, name), []
def dying(*given, **named):
    calls.append(1)
    if len(calls) == int(at):
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*given, **named)
with Index.open(index) as opened:
    setattr(owner, name, dying)
    arrival = uploads.Arrival(pathlib.Path(spooled), pathlib.Path(place), {"groups": ["board"]})
    uploads.add(opened, [arrival])
"""


class Desk:
    """An index of its own, with one upload in it."""

    def __init__(self, folder: Path, index: Index) -> None:
        self.state = State.at(str(folder / "state"))
        self.jobs, self.index = Jobs(self.state, partial(uploads.settle, index)), index
        self.place = Uploads(self.state.folder / "uploads").place(ANN.name, "plan.md")
        self.jobs.add("job", "upload", ANN, {"files": [["0", "plan.md"]]})
        self.jobs.take({"upload"})
        self.put(OLD, PUBLIC)

    def spooled(self, text: str) -> Path:
        self.jobs.spool("job").mkdir(exist_ok=True)
        file = self.jobs.spool("job") / "0"
        file.write_text(text)
        return file

    def put(self, text: str, says: dict[str, list[str]]) -> None:
        uploads.add(self.index, [Arrival(self.spooled(text), self.place, says)])

    def there(self) -> tuple[str, dict[str, list[str]]]:
        return self.place.read_text(), side_files.read(self.place)

    def lies(self) -> set[str]:
        return {path.name for path in self.place.parent.rglob("*")}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Index.create(tmp_path / "index") as index:
        yield Desk(tmp_path, index)


@pytest.mark.parametrize(
    ("where", "at"),
    [("replace", 2), ("replace", 3), ("add", 1), ("rename", 1), ("rmtree", 1)],
)
def test_a_process_that_is_killed_mixes_no_text_with_what_is_said_of_another(desk: Desk, where: str, at: int) -> None:
    """From `rename` on, the index has the new file: it stays."""
    spooled = desk.spooled(NEW)
    given = [str(desk.index.location), str(spooled), str(desk.place), where, str(at)]
    ran = subprocess.run([sys.executable, "-c", KILLED, *given], check=False)
    assert ran.returncode == -signal.SIGKILL
    if desk.place.exists():
        assert desk.there() in ((OLD, PUBLIC), (NEW, BOARD))
    desk.jobs.clear({"upload"})  # as the next process does
    assert desk.jobs.get("job").state is JobState.INTERRUPTED
    (now,) = desk.index.stored()
    committed = where in ("rename", "rmtree")
    assert desk.there() == ((NEW, BOARD) if committed else (OLD, PUBLIC))
    assert ("Northmoor" in now.text, set(now.rights.groups)) == (committed, {"board" if committed else "everyone"})
    # What was about to be said may lie there half written, under a name that nobody reads.
    assert desk.lies() - {".plan.md.citewell.toml.new"} == {"plan.md", "plan.md.citewell.toml"}
    assert not desk.jobs.spool("job").exists()


def test_putting_back_may_be_cut_off_too(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    side_files.write(desk.place, {})  # nothing was said of it
    for stop in (1, 2):
        uploads._hold(desk.index, desk.place)
        side_files.write(desk.place, BOARD)
        desk.place.write_text(NEW)
        real, calls = Path.replace, list[int]()

        def failing(path: Path, to: Path, real: Replace = real, calls: list[int] = calls, stop: int = stop) -> Path:
            calls.append(1)
            if len(calls) == stop:
                raise OSError(errno.EIO, "broken")
            return real(path, to)

        with monkeypatch.context() as patched:
            patched.setattr(Path, "replace", failing)
            with pytest.raises(OSError, match="broken"):
                uploads.put_back(desk.place)
        assert not desk.place.exists()
        uploads.put_back(desk.place)
        assert desk.there() == (OLD, {})
        assert desk.lies() == {"plan.md"}


def test_a_full_disk_loses_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    spooled = desk.spooled(NEW)

    def full(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, "full")

    for name in ("write_text", "write_bytes"):
        with monkeypatch.context() as patched:
            patched.setattr(Path, name, full)
            with pytest.raises(OSError, match="full"):
                uploads.add(desk.index, [Arrival(spooled, desk.place, BOARD)])
        assert desk.there() == (OLD, PUBLIC)
        assert spooled.read_text() == NEW
        assert desk.lies() == {"plan.md", "plan.md.citewell.toml"}
    desk.put(NEW, BOARD)
    assert desk.there() == (NEW, BOARD)


def test_what_is_removed_leaves_nothing_that_waits_to_be_put_back(desk: Desk) -> None:
    uploads._hold(desk.index, desk.place)
    desk.place.write_text(NEW)
    uploads.remove(desk.place)
    desk.jobs.end("job", JobState.INTERRUPTED)
    assert desk.lies() == set()


def test_all_its_folders_are_closed_to_others(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir(mode=0o755)
    before = os.umask(0o022)
    try:
        with Index.create(tmp_path / "index") as index:
            desk = Desk(tmp_path, index)
    finally:
        os.umask(before)
    folders = [path for path in desk.state.folder.rglob("*") if path.is_dir()]
    assert {desk.place.parent, desk.place.parent.parent, desk.jobs.spool("job").parent} <= set(folders)
    made = [path for path in folders if path != desk.jobs.spool("job")]
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o700}


def test_of_files_that_go_together_each_is_taken_or_comes_back(desk: Desk) -> None:
    """The second cannot be read, the third replaces another, and the fourth is replaced by one that cannot be read."""
    folder = desk.place.parent
    third, fourth = folder / "third.md", folder / "fourth.pdf"
    for place, text in ((third, b"# Third\n\nOld.\n"), (fourth, FEES.read_bytes())):
        spooled = desk.spooled("")
        spooled.write_bytes(text)
        uploads.add(desk.index, [Arrival(spooled, place, PUBLIC)])
    given = {"plan.md": b"# Plan\n\nOther.\n", "bad.pdf": b"%PDF-1.4 no", "third.md": b"# Third\n\nNew.\n"}
    given["fourth.pdf"] = b"%PDF-1.4 nothing"
    arrivals = list[Arrival]()
    for name, text in given.items():
        spooled = desk.jobs.spool("job") / name
        spooled.write_bytes(text)
        arrivals.append(Arrival(spooled, folder / name, BOARD))
    report = uploads.add(desk.index, arrivals)
    states = {file.source.rpartition("/")[2]: file.state.value for file in report.files}
    assert states == {"plan.md": "updated", "bad.pdf": "failed", "third.md": "updated", "fourth.pdf": "failed"}
    stored = {document.source.rpartition("/")[2]: document for document in desk.index.stored()}
    assert {name: set(one.rights.groups) for name, one in stored.items()} == {
        "plan.md": {"board"},
        "third.md": {"board"},
        "fourth.pdf": {"everyone"},
    }
    assert {name: side_files.read(folder / name) for name in given} == {
        "plan.md": BOARD,
        "bad.pdf": {},
        "third.md": BOARD,
        "fourth.pdf": PUBLIC,
    }
    assert not (folder / "bad.pdf").exists()
    assert "New." in third.read_text()
    assert fourth.read_bytes() == FEES.read_bytes()


def test_what_was_committed_before_a_failure_stays(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full after the index has taken the first of two files."""
    second = desk.place.with_name("second.md")
    real = Index.add

    def cut_short(index: Index, *paths: Path) -> object:
        real(index, paths[0])
        raise OSError(errno.ENOSPC, "full")

    spooled = desk.jobs.spool("job") / "1"
    arrivals = [Arrival(desk.spooled(NEW), desk.place, BOARD), Arrival(spooled, second, BOARD)]
    spooled.write_text("# Second\n")
    with monkeypatch.context() as patched:
        patched.setattr(Index, "add", cut_short)
        with pytest.raises(OSError, match="full"):
            uploads.add(desk.index, arrivals)
    assert desk.there() == (NEW, BOARD)
    assert spooled.read_text() == "# Second\n"
    assert not second.exists()
