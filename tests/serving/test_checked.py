"""A file that was looked through is not looked through again, and one that may have changed is."""

from __future__ import annotations

import hashlib
import io
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from citewell.errors import UnknownId
from citewell.loading.given import from_text
from citewell.serving import checked, originals
from citewell.serving.checked import Checked, Mark
from citewell.serving.originals import original
from citewell.types import Document
from tests.serving.served import Served, uploaded

CONTENT = bytes(range(256)) * 1_000
TICK_S = 0.05
"""Longer than a file system's clock stands still."""


@pytest.fixture
def looked_through(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of files that were read whole."""
    sizes, whole = list[int](), originals._copied

    def counted(file: io.BufferedReader, size: int, *rest: Any) -> bytes:
        sizes.append(size)
        return whole(file, size, *rest)

    monkeypatch.setattr(originals, "_copied", counted)
    return sizes


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every file had been as it is for long."""
    monkeypatch.setattr(checked, "SETTLED_S", -1)


def document_at(path: Path) -> Document:
    path.write_bytes(CONTENT)
    time.sleep(TICK_S)
    return replace(from_text("Nine euros.", source=path.as_uri()), content_hash=hashlib.sha256(CONTENT).hexdigest())


def sent(document: Document, known: Checked, *headers: str | None) -> bytes:
    found = original(document, known, *headers)
    with found.data:
        return b"".join(found.pieces())


@pytest.mark.usefixtures("settled")
def test_one_look_is_enough_for_all_parts_of_a_file(own: Served, looked_through: list[int]) -> None:
    ann = own.client("ann", "write")
    document = uploaded(ann, "rates.md", b"# Rates\n\nNine euros.\n")["result"]["files"][0]["document"]
    path = f"/v1/documents/{document}/file"
    parts = [ann.get(path, headers={"Range": f"bytes={at}-{at + 6}"}).content for at in range(0, 21, 7)]
    assert b"".join(parts) == ann.get(path).content == b"# Rates\n\nNine euros.\n"
    assert ann.get(path, headers={"Range": "bytes=99-"}).status_code == 416
    assert looked_through == [21]
    time.sleep(TICK_S)
    (own.folder("ann") / "rates.md").write_bytes(b"# Rates\n\nFour euros.\n")
    assert ann.get(path, headers={"Range": "bytes=0-6"}).status_code == 404
    assert looked_through == [21, 21]


def again(path: Path) -> None:
    path.write_bytes(CONTENT[::-1])


def again_with_its_old_time(path: Path) -> None:
    before = path.stat()
    path.write_bytes(CONTENT[::-1])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def another_in_its_place(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(CONTENT[::-1])
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    other.replace(path)


def a_link_to_another(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(CONTENT[::-1])
    path.unlink()
    path.symlink_to(other)


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("change", [again, again_with_its_old_time, another_in_its_place, a_link_to_another])
def test_what_was_changed_is_looked_through_again(tmp_path: Path, change: Callable[[Path], None]) -> None:
    path, known = tmp_path / "rates.bin", Checked()
    document = document_at(path)
    for _ in range(2):
        assert sent(document, known, "bytes=5-8") == CONTENT[5:9]
    change(path)
    for _ in range(2):
        with pytest.raises(UnknownId):
            original(document, known, "bytes=5-8")


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("change", [again, again_with_its_old_time, lambda path: os.truncate(path, 7)])
def test_what_changes_while_a_part_is_copied_is_not_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    path, known, copied = tmp_path / "rates.bin", Checked(), originals._copied_part
    document = document_at(path)
    sent(document, known)

    def changed(*given: Any) -> bytes:
        change(path)
        return copied(*given)

    monkeypatch.setattr(originals, "_copied_part", changed)
    with pytest.raises(UnknownId):
        original(document, known, "bytes=5-8")


def test_what_changed_just_now_is_not_remembered(tmp_path: Path, looked_through: list[int]) -> None:
    """It may change once more, and its times say nothing of it."""
    document, known = document_at(tmp_path / "rates.bin"), Checked()
    for _ in range(3):
        assert sent(document, known, "bytes=5-8") == CONTENT[5:9]
    assert looked_through == [len(CONTENT)] * 3


@pytest.mark.usefixtures("settled")
def test_a_file_is_known_by_all_of_its_bytes(tmp_path: Path) -> None:
    known, document = Checked(), document_at(tmp_path / "rates.bin")
    sent(document, known)
    with pytest.raises(UnknownId):
        original(replace(document, content_hash=hashlib.sha256(b"").hexdigest()), known, "bytes=5-8")


def test_so_many_are_remembered_the_last_that_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checked, "MOST", 2)
    known, first, second, third = Checked(), *(Mark(1, inode, 10, 0, 0) for inode in range(3))
    known.keep(first, "a")
    known.keep(second, "b")
    assert known.has(first, "a")
    known.keep(third, "c")
    assert [known.has(mark, digest) for mark, digest in ((first, "a"), (second, "b"), (third, "c"))] == [
        True,
        False,
        True,
    ]
