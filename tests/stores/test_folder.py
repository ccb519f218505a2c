"""An index in a folder: what is found there, whatever somebody did to it, and what a writer that died has left."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from citewell.errors import IndexFormatError, IndexLocked, IndexNotFound, PathError
from citewell.settings import Storage
from citewell.stores.folder import FolderHome
from citewell.stores.home import Calibration, Pointer
from citewell.stores.store import OWNER
from tests.stores.child import child
from tests.stores.corpus import commit, indexed, made_with

NOBODY = 65_534
NOW = datetime(2026, 5, 4, tzinfo=UTC)


def at(path: Path) -> FolderHome:
    return FolderHome(path, Storage())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def home(path: Path) -> Iterator[FolderHome]:
    home = at(path)
    home.create(made_with())
    yield home
    home.close()


def documents(home: FolderHome) -> list[str]:
    return [one.id for one in home.open(home.pointer().current).reader().documents(OWNER)]


# Making it


def test_a_new_index_is_one_empty_generation(home: FolderHome, path: Path) -> None:
    assert (home.pointer().current, home.pointer().previous, dict(home.pointer().states)) == (1, None, {})
    assert home.generations() == [1]
    assert home.open(1).made_with == made_with()
    assert documents(home) == []
    assert sorted(each.name for each in path.iterdir()) == ["generations", "index.json", "writer.lock"]
    with pytest.raises(PathError, match=r"There is an index in .* already"):
        at(path).create(made_with())


def test_what_a_creation_that_died_has_left_is_made_anew(home: FolderHome, path: Path) -> None:
    commit(home.open(1), [indexed("a", ["x"])])
    (path / "index.json").rename(path / "index.json.new")
    (path / "unfinished").touch()
    with pytest.raises(IndexNotFound):
        at(path).pointer()
    again = at(path)
    again.create(made_with())
    assert documents(again) == []


def test_the_mark_of_a_creation_that_died_at_its_very_end_goes_before_anything_is_committed(
    home: FolderHome, path: Path
) -> None:
    (path / "unfinished").touch()
    assert at(path).pointer().current == 1
    with home.writing():
        assert not (path / "unfinished").exists()
    (path / "index.json").unlink()
    # Without its mark nobody's documents are taken for leftovers.
    with pytest.raises(PathError, match=r"its index\.json is missing"):
        at(path).create(made_with())


@pytest.mark.parametrize("name", ["notes.txt", "generations", "index.json.new", "manifest.json"])
def test_a_folder_with_anything_in_it_is_left_alone(path: Path, name: str) -> None:
    path.mkdir()
    (path / name).write_text("mine")
    with pytest.raises(PathError, match=rf"is not empty and holds no index \({name}\)"):
        at(path).create(made_with())
    assert (path / name).read_text() == "mine"
    assert not (path / "unfinished").exists()


def test_a_path_of_a_file_is_refused(path: Path) -> None:
    path.touch()
    with pytest.raises(PathError, match="is not a directory"):
        at(path).create(made_with())
    with pytest.raises(IndexNotFound):
        at(path).pointer()


# The pointer


def test_the_pointer_is_read_anew_after_each_switch_of_any_process(home: FolderHome, path: Path) -> None:
    other = at(path)
    assert other.pointer().current == 1
    home.build(2, made_with(16))
    wanted = replace(home.pointer(), current=2, previous=1, states={"before": NOW})
    with home.writing():
        home.switch(wanted)
    assert home.pointer() == other.pointer() == at(path).pointer() == wanted
    assert other.open(other.pointer().current).made_with == made_with(16)


@pytest.mark.parametrize("least", [0.437, None])
def test_a_calibration_is_kept_with_the_pointer(home: FolderHome, path: Path, least: float | None) -> None:
    fitted = Calibration(least, 1, made_with().embedder, 40, 30, None if least is None else 0.9, 0.8, NOW.date())
    with home.writing():
        home.switch(replace(home.pointer(), calibration=fitted))
    read = at(path).pointer().calibration
    assert read is not None
    assert read == fitted
    assert read.fits(1, made_with().embedder)
    assert not read.fits(2, made_with().embedder)
    assert not read.fits(1, made_with(16).embedder)


def test_a_pointer_of_before_there_were_calibrations_is_read(home: FolderHome, path: Path) -> None:
    record = json.loads((path / "index.json").read_text())
    assert record.pop("calibration") is None
    (path / "index.json").write_text(json.dumps(record))
    assert at(path).pointer() == home.pointer()
    assert home.pointer().calibration is None


def test_a_switch_needs_the_lock_and_the_lock_is_one_for_all(home: FolderHome, path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"inside `with home\.writing"):
        home.switch(home.pointer())
    with home.writing(), home.writing(), pytest.raises(IndexLocked), at(path).writing():
        pytest.fail("two writers")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a JSON object"),
        ("[" * 100_000, "not a JSON object"),
        ("[3]", "not a JSON object"),
        ('{"current": 1}', "format number"),
        ('{"format": true, "current": 1}', "format number"),
        ('{"format": 5, "created": ""}', "current is missing"),
        ('{"format": 5, "created": "", "current": "x"}', "current must be a whole number"),
        ('{"format": 5, "created": "", "current": 0}', "names the generations 0 and None"),
        ('{"format": 5, "created": "", "current": 1, "previous": 0}', "names the generations 1 and 0"),
        ('{"format": 5, "created": "", "current": 1, "previous": 1}', "names the generations 1 and 1"),
        ('{"format": 5, "created": "", "current": 1, "states": {"a": "soon"}}', "states"),
    ],
)
def test_a_damaged_pointer_is_named_with_what_is_wrong(path: Path, text: str, said: str) -> None:
    path.mkdir()
    (path / "index.json").write_text(text)
    with pytest.raises(IndexFormatError, match=rf"index\.json is damaged: .*{said}.*Restore it"):
        at(path).pointer()


@pytest.mark.parametrize("found", [1, 2, 3, 4, 6, 999])
def test_another_format_is_refused_with_its_number(path: Path, found: int) -> None:
    """Formats 1 and 2 had their manifest where the pointer is now."""
    path.mkdir()
    name = "manifest.json" if found < 3 else "index.json"
    (path / name).write_text(json.dumps({"format": found, "tables": {}}))
    with pytest.raises(IndexFormatError, match=rf"{name} has format {found}; .* reads format 5"):
        at(path).pointer()


@pytest.mark.parametrize("text", ['{"name": "a web page"}', '{"format": 7}', "not JSON"])
def test_the_manifest_of_another_program_is_no_index(path: Path, text: str) -> None:
    path.mkdir()
    (path / "manifest.json").write_text(text)
    with pytest.raises(IndexNotFound):
        at(path).pointer()


# Generations


def test_a_generation_that_the_pointer_names_and_is_not_there(home: FolderHome, path: Path) -> None:
    shutil.rmtree(path / "generations" / "1")
    for each in (home, at(path)):
        with pytest.raises(IndexFormatError, match=r"generations/1 is damaged: it is not there\. Restore it"):
            each.open(1)
    assert at(path).generations() == []
    shutil.rmtree(path / "generations")
    assert at(path).generations() == []


def test_a_generation_without_its_manifest_is_damaged(home: FolderHome, path: Path) -> None:
    (path / "generations" / "1" / "manifest.json").unlink()
    with pytest.raises(IndexFormatError, match="its manifest is missing"):
        at(path).open(1)


def test_what_is_no_generation_is_passed_over(home: FolderHome, path: Path) -> None:
    for name in ("02", "-1", "0", "٣", "2.old", "notes"):
        (path / "generations" / name).mkdir()
    (path / "generations" / "5").write_text("a file")
    (path / "generations" / "6").symlink_to(path / "generations" / "1")
    home.build(12, made_with())
    assert home.generations() == [1, 12]


def test_what_was_there_of_a_generation_is_removed_when_it_is_built(home: FolderHome) -> None:
    commit(home.build(2, made_with()), [indexed("a", ["x"])])
    store = home.build(2, made_with(16))
    assert store.made_with == made_with(16)
    assert store.versions() == []
    assert home.open(2) is store


def test_another_process_that_made_it_anew_is_noticed(home: FolderHome, path: Path) -> None:
    home.build(2, made_with())
    other = at(path)
    other.drop(2)
    with pytest.raises(IndexFormatError):
        home.open(2)
    other.build(2, made_with(16))
    assert home.open(2).made_with == made_with(16)


def test_what_the_pointer_names_is_not_dropped(home: FolderHome) -> None:
    home.build(2, made_with())
    with home.writing():
        home.switch(replace(home.pointer(), current=2, previous=1))
    for number in (1, 2):
        with pytest.raises(ValueError, match="is in use"):
            home.drop(number)
    with home.writing():
        home.switch(replace(home.pointer(), previous=None))
    home.drop(1)
    home.drop(1)
    assert home.generations() == [2]


def test_the_bytes_are_those_of_the_files(home: FolderHome, path: Path) -> None:
    commit(home.open(1), [indexed("a", ["x"])])
    home.build(2, made_with())
    sizes = {file: file.stat().st_size for file in path.rglob("*") if file.is_file()}
    assert home.bytes_on_disk() == sum(sizes.values())
    for number in (1, 2):
        below = path / "generations" / str(number)
        assert home.bytes_on_disk(number) == sum(size for file, size in sizes.items() if file.is_relative_to(below))
    assert home.bytes_on_disk(3) == 0


# What the file system refuses

STEP_DOWN = f"""
import os, sys
from pathlib import Path
import lancedb, pydantic, lancedb.query, numpy  # while they may still be read
from citewell.errors import PermissionRefused
from citewell.settings import Storage
from citewell.stores.folder import FolderHome
from citewell.stores.store import OWNER

