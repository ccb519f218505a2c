"""The embedded store: three Lance tables and a manifest in one directory, with many readers and one writer.

What may be found in the directory, and what happens then:

| a writer died ...                     | newest table versions  | a reader sees       | the next writer           |
|---------------------------------------|------------------------|---------------------|---------------------------|
| while creating the index              | any, and no manifest   | no index            | creates it anew           |
| after writing some or all tables      | ahead of the manifest  | the state before    | restores, then writes     |
| after switching the manifest          | the manifest's         | the state after     | writes                    |
| inside a run, between its commits     | the manifest's         | the last commit     | settles at its end        |
| while cleaning up                     | the manifest's         | the state after     | writes; cleans up later   |
| while erasing, before the manifest    | ahead of the manifest  | the state before    | restores, then writes     |
| while erasing, after the manifest     | the manifest's         | the state after     | removes files, writes     |

No version that a manifest names can be cleaned up. Before the switch nothing is cleaned up at all, however old the
manifest's versions are. After it, cleaning follows a rewriting only, when they are the newest (which Lance keeps) and
seconds old (the limit is an hour).

Lance must not be used in a forked process: start workers by `spawn`.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from citewell import clock
from citewell.errors import IndexFormatError, PathError
from citewell.filters import FieldType
from citewell.settings import Storage
from citewell.stores import conditions, files, lance_errors, lance_indexes, lance_writing, manifest
from citewell.stores.batch import check
from citewell.stores.lance_reader import LanceReader
from citewell.stores.lance_rows import TABLES, to_tables, version_id
from citewell.stores.lock import WriterLock
from citewell.stores.manifest import Built, Manifest
from citewell.stores.newest import of_newest
from citewell.stores.records import pack_embedded, pack_reply, unpack_embedded, unpack_reply
from citewell.stores.stash import Stash
from citewell.stores.store import REPLIES_KEPT, Counts, IndexedDocument, LedgerLine, MadeWith, VersionKey
from citewell.types import Removed, Version

if TYPE_CHECKING:
    from lancedb.db import DBConnection

    from citewell.models.embedder import Embedded

FOLDER = "tables"
STASH, REPLIES = "stash", "replies"

INDEX_CACHE_BYTES = 512 * 2**20
METADATA_CACHE_BYTES = 128 * 2**20


class LanceStore:
    """A `Store` in a directory. Threads may share one; other processes may read, each by its own."""

    def __init__(self, path: Path, storage: Storage) -> None:
        """Use `open` or `create`."""
        self._path = path
        self._storage = storage
        self._connection = _connect(path / FOLDER)
        self._lock = WriterLock(path)
        self._one_commit, self._one_opening = threading.Lock(), threading.Lock()
        self._stash, self._stashed_replies = Stash(path / STASH), Stash(path / REPLIES)
        self._newest: tuple[files.Signature, LanceReader] | None = None

    @classmethod
    def create(cls, path: Path, made_with: MadeWith, storage: Storage) -> LanceStore:
        """Make an empty store in a directory, which is made too where it is missing.

        Raises:
            PathError: there is something already, an index or not.
            IndexLocked: another process is just making it.
            PermissionRefused: the directory cannot be made or written to.
        """
        files.make_folder(path)
        with WriterLock(path), lance_errors.writing(path):
            if (path / manifest.FILE).exists():
                raise PathError(f"There is an index in {path} already.", remedy="Open it, or give another path.")
            if (path / FOLDER).exists():
                shutil.rmtree(path / FOLDER)  # of a creation that died: it made no manifest
            with lance_writing.durably(path / FOLDER):
                tables = lance_writing.create_tables(_connect(path / FOLDER), made_with.embedder.dimensions)
                built = lance_indexes.settle(tables, Built(), storage)
            first = Manifest(
                made_with=made_with,
                state=uuid4().hex,
                tables={name: table.version for name, table in tables.items()},
                counts=Counts(0, 0, 0),
                built=built,
            )
            manifest.save(path, first)
        return cls(path, storage)

    @classmethod
    def open(cls, path: Path, storage: Storage) -> LanceStore:
        """Open an index. Writes nothing.

        Raises:
            IndexNotFound: there is none.
            IndexFormatError: another version made it, or it is damaged.
            PermissionRefused: it may not be read.
        """
        manifest.load(path)
        if not (path / FOLDER).is_dir():
            raise files.damaged(path / FOLDER, "the folder is missing")
        store = cls(path, storage)
        store.reader()
        return store

    @property
    def manifest(self) -> Manifest:
        """That of the newest committed state."""
        return self.reader().manifest

    @property
    def made_with(self) -> MadeWith:
        return self.manifest.made_with

    def reader(self) -> LanceReader:
        """See `Store.reader`. Its files are kept for an hour after the commit that makes it old.

        Raises:
            IndexNotFound, IndexFormatError, PermissionRefused: as `open`.
        """
        with self._one_opening:
            # The signature is taken first: a manifest that changes in between is then loaded once more, never missed.
            signature = manifest.signature(self._path)
            while self._newest is None or self._newest[0] != signature:
                try:
                    opened = LanceReader(self._connection, manifest.load(self._path), self._storage.exact_up_to)
                    self._newest = signature, opened
                except IndexFormatError:
                    tried, signature = signature, manifest.signature(self._path)
                    if tried == signature:
                        raise
            return self._newest[1]

    @contextmanager
    def writing(self) -> Iterator[None]:
        """See `Store.writing`. May be entered again by who holds it.

        Each commit inside is whole and durable, but leaves the indexes as they are; the end settles them. Until then
        everything is found all the same, only BM25 scores are a few per cent off, since the statistics do not yet
        count what came and went. A run that is cut short leaves that to the next; `manifest.settled` tells. How exact
        they are afterwards is said at `lance_indexes.KEYWORDS_EXACT_UP_TO`.
        """
        with self._lock:
            if self._lock.depth == 1:
                self._stash.read_again()
                self._stashed_replies.read_again()
                self._end_erasing()
            yield
            if self._lock.depth == 1:
                if not self.manifest.settled:
                    self._switch([], (), settle=True)
                self._stash.clear()
                self._stashed_replies.clear_before(clock.now() - REPLIES_KEPT)

    def commit(self, put: Sequence[IndexedDocument], drop: Collection[VersionKey] = ()) -> None:
        """See `Store.commit`.

        Raises:
            ValueError: the batch is refused, whole; see `batch.check`.
            RuntimeError: called outside `writing`.
        """
        self._require_writing()
        check(put, self.made_with.embedder.dimensions)
        self._switch(put, drop, settle=False)
        self._stash.forget({item.text_hash for indexed in put for item in indexed.entries})
        # Not by the question alone: a version put once more may have an older reply to it.
        stored = {(asked, pack_reply(reply)) for indexed in put for asked, reply in indexed.replies.items()}
        self._stashed_replies.forget(
            [asked for asked, reply in self._stashed_replies.everything().items() if (asked, reply) in stored]
        )

    def declare(self, fields: Mapping[str, FieldType]) -> None:
        """See `Store.declare`."""
        self._require_writing()
        if dict(fields) != dict(self.manifest.fields):
            self._switch([], (), settle=False, fields=fields)

    def analysed_by(self, version: str) -> None:
        """See `Store.analysed_by`."""
        self._require_writing()
        with self._one_commit, lance_errors.writing(self._path):
            before = manifest.load(self._path)
            manifest.save(self._path, replace(before, made_with=replace(before.made_with, analyser=version)))

    def erase(self, gone: Sequence[Removed] = ()) -> None:
        """See `Store.erase`. Needs room for all tables once more; where there is none, nothing is dropped."""
        self._require_writing()
        self._stash.clear()
        self._stashed_replies.clear()
        drop = [VersionKey(one.document_id, number) for one in gone for number in one.versions]
        self._switch([], drop, settle=True, erasing=tuple(gone))
        self._end_erasing()

    def fetch(self, keys: Collection[VersionKey]) -> list[IndexedDocument]:
        """See `Store.fetch`."""
        return of_newest(self.reader, lambda reader: reader.fetch(keys))

    def ledger(self, roots: Collection[str] | None = None) -> dict[str, LedgerLine]:
        """See `Store.ledger`."""
        return of_newest(self.reader, lambda reader: reader.ledger(roots))

    def expired(self, on: date) -> dict[str, LedgerLine]:
        """See `Store.expired`."""
        return of_newest(self.reader, lambda reader: reader.expired(on))

    def ended_before(self, moment: datetime) -> list[VersionKey]:
        """See `Store.ended_before`."""
        return of_newest(self.reader, lambda reader: reader.ended_before(moment))

    def versions(self, document_ids: Collection[str] | None = None) -> list[Version]:
        """See `Store.versions`."""
        return of_newest(self.reader, lambda reader: reader.versions(document_ids))

    def embedded(self, text_hashes: Collection[str]) -> dict[str, Embedded]:
        """See `Store.embedded`."""
        stashed = {text_hash: unpack_embedded(made) for text_hash, made in self._stash.find(text_hashes).items()}
        return stashed | self.reader().embedded(text_hashes)

    def stash(self, made: Mapping[str, Embedded]) -> None:
        """See `Store.stash`."""
        self._require_writing()
        self._stash.add({text_hash: pack_embedded(one) for text_hash, one in made.items()})

    def replies(self, document_ids: Collection[str]) -> dict[str, str]:
        """See `Store.replies`."""
        stashed = {asked: unpack_reply(reply) for asked, reply in self._stashed_replies.everything().items()}
        stored: dict[str, str] = of_newest(self.reader, lambda reader: reader.replies(document_ids))
        return stored | stashed

    def stash_replies(self, replies: Mapping[str, str]) -> None:
        """See `Store.stash_replies`."""
        self._require_writing()
        self._stashed_replies.add({asked: pack_reply(reply) for asked, reply in replies.items()})

    @property
    def erasing(self) -> tuple[Removed, ...] | None:
        """See `Store.erasing`."""
        return self.manifest.erasing

    @property
    def stashed(self) -> int:
        """How many vectors a run that was cut short has left to the next."""
        return len(self._stash.everything())

    @property
    def stashed_replies(self) -> int:
        """How many replies of a language model wait for their documents."""
        return len(self._stashed_replies.everything())

    def mend(self, strays: Mapping[str, Collection[str]], *, anew: bool) -> None:
        """Remove rows, by table and id, and build the indexes that are due; `anew` writes all tables and indexes once
        more and removes every older file. What a run that was cut short left to the next stays."""
        with self._lock:
            self._end_erasing()
            self._switch([], (), settle=True, erasing=() if anew else None, strays=strays)
            self._end_erasing()

    def close(self) -> None:
        """Let go of the files and caches."""
        self._newest = None

    def _require_writing(self) -> None:
        if self._lock.depth == 0:
            raise RuntimeError("a store may only be written to inside `with store.writing()`")

    def _is_newest(self) -> bool:
        """Whether the manifest names the newest version of each table: no writer has died since."""
        with self._one_commit, lance_errors.writing(self._path):
            named = manifest.load(self._path).tables
            return all(self._connection.open_table(name).version == version for name, version in named.items())

    def _switch(
        self,
        put: Sequence[IndexedDocument],
        drop: Collection[VersionKey],
        *,
        settle: bool,
        fields: Mapping[str, FieldType] | None = None,
        erasing: tuple[Removed, ...] | None = None,
        strays: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        """Write the tables, then the manifest. The lock is held.

        Where `erasing` is given, or waits, all tables are written anew, and the manifest is marked with it.
        """
        with self._one_commit, lance_errors.writing(self._path):
            before = manifest.load(self._path)
            declared = before.fields if fields is None else dict(fields)
            if before.erasing is not None:
                erasing = (*before.erasing, *(erasing or ()))
            rows = to_tables(put, before.made_with.embedder.dimensions, declared)
            with lance_writing.durably(self._path / FOLDER):
                tables = lance_writing.open_at(self._connection, before.tables)
                lance_writing.declare(tables, before.fields, declared)
                lance_writing.write(tables, rows, [version_id(key) for key in drop])
                for name, ids in (strays or {}).items():
                    tables[name].delete(conditions.one_of("id", ids))
                anew = erasing is not None
                rewritten = list(TABLES) if anew else lance_writing.crowded(tables, in_run=not settle)
                built = lance_indexes.rewrite(tables, rewritten, before.built)
                if settle or rewritten:
                    built = lance_indexes.settle(tables, built, self._storage)
                built, gone = lance_indexes.outlived(built)
            after = replace(
                before,
                fields=declared,
                state=uuid4().hex if put or drop or strays or fields is not None else before.state,
                tables={name: table.version for name, table in tables.items()},
                counts=Counts(*(tables[name].count_rows() for name in TABLES)),
                settled=settle or bool(rewritten),
                built=built,
                erasing=erasing,
            )
            manifest.save(self._path, after)
            lance_writing.remove(self._path / FOLDER, gone)
            if not anew:
                lance_writing.clean_up(tables[name] for name in rewritten)

    def _end_erasing(self) -> None:
        """Remove all files but those of the manifest's state, if it says that this is due. The lock is held."""
        if manifest.load(self._path).erasing is None:
            return
        if not self._is_newest():  # which the manifest's versions must be, or they would be removed
            self._switch([], (), settle=True)
        with self._one_commit, lance_errors.writing(self._path):
            marked = manifest.load(self._path)
            tables = lance_writing.open_at(self._connection, marked.tables)
            lance_writing.erase(tables)
            lance_writing.remove(self._path / FOLDER, marked.built.left)
            manifest.save(self._path, replace(marked, erasing=None, built=replace(marked.built, left={})))


def _connect(folder: Path) -> DBConnection:
    import lancedb

    session = lancedb.Session(index_cache_size_bytes=INDEX_CACHE_BYTES, metadata_cache_size_bytes=METADATA_CACHE_BYTES)
    return lancedb.connect(folder, session=session)
