"""Where uploaded files lie: a folder for each who uploads, in it the files under their cleaned names.

A file is moved into its place when it is its turn to be indexed, and what was there is put back where that fails. At no
moment does a file lie in its place with what is said of another one, so that no crash shows it to others' readers.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from citewell.index import Index
from citewell.serving import side_files
from citewell.serving.side_files import side_of
from citewell.serving.state import private_folder
from citewell.sources import path_of
from citewell.types import BETWEEN_SOURCES, FileState, IndexReport

NOT_TAKEN = (FileState.FAILED, FileState.SKIPPED)
_HELD = "file"


@dataclass(frozen=True, slots=True)
class Uploads:
    """`folder` is absolute and resolved."""

    folder: Path

    def place(self, caller: str, name: str) -> Path:
        """Where a caller's file of that name lies. `name` is a clean one."""
        return self.folder / hashlib.sha256(caller.encode()).hexdigest()[:16] / name

    def path(self, source: str) -> Path | None:
        """The uploaded file that a source is; None where it is another, or inside one."""
        path = path_of(source)
        if path is None or BETWEEN_SOURCES in source:
            return None
        return path if path.parent.parent == self.folder and not path.parent.name.startswith(".") else None

    def is_of(self, source: str, caller: str) -> bool:
        """Whether the caller has uploaded it, or the file that it lies in."""
        own = self.place(caller, "x").parent.as_uri() + "/"
        return source.startswith(own)


def add(index: Index, spooled: Path, place: Path, says: Mapping[str, Any]) -> IndexReport:
    """Move a file into its place and index it there; what was there before comes back where it cannot be indexed."""
    private_folder(place.parent)
    had, taken = place.exists(), False
    try:
        if had:
            _hold(place)
        side_files.write(place, says)
        spooled.replace(place)
        report = index.add(place)
        taken = all(file.state not in NOT_TAKEN for file in report.files if file.source == place.as_uri())
    finally:
        # Nothing here takes room on the disk: it may be full.
        if taken:
            _let_go(place, spooled)
        else:
            if not spooled.exists():
                place.replace(spooled)  # where another try finds it
            put_back(place)
            if not had:
                side_files.write(place, {})
    if had and not taken:
        index.add(place)  # so that nothing is told of it that is not so
    return report


def put_back(place: Path) -> None:
    """What was at a place before a file was moved there that did not come to be indexed, if that has been left so."""
    held = _held(place)
    file, said = held / _HELD, side_of(held / _HELD)
    if file.exists():
        place.unlink(missing_ok=True)
        if said.exists():  # otherwise this has been done, by one who came no further
            said.replace(side_of(place))
        file.replace(place)
        if not side_files.read(place):
            side_of(place).unlink(missing_ok=True)
    if held.exists():
        shutil.rmtree(held)


def retag(index: Index, place: Path, says: Mapping[str, Any]) -> None:
    """Say something else of a file that is indexed."""
    said = side_files.read(place)
    side_files.write(place, says)
    done = False
    try:
        index.add(place)
        done = True
    finally:
        if not done:
            side_files.write(place, said)


def remove(place: Path) -> None:
    """The file and what is said of it."""
    if _held(place).exists():
        shutil.rmtree(_held(place))
    side_files.write(place, {})
    place.unlink(missing_ok=True)


def _held(place: Path) -> Path:
    """The folder in which a file waits while another one is tried in its place. No name of an upload begins so."""
    return place.with_name(f".{place.name}.before")


def _hold(place: Path) -> None:
    """First what is said of the file, if only that nothing is; so that one is never there without the other."""
    held = _held(place)
    held.mkdir(mode=0o700)
    side = side_of(place)
    side_of(held / _HELD).write_bytes(side.read_bytes() if side.exists() else b"")
    place.replace(held / _HELD)


def _let_go(place: Path, spooled: Path) -> None:
    """In one step, then at leisure."""
    if _held(place).exists():
        gone = _held(place).rename(spooled.with_name(f"{spooled.name}.before"))
        shutil.rmtree(gone)