path = Path(sys.argv[1])
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid({NOBODY})
    os.setuid({NOBODY})

def refusal(act):
    try:
        act()
    except PermissionRefused as refused:
        print(refused.message, flush=True)

home, closed = FolderHome(path, Storage()), FolderHome(path.with_name("closed"), Storage())
print(home.pointer().current, home.generations(), len(home.open(1).reader().documents(OWNER)), flush=True)
refusal(home.writing().__enter__)
refusal(lambda: home.drop(2))
refusal(lambda: FolderHome(path / "below", Storage()).create(home.open(1).made_with))
refusal(closed.pointer)
refusal(closed.generations)
refusal(lambda: closed.open(1))
"""


@pytest.fixture
def read_only() -> Iterator[Path]:
    """An index that may only be read, and beside it one that may not even be read, below what everyone may enter."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    index, closed = folder / "index", folder / "closed"
    home = at(index)
    home.create(made_with())
    commit(home.open(1), [indexed("a", ["x"])])
    home.build(2, made_with())
    home.close()
    shutil.copytree(index, closed)
    for each in (index, index / "generations", index / "generations" / "2"):
        each.chmod(0o555)
    (closed / "generations").chmod(0)
    (closed / "index.json").chmod(0)
    yield index
    shutil.rmtree(folder)


