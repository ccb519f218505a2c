"""The embedded store: three Lance tables and a manifest in one directory, with many readers and one writer.

What may be found in the directory, and what happens then:

| a writer died ...                     | newest table versions  | a reader sees       | the next writer           |
|---------------------------------------|------------------------|---------------------|---------------------------|
| while creating the index              | any, and no manifest   | no index            | creates it anew           |
| after writing some or all tables      | ahead of the manifest  | the state before    | restores, then writes     |
| after switching the manifest          | the manifest's         | the state after     | writes                    |
| inside a run, between its commits     | the manifest's         | the last commit     | settles at its end        |
| while cleaning up                     | the manifest's         | the state after     | writes; cleans up later   |

No version that a manifest names can be cleaned up. Before the switch nothing is cleaned up at all, however old the
manifest's versions are. After it, cleaning follows a compaction only, when they are the newest (which Lance keeps) and
seconds old (the limit is an hour).

Lance must not be used in a forked process: start workers by `spawn`.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.errors import PathError
from citewell.models.embedder import ModelIdentity, Vectors
from citewell.stores import lance_writing, manifest
from citewell.stores.batch import check
from citewell.stores.lance_reader import LanceReader
from citewell.stores.lance_rows import TABLES, to_tables
from citewell.stores.lock import HOLDER, LOCK, WriterLock
from citewell.stores.manifest import Manifest
from citewell.stores.store import Counts, IndexedDocument, LedgerLine

if TYPE_CHECKING:
    from lancedb.db import DBConnection

FOLDER = "tables"
UNFINISHED = "unfinished"

EXACT_UP_TO = 5_000
"""Entries up to which there is no vector index, or it is not used. To compare 100,000 vectors of 384 dimensions one by
one takes about 120 ms, through the index 30 ms."""

INDEX_CACHE_BYTES = 512 * 2**20
METADATA_CACHE_BYTES = 128 * 2**20


class LanceStore:
    """A `Store` in a directory. Threads may share one; other processes may read, each by its own."""

    def __init__(self, path: Path, *, exact_up_to: int = EXACT_UP_TO) -> None:
        """Use `open` or `create`."""
        self._path = path
        self._exact_up_to = exact_up_to
        self._connection = _connect(path / FOLDER)
        self._lock = WriterLock(path)
        self._one_commit, self._one_opening = threading.Lock(), threading.Lock()
        self._newest: tuple[manifest.Signature, LanceReader] | None = None

    @classmethod
    def create(
        cls,
        path: Path,
        *,
        identity: ModelIdentity,
        canaries: Sequence[Sequence[float]],
        analyser: str,
        exact_up_to: int = EXACT_UP_TO,
    ) -> LanceStore:
        """Make an empty index in a directory, which is made too where it is missing.

        Raises:
            PathError: there is something already, an index or not.
            IndexLocked: another process is just making it.
            PermissionRefused: the directory cannot be made or written to.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
        except PermissionError:
            raise manifest.not_writable(path) from None
        except (FileExistsError, NotADirectoryError):
            raise PathError(f"{path} is not a directory.", remedy="Give another path for the index.") from None
        with WriterLock(path):
            _make_room(path)
            with lance_writing.durably(path / FOLDER):
                tables = lance_writing.create_tables(_connect(path / FOLDER), identity.dimensions)
                lance_writing.settle(tables, compacted=False, exact_up_to=exact_up_to)
            first = Manifest(
                created=datetime.now(UTC).isoformat(timespec="seconds"),
                embedder=identity,
                canaries=tuple(tuple(map(float, canary)) for canary in canaries),
                analyser=analyser,
                tables={name: table.version for name, table in tables.items()},
                counts=Counts(0, 0, 0),
            )
            manifest.save(path, first)
            (path / UNFINISHED).unlink()
        return cls(path, exact_up_to=exact_up_to)

    @classmethod
    def open(cls, path: Path, *, exact_up_to: int = EXACT_UP_TO) -> LanceStore:
        """Open an index. Writes nothing.

        Raises:
            IndexNotFound: there is none.
            IndexFormatError: another version made it, or it is damaged.
            PermissionRefused: it may not be read.
        """
        manifest.load(path)
        store = cls(path, exact_up_to=exact_up_to)
        store.reader()
        return store

    @property
    def manifest(self) -> Manifest:
        """That of the newest committed state."""
        return self.reader().manifest

    def reader(self) -> LanceReader:
        """See `Store.reader`. Its files are kept for an hour after the commit that makes it old.

        Raises:
            IndexNotFound, IndexFormatError, PermissionRefused: as `open`.
        """
        with self._one_opening:
            # The signature is taken first: a manifest that changes in between is then loaded once more, never missed.
            signature = manifest.signature(self._path)
            if self._newest is None or self._newest[0] != signature:
                opened = LanceReader(self._connection, manifest.load(self._path), self._exact_up_to)
                self._newest = signature, opened
            return self._newest[1]

    @contextmanager
    def writing(self) -> Iterator[None]:
        """See `Store.writing`. May be entered again by who holds it.

        Each commit inside is whole and durable, but leaves the indexes as they are; the end settles them. Until then
        everything is found all the same, only BM25 scores are a few per cent off, since the statistics do not yet
        count what came and went. A run that is cut short leaves that to the next; `manifest.settled` tells.
        """
        with self._lock:
            yield
            if self._lock.depth == 1 and not self.manifest.settled:
                self._switch([], (), settle=True)

    def commit(self, added: Sequence[IndexedDocument], removed: Collection[str] = ()) -> None:
        """See `Store.commit`.

        Raises:
            ValueError: the batch is refused, whole; see `batch.check`.
            RuntimeError: called outside `writing`.
        """
        if self._lock.depth == 0:
            raise RuntimeError("commit may only be called inside `with store.writing()`")
        check(added, self.manifest.embedder.dimensions)
        self._switch(added, removed, settle=False)

    def ledger(self) -> dict[str, LedgerLine]:
        """See `Store.ledger`."""
        return self.reader().ledger()

    def known_vectors(self, text_hashes: Collection[str]) -> dict[str, Vectors]:
        """See `Store.known_vectors`."""
        return self.reader().known_vectors(text_hashes)

    def close(self) -> None:
        """Let go of the files and caches."""
        self._newest = None

    def _switch(self, added: Sequence[IndexedDocument], removed: Collection[str], *, settle: bool) -> None:
        """Write the tables, then the manifest. The lock is held."""
        with self._one_commit:
            before = manifest.load(self._path)
            rows = to_tables(added, before.embedder.dimensions)
            with lance_writing.durably(self._path / FOLDER):
                tables = lance_writing.open_at(self._connection, before.tables)
                lance_writing.write(tables, rows, removed)
                compact = lance_writing.crowded(tables, in_run=not settle)
                if settle or compact:
                    lance_writing.settle(tables, compacted=compact, exact_up_to=self._exact_up_to)
            after = replace(
                before,
                tables={name: table.version for name, table in tables.items()},
                counts=Counts(*(tables[name].count_rows() for name in TABLES)),
                settled=settle or compact,
            )
            manifest.save(self._path, after)
            if compact:
                lance_writing.clean_up(tables)


def _make_room(path: Path) -> None:
    """Refuse a directory with anything in it but what a creation that died has left, and remove that.

    Its mark is written before anything else and removed when the manifest is there: without the mark, tables are
    somebody's, if only of an index whose manifest was lost.
    """
    if (path / manifest.FILE).exists():
        raise PathError(f"There is an index in {path} already.", remedy="Open it, or give another path.")
    foreign = {entry.name for entry in path.iterdir()} - {LOCK, HOLDER, UNFINISHED}
    if (path / UNFINISHED).exists():
        foreign -= {FOLDER, manifest.UNSAVED}
    if foreign:
        raise PathError(
            f"{path} is not empty and holds no index ({', '.join(sorted(foreign)[:3])}).",
            remedy="Give a new or empty directory; if this was an index, its manifest.json is missing: restore that.",
        )
    (path / UNFINISHED).touch()
    if (path / FOLDER).exists():
        shutil.rmtree(path / FOLDER)


def _connect(folder: Path) -> DBConnection:
    import lancedb

    session = lancedb.Session(index_cache_size_bytes=INDEX_CACHE_BYTES, metadata_cache_size_bytes=METADATA_CACHE_BYTES)
    return lancedb.connect(folder, session=session)
