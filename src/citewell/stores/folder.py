"""An index in a folder: a pointer file, a lock, and a folder for each generation.

index.json          the pointer: replaced in one step, it is what makes a generation the index
writer.lock         held by who writes, in any generation; writer.json names him
generations/1/      a Lance store
unfinished          a mark: the index is being made, or who made it died; nothing was committed yet
"""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from citewell import clock
from citewell.complaints import explained
from citewell.errors import IndexFormatError, IndexNotFound, PathError
from citewell.settings import Storage
from citewell.stores import files, manifest
from citewell.stores.beside.beside import VectorsBeside
from citewell.stores.beside.engines import with_engine
from citewell.stores.home import FORMAT, Pointer
from citewell.stores.lance import LanceStore
from citewell.stores.lock import HOLDER, LOCK, WriterLock
from citewell.stores.store import MadeWith, Store

POINTER = "index.json"
GENERATIONS = "generations"
UNFINISHED = "unfinished"
# What an index of format 1 or 2 had where the pointer is now.
OLD_MANIFEST = "manifest.json"
OLD_FORMATS = (1, 2)

_NUMBER = re.compile("[1-9][0-9]{0,8}")
_SHAPE = TypeAdapter(Pointer)


class FolderHome:
    """A `Home` in a directory."""

    def __init__(self, path: Path, storage: Storage) -> None:
        self._path = path
        self._storage = storage
        self._lock = WriterLock(path)
        self._stores: dict[int, Store] = {}
        self._opening = threading.Lock()
        self._read: tuple[files.Signature, Pointer] | None = None

    @property
    def location(self) -> str:
        return str(self._path)

    def create(self, made_with: MadeWith) -> None:
        """See `Home.create`. What a creation that died has left is removed."""
        files.make_folder(self._path)
        with self._lock:
            _make_room(self._path)
            self.build(1, made_with)
            self.switch(Pointer(current=1, created=clock.now().isoformat(timespec="seconds")))
            self._finish_creation()

    def pointer(self) -> Pointer:
        """See `Home.pointer`."""
        path = self._path / POINTER
        try:
            # Taken first: a pointer that changes in between is then read once more, never missed.
            signature = files.signature(path)
            if self._read is None or self._read[0] != signature:
                self._read = signature, _parsed(path, files.read(path))
        except IndexNotFound:
            _refuse_old_format(self._path)
            raise
        return self._read[1]

    def generations(self) -> list[int]:
        """See `Home.generations`."""
        folder = self._path / GENERATIONS
        try:
            with os.scandir(folder) as entries:
                return sorted(
                    int(entry.name)
                    for entry in entries
                    if _NUMBER.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
                )
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise files.unreadable(folder, error) from None

    def open(self, generation: int) -> Store:
        """See `Home.open`.

        Raises:
            IndexFormatError: it is not there, or damaged.
            PermissionRefused: it may not be read.
        """
        with self._opening:
            # Another process may have removed it, and made one of that number anew.
            if generation not in self._stores or not (self._folder(generation) / manifest.FILE).exists():
                self._stores[generation] = self._opened(generation)
            return self._stores[generation]

    def build(self, generation: int, made_with: MadeWith) -> Store:
        """See `Home.build`."""
        self.drop(generation)
        LanceStore.create(self._folder(generation), made_with, self._storage).close()
        return self.open(generation)

    def drop(self, generation: int) -> None:
        """See `Home.drop`."""
        folder = self._folder(generation)
        if (self._path / POINTER).exists() and generation in (self.pointer().current, self.pointer().previous):
            raise ValueError(f"generation {generation} is in use")
        self._let_go(generation)
        try:
            # The manifest first: what is half removed is then no store that could be opened.
            (folder / manifest.FILE).unlink(missing_ok=True)
            if folder.exists():
                shutil.rmtree(folder)
        except OSError as error:
            raise files.meaning(error, folder) from None

    @contextmanager
    def writing(self) -> Iterator[None]:
        """See `Home.writing`."""
        with self._lock:
            self._finish_creation()
            yield

    def switch(self, pointer: Pointer) -> None:
        """See `Home.switch`.

        Raises:
            RuntimeError: called outside `writing`.
            DiskFull, PermissionRefused: the file system refuses; the pointer is what it was.
        """
        if self._lock.depth == 0:
            raise RuntimeError("an index may only be switched inside `with home.writing()`")
        files.replace(self._path / POINTER, _SHAPE.dump_json(pointer, indent=1))

    def bytes_on_disk(self, generation: int | None = None) -> int:
        """See `Home.bytes_on_disk`."""
        folder = self._path if generation is None else self._folder(generation)
        names = (Path(parent, name) for parent, _, names in os.walk(folder) for name in names)
        return sum(map(files.size, names))

    def close(self) -> None:
        for store in self._stores.values():
            store.close()
        self._stores.clear()

    def _folder(self, generation: int) -> Path:
        return self._path / GENERATIONS / str(generation)

    def _opened(self, generation: int) -> Store:
        folder = self._folder(generation)
        try:
            base = LanceStore.open(folder, self._storage)
        except IndexNotFound:
            missing = "its manifest is missing" if folder.exists() else "it is not there"
            raise files.damaged(folder, missing) from None
        return with_engine(base, self._storage, folder)

    def _let_go(self, generation: int) -> None:
        """Close a generation's store, and empty the engine beside it, which may keep its vectors on a server."""
        with self._opening:
            store = self._stores.pop(generation, None)
        if (
            store is None
            and self._storage.vectors != "built-in"
            and (self._folder(generation) / manifest.FILE).exists()
        ):
            store = self._opened(generation)
        if isinstance(store, VectorsBeside):
            store.discard()
        if store is not None:
            store.close()

    def _finish_creation(self) -> None:
        """Remove the mark, before anything is committed: with it, what is there could be taken for leftovers."""
        mark = self._path / UNFINISHED
        if mark.exists() and (self._path / POINTER).exists():
            try:
                mark.unlink()
                files.sync_folder(self._path)
            except OSError as error:
                raise files.meaning(error, self._path) from None