def test_refusals_of_the_file_system_say_what_may_not_be_done(read_only: Path) -> None:
    with child(STEP_DOWN, str(read_only)) as stepped_down:
        found, *said = stepped_down.output.read().splitlines()
        assert stepped_down.process.wait() == 0
    assert found == "1 [1, 2] 1"
    refused = [line.partition(read_only.parent.name)[2] for line in said]
    assert refused == [
        "/index cannot be written to: the file system refuses.",
        "/index/generations/2 cannot be written to: the file system refuses.",
        "/index/below cannot be written to: the file system refuses.",
        "/closed/index.json cannot be read: the file system refuses.",
        "/closed/generations cannot be read: the file system refuses.",
        "/closed/generations/1/manifest.json cannot be read: the file system refuses.",
    ]


FULL = """
import dataclasses, resource, sys
from pathlib import Path
from citewell.errors import DiskFull
from citewell.settings import Storage
from citewell.stores.folder import FolderHome

home = FolderHome(Path(sys.argv[1]), Storage())
with home.writing():
    resource.setrlimit(resource.RLIMIT_FSIZE, (40, resource.RLIM_INFINITY))
    try:
        home.switch(dataclasses.replace(home.pointer(), current=2, previous=1))
    except DiskFull as error:
        print(error.message, flush=True)
print(home.pointer().current, flush=True)
"""


def test_with_no_room_for_the_pointer_the_index_is_what_it_was(home: FolderHome, path: Path) -> None:
    home.build(2, made_with())
    with child(FULL, str(path)) as writer:
        said, current = writer.output.read().splitlines()
        assert writer.process.wait() == 0
    assert "There is no room left" in said
    assert current == "1"
    assert home.pointer() == Pointer(current=1, created=home.pointer().created)
    with at(path).writing():  # and the lock is free
        pass
