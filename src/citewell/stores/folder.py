"""An index in a folder: a pointer file, a lock, and a folder for each generation.

index.json          the pointer: replaced in one step, it is what makes a generation the index
writer.lock         held by who writes, in any generation
generations/1/      a Lance store
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from citewell.errors import IndexFormatError, IndexNotFound, PathError
from citewell.settings import Storage
from citewell.stores import files
from citewell.stores.home import FORMAT, Pointer
from citewell.stores.lance import LanceStore
from citewell.stores.lock import HOLDER, LOCK, WriterLock
from citewell.stores.store import MadeWith, Store

POINTER = "index.json"
GENERATIONS = "generations"
UNFINISHED = "unfinished"
# What an index of format 1 or 2 had where the pointer is now.
OLD_MANIFEST = "manifest.json"

_SHAPE = TypeAdapter(Pointer)


class FolderHome:
    """A `Home` in a directory."""

    def __init__(self, path: Path, storage: Storage) -> None:
        self._path = path
        self._storage = storage
        self._lock = WriterLock(path)
        self._stores: dict[int, LanceStore] = {}
        self._opening = threading.Lock()

    @property
    def location(self) -> str:
        return str(self._path)

    def create(self, made_with: MadeWith) -> None:
        """See `Home.create`."""
        files.make_folder(self._path)
        with self._lock:
            self._make_room()
            self._stores[1] = LanceStore.create(self._folder(1), made_with, self._storage)
            self.switch(Pointer(current=1, created=datetime.now(UTC).isoformat(timespec="seconds")))
            (self._path / UNFINISHED).unlink()

    def pointer(self) -> Pointer:
        """See `Home.pointer`."""
        path = self._path / POINTER
        try:
            text = files.read(path)
        except IndexNotFound:
            if (self._path / OLD_MANIFEST).exists():
                raise _other_format(self._path / OLD_MANIFEST, "an older format") from None
            raise
        found = _format_of(text)
        if found is None:
            raise files.damaged(path, "it is not a JSON object with a format number")
        if found != FORMAT:
            raise _other_format(path, f"format {found}")
        try:
            return _SHAPE.validate_json(text)
        except ValidationError as error:
            raise files.damaged(path, files.complaint(error)) from None

    def generations(self) -> list[int]:
        """See `Home.generations`."""
        folder = self._path / GENERATIONS
        return sorted(int(each.name) for each in folder.iterdir() if each.name.isdecimal()) if folder.exists() else []

    def open(self, generation: int) -> Store:
        """See `Home.open`."""
        with self._opening:
            if generation not in self._stores:
                try:
                    self._stores[generation] = LanceStore.open(self._folder(generation), self._storage)
                except IndexNotFound:
                    raise files.damaged(self._folder(generation), "its manifest is missing") from None
            return self._stores[generation]

    def build(self, generation: int, made_with: MadeWith) -> Store:
        """See `Home.build`."""
        self.drop(generation)
        self._stores[generation] = LanceStore.create(self._folder(generation), made_with, self._storage)
        return self._stores[generation]

    def drop(self, generation: int) -> None:
        """See `Home.drop`."""
        if generation in (self.pointer().current, self.pointer().previous):
            raise ValueError(f"generation {generation} is in use")
        with self._opening:
            opened = self._stores.pop(generation, None)
        if opened is not None:
            opened.close()
        if self._folder(generation).exists():
            # The manifest first: what is half removed is then no store that could be opened.
            (self._folder(generation) / OLD_MANIFEST).unlink(missing_ok=True)
            shutil.rmtree(self._folder(generation))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """See `Home.writing`."""
        with self._lock:
            yield

    def switch(self, pointer: Pointer) -> None:
        """See `Home.switch`."""
        files.replace(self._path / POINTER, _SHAPE.dump_json(pointer, indent=1))

    def bytes_on_disk(self) -> int:
        return sum(file.stat().st_size for file in self._path.rglob("*") if file.is_file())

    def close(self) -> None:
        for store in self._stores.values():
            store.close()
        self._stores.clear()

    def _folder(self, generation: int) -> Path:
        return self._path / GENERATIONS / str(generation)

    def _make_room(self) -> None:
        """Refuse a directory with anything in it but what a creation that died has left, and remove that.

        Its mark is written before anything else and removed when the pointer is there: without the mark, a generation
        is somebody's, if only of an index whose pointer was lost.
        """
        if (self._path / POINTER).exists():
            raise PathError(f"There is an index in {self._path} already.", remedy="Open it, or give another path.")
        foreign = {entry.name for entry in self._path.iterdir()} - {LOCK, HOLDER, UNFINISHED}
        if (self._path / UNFINISHED).exists():
            foreign -= {GENERATIONS, POINTER + files.UNSAVED}
        if foreign:
            raise PathError(
                f"{self._path} is not empty and holds no index ({', '.join(sorted(foreign)[:3])}).",
                remedy="Give a new or empty directory; if this was an index, its index.json is missing: restore that.",
            )
        (self._path / UNFINISHED).touch()
        if (self._path / GENERATIONS).exists():
            shutil.rmtree(self._path / GENERATIONS)


def _format_of(text: bytes) -> int | None:
    try:
        record = json.loads(text)
    except ValueError:
        return None
    found = record.get("format") if isinstance(record, dict) else None
    return found if isinstance(found, int) else None


def _other_format(path: Path, found: str) -> IndexFormatError:
    return IndexFormatError(
        f"{path} has {found}; this version of Citewell reads format {FORMAT}.",
        remedy="Open it with the version that made it, or index the documents again into a new directory.",
    )
