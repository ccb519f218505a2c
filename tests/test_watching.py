"""When it is time to index again, with real files and the system's own word on what changed."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import watchfiles

from citewell import watching
from citewell.errors import SettingsError
from citewell.watching import moments

SOON_S = 10.0  # on a busy machine
QUIET_MOMENTS = 5  # a second: longer than anything takes that is told


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "QUIET_S", 0.2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "watched" / "files"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "a.md").write_text("A")
    return folder


class Watch:
    """A watch of a folder that has begun."""

    def __init__(self, moments: Iterator[bool]) -> None:
        self.moments = moments
        assert next(moments) is False

    def is_due(self) -> bool:
        """Whether it is time to index, before long."""
        end = time.monotonic() + SOON_S
        return any(is_time or time.monotonic() > end for is_time in self.moments) and time.monotonic() < end

    def is_quiet(self) -> bool:
        return not any(next(self.moments) for _ in range(QUIET_MOMENTS))


@pytest.fixture
def watch(folder: Path) -> Iterator[Watch]:
    with closing(moments([folder], skip=folder / "index", ignore=["node_modules", "draft/*"])) as begun:
        yield Watch(begun)


def test_each_kind_of_change_is_told_once(folder: Path, watch: Watch) -> None:
    changes: list[Callable[[], object]] = [
        lambda: (folder / "b.md").write_text("B"),
        lambda: (folder / "b.md").write_text("more of B"),
        lambda: (folder / "b.md").rename(folder / "deep" / "er" / "c.md"),
        lambda: (folder / "deep" / "er" / "c.md").unlink(),
        lambda: (folder / "citewell-access.toml").write_text("# rules"),
        lambda: shutil.rmtree(folder / "deep"),
    ]
    for change in changes:
        change()
        assert watch.is_due()
    assert watch.is_quiet()


def test_what_a_run_does_not_see_is_not_told(folder: Path, watch: Watch) -> None:
    for name in ("node_modules", "index", ".git"):
        (folder / name).mkdir()
        (folder / name / "x.md").write_text("X")
    (folder / ".hidden.md").write_text("H")
    (folder / "citewell.toml").write_text("# settings")
    (folder / "a.md").read_text()
    assert watch.is_quiet()


def test_a_folder_that_comes_is_followed(folder: Path, watch: Watch) -> None:
    (folder / "new" / "draft").mkdir(parents=True)
    assert watch.is_due()
    (folder / "new" / "x.md").write_text("X")
    assert watch.is_due()
    (folder / "new" / "draft" / "x.md").write_text("X")  # the glob is for another place
    assert watch.is_due()


def test_the_folder_itself_may_go_and_come_back(folder: Path, watch: Watch) -> None:
    shutil.rmtree(folder)
    assert watch.is_due()
    folder.mkdir()
    assert watch.is_due()
    (folder / "a.md").write_text("A")
    assert watch.is_due()
    folder.rename(folder.with_name("elsewhere"))
    folder.mkdir()
    assert watch.is_due()
    (folder / "a.md").write_text("A")
    assert watch.is_due()


def test_changes_while_the_caller_is_at_work_are_not_missed(folder: Path, watch: Watch) -> None:
    (folder / "b.md").write_text("B")
    assert watch.is_due()
    (folder / "c.md").write_text("C")  # the caller indexes meanwhile
    time.sleep(1)
    assert watch.is_due()


def test_rules_above_the_folder_count(folder: Path, watch: Watch) -> None:
    (folder.parent / "citewell-access.toml").write_text("# rules")
    assert watch.is_due()
    (folder.parent / "note.md").write_text("not watched")
    assert watch.is_quiet()


def test_a_name_that_is_not_utf_8_does_not_end_the_watch(folder: Path, watch: Watch) -> None:
    (folder / os.fsdecode(b"caf\xe9.md")).write_text("C")
    assert watch.is_due()
    (folder / os.fsdecode(b"d\xe9p\xf4t")).mkdir()
    assert watch.is_due()
    (folder / "b.md").write_text("B")
    assert watch.is_due()


def test_links_are_not_followed(folder: Path, watch: Watch) -> None:
    outside = folder.parent / "outside"
    outside.mkdir()
    (folder / "link").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    assert watch.is_due()
    (outside / "x.md").write_text("X")
    assert watch.is_quiet()


def test_a_file_by_its_name_with_its_side_file(folder: Path) -> None:
    with closing(moments([folder / "a.md"])) as begun:
        watch = Watch(begun)
        (folder / "new.md").write_text("as an editor saves it")
        (folder / "new.md").replace(folder / "a.md")
        assert watch.is_due()
        (folder / "a.md").write_text("changed")
        assert watch.is_due()
        (folder / "a.md.citewell.toml").write_text("# rights")
        assert watch.is_due()
        (folder / "other.md").write_text("O")
        assert watch.is_quiet()


def test_a_link_that_leads_elsewhere_now(folder: Path) -> None:
    link, second = folder.parent / "current", folder.parent / "second"
    second.mkdir()
    link.symlink_to(folder)
    with closing(moments([link])) as begun:
        watch = Watch(begun)
        link.unlink()
        link.symlink_to(second)
        assert watch.is_due()
        (second / "x.md").write_text("X")
        assert watch.is_due()


def test_where_nothing_is_told_all_is_looked_at(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "1")
    monkeypatch.setattr(watching, "POLL_MS", 100)
    with closing(moments([folder])) as begun:
        watch = Watch(begun)
        (folder / "deep" / "b.md").write_text("B")
        assert watch.is_due()
        (folder / "deep" / "b.md").unlink()
        assert watch.is_due()


def test_where_there_are_too_many_folders_all_is_looked_at(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = []

    def scripted_limit(*places: Path, force_polling: bool | None, **options: Any) -> Iterator[watching.Changes]:
        if force_polling:
            return watchfiles.watch(*places, force_polling=True, **options)
        refused.append(places)
        raise OSError("OS file watch limit reached")

    monkeypatch.setattr(watching, "watch", scripted_limit)
    monkeypatch.setattr(watching, "POLL_MS", 100)
    with closing(moments([folder])) as begun:
        watch = Watch(begun)
        (folder / "b.md").write_text("B")
        assert watch.is_due()
    assert refused


def test_a_run_begins_though_things_go_on_changing(folder: Path, watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "LONGEST_S", 1.0)
    is_over = threading.Event()

    def write() -> None:
        while not is_over.wait(0.02):
            (folder / "log.md").write_text(str(time.monotonic()))

    writer = threading.Thread(target=write)
    writer.start()
    begun = time.monotonic()
    assert watch.is_due()
    assert time.monotonic() - begun >= 1.0
    is_over.set()
    writer.join()


def test_a_wrong_glob_is_refused(folder: Path) -> None:
    with pytest.raises(SettingsError, match="ignore"):
        next(moments([folder], ignore=["[x"]))
