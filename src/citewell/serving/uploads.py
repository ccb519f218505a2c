"""Where uploaded files lie: a folder for each who uploads, in it the files under their cleaned names.

Files are moved into their places when it is their turn to be indexed, and what was there is put back where that fails.
At no moment does a file lie in its place with what is said of another, so that no crash shows it to others' readers.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from citewell.errors import IndexingStopped
from citewell.index import Index
from citewell.loading import document_id
from citewell.serving import side_files
from citewell.serving.side_files import side_of
from citewell.serving.state import private_folder
from citewell.sources import path_of
from citewell.types import BETWEEN_SOURCES, FileState, IndexReport, Version

NOT_TAKEN = (FileState.FAILED, FileState.SKIPPED)
_HELD, _INDEXED = "file", "indexed"


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


@dataclass(frozen=True, slots=True)
class Arrival:
    """A file in the spool, the place where it is to lie, and what is said of it."""

    spooled: Path
    place: Path
    says: Mapping[str, Any]


def add(index: Index, arrivals: Sequence[Arrival]) -> IndexReport:
    """Move files into their places and index them there, together; what was at a place before comes back where its file
    cannot be indexed.

    Raises:
        what `Index.add` raises: the files that it has taken stay.
    """
    replacing = [arrival.place for arrival in arrivals if arrival.place.exists()]
    report: IndexReport | None = None
    try:
        for arrival in arrivals:
            _move_in(index, arrival)
        report = index.add(*(arrival.place for arrival in arrivals))
    except IndexingStopped as stopped:
        report = stopped.report
        raise
    finally:
        # Nothing here takes room on the disk: it may be full.
        left = {arrival.place for arrival in arrivals if not _is_taken(index, arrival, report)}
        for arrival in arrivals:
            if arrival.place in left:
                _move_out(arrival, has_before=arrival.place in replacing)
            else:
                _let_go(arrival.place)
    again = [place for place in replacing if place in left]
    if again:
        index.add(*again)  # so that nothing is told of it that is not so
    return report


def settle(index: Index, place: Path) -> None:
    """End what was cut off while a file was tried in its place: it stays where the index has it, else what was there
    before comes back."""
    shutil.rmtree(_gone(place), ignore_errors=True)
    if (_held(place) / _INDEXED).exists() and _has_come(index, place):
        _let_go(place)
    else:
        put_back(place)


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
    for folder in (_held(place), _gone(place)):
        if folder.exists():
            shutil.rmtree(folder)
    side_files.write(place, {})
    place.unlink(missing_ok=True)


def _held(place: Path) -> Path:
    """The folder in which a file waits while another one is tried in its place. No name of an upload begins so."""
    return place.with_name(f".{place.name}.before")


def _gone(place: Path) -> Path:
    """That folder when nothing in it is wanted any more."""
    return place.with_name(f".{place.name}.gone")


def _move_in(index: Index, arrival: Arrival) -> None:
    private_folder(arrival.place.parent)
    if arrival.place.exists():
        _hold(index, arrival.place)
    side_files.write(arrival.place, arrival.says)
    arrival.spooled.replace(arrival.place)


def _move_out(arrival: Arrival, *, has_before: bool) -> None:
    if not arrival.spooled.exists():
        arrival.place.replace(arrival.spooled)  # where another try finds it
    put_back(arrival.place)
    if not has_before:
        side_files.write(arrival.place, {})


def _is_taken(index: Index, arrival: Arrival, report: IndexReport | None) -> bool:
    """By the report; where there is none, by what the index has now."""
    place = arrival.place
    if report is not None:
        return all(file.state not in NOT_TAKEN for file in report.files if file.source == place.as_uri())
    return not arrival.spooled.exists() and _has_come(index, place)


def _has_come(index: Index, place: Path) -> bool:
    """Whether what lies there is in the index, which has another version or other rights than before it came there."""
    now, before = _indexed(index, place), _held(place) / _INDEXED
    if now is None or not place.exists() or (before.exists() and before.read_text(encoding="utf-8") == repr(now)):
        return False
    with place.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == now.content_hash


def _indexed(index: Index, place: Path) -> Version | None:
    document = document_id(place.as_uri())
    return index.current([document]).get(document)


def _hold(index: Index, place: Path) -> None:
    """First what is said of the file, if only that nothing is; so that one is never there without the other."""
    held = _held(place)
    held.mkdir(mode=0o700)
    (held / _INDEXED).write_text(repr(_indexed(index, place)), encoding="utf-8")
    side = side_of(place)
    side_of(held / _HELD).write_bytes(side.read_bytes() if side.exists() else b"")
    place.replace(held / _HELD)


def _let_go(place: Path) -> None:
    """What was there before, in one step, then at leisure."""
    if _held(place).exists():
        shutil.rmtree(_held(place).rename(_gone(place)))
