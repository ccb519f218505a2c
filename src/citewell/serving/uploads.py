"""Where uploaded files lie: a folder for each who uploads, in it the files under their cleaned names.

A file is moved into its place when it is its turn to be indexed, and what was there is put back where that fails.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from citewell.index import Index
from citewell.serving import side_files
from citewell.types import BETWEEN_SOURCES, FileState, IndexReport

NOT_TAKEN = (FileState.FAILED, FileState.SKIPPED)


@dataclass(frozen=True, slots=True)
class Uploads:
    """`folder` is absolute and resolved."""

    folder: Path

    def place(self, caller: str, name: str) -> Path:
        """Where a caller's file of that name lies. `name` is a clean one."""
        return self.folder / hashlib.sha256(caller.encode()).hexdigest()[:16] / name

    def path(self, source: str) -> Path | None:
        """The uploaded file that a source is; None where it is another, or inside one."""
        parts = urlsplit(source)
        if parts.scheme != "file" or BETWEEN_SOURCES in source:
            return None
        path = Path(unquote(parts.path))
        return path if path.parent.parent == self.folder and not path.parent.name.startswith(".") else None

    def is_of(self, source: str, caller: str) -> bool:
        """Whether the caller has uploaded it, or the file that it lies in."""
        own = self.place(caller, "x").parent.as_uri() + "/"
        return source.startswith(own)


def add(index: Index, spooled: Path, place: Path, says: Mapping[str, Any]) -> IndexReport:
    """Move a file into its place and index it there; what was there before comes back where it cannot be indexed."""
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    held = spooled.with_name(spooled.name + ".before")
    had, said = place.exists(), side_files.read(place)
    if had:
        place.replace(held)
    taken = False
    try:
        spooled.replace(place)
        side_files.write(place, says)
        report = index.add(place)
        taken = all(file.state not in NOT_TAKEN for file in report.files if file.source == place.as_uri())
    finally:
        if not taken:
            if place.exists():
                place.replace(spooled)  # where another try finds it
            side_files.write(place, said if had else {})
            if had:
                held.replace(place)
    if had and not taken:
        index.add(place)  # so that nothing is told of it that is not so
    return report


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
    side_files.write(place, {})
    place.unlink(missing_ok=True)
