"""Disks that are full, directories that refuse, files that are damaged: through the program, as a user meets them.

It always ends with a message, a remedy and the exit code 3; what was committed stays, and the same command goes on when
there is room.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from citewell.cli import main
from citewell.settings import Storage
from citewell.stores.folder import FolderHome
from citewell.stores.store import OWNER
from tests.kills import PARTS, STATE, Place, index_twice, scaled_down
from tests.stores.child import ROOT

Run = Callable[..., "Ran"]


class Ran:
    """A run of the program."""

    def __init__(self, code: int, err: str) -> None:
        self.code = code
        self.err = err

    def refused(self, message: str) -> None:
        """It ended with exit code 3, a line that holds the message, and one with a remedy."""
        lines = self.err.splitlines()
        assert self.code == 3, self.err
        assert len(lines) == 2, self.err
        assert lines[0].startswith("citewell: ")
        assert message in lines[0]
        assert lines[1].startswith("  ")


@pytest.fixture(scope="module", autouse=True)
def _scaled_down() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        scaled_down(patch)
        yield


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory, _scaled_down: None) -> Place:
    """A small index, only to be copied."""
    folder = tmp_path_factory.mktemp("indexed")
    place = Place(folder / "files", folder / "index")
    index_twice(place)
    return place


@pytest.fixture
def place(indexed: Place, tmp_path: Path) -> Place:
    return Place(indexed.folder, Path(shutil.copytree(indexed.index, tmp_path / "index")))


@pytest.fixture
def citewell(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    for name in ("CITEWELL_DEBUG", "CITEWELL_INDEX"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str | Path) -> Ran:
        code = main([str(argument) for argument in arguments])
        return Ran(code, capfd.readouterr().err)

    return run


def documents(index: Path) -> set[str]:
    home = FolderHome(index, Storage())
    store = home.open(home.pointer().current)
    found = {document.id for document in store.reader().documents(OWNER)}
    assert all(len(store.reader().document_chunks(one, OWNER)) >= PARTS for one in found)
    return found


# No room


class SmallDisk:
    """A file system of a few megabytes, of which only some bytes are free."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def leave(self, free: int) -> None:
        ballast = self.path / "ballast"
        ballast.unlink(missing_ok=True)
        status = os.statvfs(self.path)
        ballast.write_bytes(bytes(max(status.f_bavail * status.f_frsize - free, 0)))

    def make_room(self) -> None:
        (self.path / "ballast").unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    path = tmp_path / "disk"
    path.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", path], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("only root may mount a small disk")
    yield SmallDisk(path)
    subprocess.run(["umount", "--lazy", path], check=True)


def test_a_disk_that_fills_up_while_indexing_loses_nothing(disk: SmallDisk, indexed: Place, citewell: Run) -> None:
    index, command = disk.path / "index", ("index", indexed.folder, "--index", disk.path / "index")
    committed: set[str] = set()
    codes = []
    for free in (0, 32_768, 131_072, 200_000, 300_000):
        disk.leave(free)
        ran = citewell(*command)
        codes.append(ran.code)
        if ran.code:
            ran.refused("There is no room left to write in ")
        disk.make_room()
        if (index / "index.json").exists():
            assert committed <= documents(index)
            committed = documents(index)
    assert codes[:3] == [3, 3, 3]
    assert citewell(*command).code == 0
    assert len(documents(index)) == 12


@pytest.mark.parametrize("free", [0, 40_960])
def test_every_operation_refuses_a_full_disk_and_goes_on_when_there_is_room(
    disk: SmallDisk, indexed: Place, citewell: Run, free: int
) -> None:
    index, one = disk.path / "index", indexed.folder / "odd" / "01.md"
    shutil.copytree(indexed.index, index)
    before = documents(index)
    (index / "index.json.new").write_text("left over, so that there is something to fix")
    commands = [
        ("delete", indexed.folder / "even"),
        ("rollback", one),
        ("rollback", "--state", STATE),
        ("doctor", "--fix"),
    ]
    for command in commands:
        disk.leave(free)
        ran = citewell(*command, "--index", index)
        disk.make_room()
        if ran.code:
            ran.refused("There is no room left to write in ")
            assert documents(index) == before
            assert citewell(*command, "--index", index).code == 0, command
        before = documents(index)