def _make_room(path: Path) -> None:
    """Refuse a directory with anything in it but what a creation that died has left, and remove that.

    Its mark is written before anything else, and removed when the pointer is there: without the mark, a generation is
    somebody's, if only of an index whose pointer was lost.
    """
    if (path / POINTER).exists():
        raise PathError(f"There is an index in {path} already.", remedy="Open it, or give another path.")
    foreign = {entry.name for entry in path.iterdir()} - {LOCK, HOLDER, UNFINISHED}
    if (path / UNFINISHED).exists():
        foreign -= {GENERATIONS, POINTER + files.UNSAVED}
    if foreign:
        raise PathError(
            f"{path} is not empty and holds no index ({', '.join(sorted(foreign)[:3])}).",
            remedy=f"Give a new or empty directory; if this was an index, its {POINTER} is missing: restore that.",
        )
    try:
        (path / UNFINISHED).touch()
        if (path / GENERATIONS).exists():
            shutil.rmtree(path / GENERATIONS)
    except OSError as error:
        raise files.meaning(error, path) from None


def _parsed(path: Path, text: bytes) -> Pointer:
    found = _format_of(text)
    if found is None:
        raise files.damaged(path, "it is not a JSON object with a format number")
    if found != FORMAT:
        raise _other_format(path, found)
    try:
        pointer = _SHAPE.validate_json(text)
    except ValidationError as error:
        raise files.damaged(path, explained(error)) from None
    named = [number for number in (pointer.current, pointer.previous) if number is not None]
    if min(named) < 1 or len(set(named)) < len(named):
        raise files.damaged(path, f"it names the generations {pointer.current} and {pointer.previous}")
    return pointer


def _format_of(text: bytes) -> int | None:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    found = record.get("format") if isinstance(record, dict) else None
    return found if type(found) is int else None


def _refuse_old_format(directory: Path) -> None:
    """Other programs have a manifest.json, too: ours has a format number."""
    path = directory / OLD_MANIFEST
    try:
        found = _format_of(files.read(path))
    except IndexNotFound:
        return
    if found in OLD_FORMATS:
        raise _other_format(path, found) from None


def _other_format(path: Path, found: int) -> IndexFormatError:
    return IndexFormatError(
        f"{path} has format {found}; this version of Citewell reads format {FORMAT}.",
        remedy="Open it with the version that made it, or index the documents again into a new directory.",
    )