@pytest.mark.parametrize("free", [0, 122_880])
def test_a_purge_that_a_full_disk_stopped_is_finished_when_it_is_repeated(
    disk: SmallDisk, indexed: Place, citewell: Run, free: int
) -> None:
    index, one = disk.path / "index", indexed.folder / "odd" / "01.md"
    shutil.copytree(indexed.index, index)
    before = documents(index)
    disk.leave(free)
    citewell("purge", one, "--yes", "--index", index).refused("There is no room left to write in ")
    disk.make_room()
    stopped = time.time()
    assert len(before - documents(index)) <= 1
    citewell("purge", one, "--yes", "--index", index)
    assert len(before - documents(index)) == 1
    old = [path for path in index.rglob("*.lance") if path.is_file() and path.stat().st_mtime < stopped]
    assert not old, "every file was written anew, without what was purged"


LIMITED = """
import resource, sys
import pytest
from citewell.cli import main
from tests.kills import scaled_down, warm_up

scaled_down(pytest.MonkeyPatch())
warm_up()
for limit in sys.argv[3:]:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
    print(main(["index", sys.argv[1], "--index", sys.argv[2] + limit]), flush=True)
"""


def test_a_file_that_may_not_grow_is_no_room_either(indexed: Place, tmp_path: Path, citewell: Run) -> None:
    """Lance reports some of these files as written. At 9,000 bytes that would be the first commit's."""
    limits = ["600", "9000"]
    limited = [sys.executable, "-c", LIMITED, str(indexed.folder), str(tmp_path / "index"), *limits]
    # Its output goes to pipes, since a file of it could not grow either.
    done = subprocess.run(limited, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["3", "3"], done.stderr
    assert done.stderr.count("citewell: There is no room left to write in ") == 2
    for limit in limits:
        index = tmp_path / f"index{limit}"
        ran = citewell("index", indexed.folder, "--index", index)
        assert (ran.code, ran.err) == (0, "")
        assert len(documents(index)) == 12


# Directories and files that refuse

COMMANDS = """
import sys
import pytest
from citewell.cli import main
from tests.kills import scaled_down

scaled_down(pytest.MonkeyPatch())
for command in sys.argv[1:]:
    print("code", main(command.split()), flush=True)
"""
# Root may do everything, without these capabilities only what its own files allow.
STEPPED_DOWN = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []


def with_modes(folder: Path, of_folders: int, of_files: int) -> None:
    for parent, _, names in os.walk(folder, topdown=False):
        Path(parent).chmod(of_folders)
        for name in names:
            (Path(parent) / name).chmod(of_files)


def test_what_the_file_system_refuses_is_said(indexed: Place, tmp_path: Path) -> None:
    """As a user who is bound by the rights of files: exit codes 0 of what only reads, 3 of what is refused."""
    folder = Path(shutil.copytree(indexed.folder, tmp_path / "files"))
    read_only, no_data, no_versions, closed = (
        Path(shutil.copytree(indexed.index, tmp_path / name))
        for name in ("read-only", "no-data", "no-versions", "closed")
    )
    tables = "generations/1/tables"
    with_modes(read_only, 0o555, 0o444)
    with_modes(no_data / tables / "entries.lance/data", 0o555, 0o444)
    with_modes(no_versions / tables / "documents.lance/_versions", 0o555, 0o444)
    with_modes(closed / tables / "chunks.lance/data", 0o755, 0)
    expected = {
        f"search rule --index {read_only}": 0,
        f"doctor --index {read_only}": 0,
        f"index {folder} --index {read_only}": 3,
        f"delete {folder}/even/00.md --index {read_only}": 3,
        f"purge {folder}/even/00.md --yes --index {read_only}": 3,
        f"index {folder} --index {no_data}": 3,
        f"search rule --index {no_data}": 0,
        f"index {folder} --index {no_versions}": 3,
        f"search rule --index {no_versions}": 0,
        f"search rule --index {closed}": 3,
        f"doctor --index {closed}": 1,
    }
    command = [*STEPPED_DOWN, sys.executable, "-c", COMMANDS, *expected]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    codes = [int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("code ")]
    with_modes(read_only, 0o755, 0o644)
    assert dict(zip(expected, codes, strict=True)) == expected, done.stderr
    assert done.stderr.count("the file system refuses") == 5
    assert all(documents(index) == documents(indexed.index) for index in (read_only, no_data, no_versions))


# Damage


def named(table: str, version: object) -> Callable[[Path], None]:
    def damage(generation: Path) -> None:
        path = generation / "manifest.json"
        record = json.loads(path.read_text())
        record["tables"][table] = version
        path.write_text(json.dumps(record))

    return damage


def without_a_table(generation: Path) -> None:
    path = generation / "manifest.json"
    record: dict[str, Any] = json.loads(path.read_text())
    del record["tables"]["chunks"]
    path.write_text(json.dumps(record))


def written(name: str, content: bytes) -> Callable[[Path], object]:
    return lambda generation: (generation / name).write_bytes(content)


def to_files(pattern: str, act: Callable[[Path], object]) -> Callable[[Path], None]:
    def damage(generation: Path) -> None:
        found = list((generation / "tables").glob(pattern))
        assert found
        for path in found:
            act(path)

    return damage


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def blanked(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def no_tables(generation: Path) -> None:
    shutil.rmtree(generation / "tables")


def a_file_for_tables(generation: Path) -> None:
    no_tables(generation)
    (generation / "tables").write_text("not a folder")


def pointer(**changes: object) -> Callable[[Path], None]:
    def damage(generation: Path) -> None:
        path = generation.parents[1] / "index.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return damage


CURABLE = "a keyword index cut short"
"""The next run builds it anew."""
DAMAGE: dict[str, Callable[[Path], object]] = {
    "a version below all": named("chunks", -1),
    "a version that is no number of Lance's": named("entries", 10**30),
    "a version that never was": named("documents", 999),
    "a manifest without a table": without_a_table,
    "a manifest of garbage": written("manifest.json", b"\xff\x00 garbage"),
    "an empty manifest": written("manifest.json", b""),
    "no manifest": lambda generation: (generation / "manifest.json").unlink(),
    "no tables": no_tables,
    "a file in place of the tables": a_file_for_tables,
    "no data": to_files("*/data/*", Path.unlink),
    "no data of entries": to_files("entries.lance/data/*", Path.unlink),
    "data cut short": to_files("*/data/*", cut),
    "data blanked": to_files("*/data/*", blanked),
    "versions cut short": to_files("*/_versions/*.manifest", cut),
    CURABLE: to_files("entries.lance/_indices/*/*docs.lance", cut),
    "a pointer to nowhere": pointer(current=7),
    "a pointer far away": pointer(current=10**30),
    "a pointer of another format": pointer(format=99),
    "a pointer of garbage": written("../../index.json", b"{"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_index_is_refused_in_words(place: Place, citewell: Run, damage: Callable[[Path], object]) -> None:
    damage(place.index / "generations" / "1")
    citewell("search", "rule", "--index", place.index).refused(str(place.index))
    assert citewell("doctor", "--index", place.index).code == 1
    ran = citewell("index", place.folder, "--index", place.index)
    if damage is DAMAGE[CURABLE]:
        assert ran.code == 0
    else:
        ran.refused(str(place.index))
