"""A generation of an index, in one schema of a PostgreSQL database: readers on any machine, one writer at a time.

A commit is a transaction, so a writer who dies, or whose connection is cut, leaves the state before. What `erase`
removes is in no file of the tables afterwards; the server's write-ahead log, replicas and backups are the server's.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime

from psycopg import Connection

from citewell.filters import FieldType
from citewell.models.embedder import Embedded
from citewell.settings import Storage
from citewell.stores.batch import check
from citewell.stores.postgres import ledger, rights, schema, states, whole, writing
from citewell.stores.postgres.connection import Address, Database, translated
from citewell.stores.postgres.lock import SchemaLock
from citewell.stores.postgres.reader import PostgresReader
from citewell.stores.store import IndexedDocument, LedgerLine, MadeWith, VersionKey
from citewell.types import Removed, Version


class PostgresStore:
    """A `Store` in a schema. Threads may share one."""

    erasing = None
    """See `Store.erasing`: here it is one transaction."""

    def __init__(self, address: Address, generation_schema: str, storage: Storage) -> None:
        """Open one that is there. Writes nothing.

        Raises:
            IndexNotFound: it is not there.
            IndexFormatError: another version made it; an older one's can be brought up to date.
            ServiceUnreachable, ServiceRefused, PermissionRefused: the server does not let us read it.
        """
        self._database = Database(address, generation_schema)
        self._storage = storage
        self._lock = SchemaLock(self._database)
        self._one_commit, self._one_opening = threading.Lock(), threading.Lock()
        self._newest: PostgresReader | None = None
        try:
            with self._database.reading() as connection:
                self._generation = schema.load(connection)
            self._generation.check(address.location)
        except BaseException:
            self._database.close()
            raise

    @property
    def made_with(self) -> MadeWith:
        return self._generation.made_with

    def reader(self) -> PostgresReader:
        """See `Store.reader`. Its rows are kept for an hour after the commit that makes it old."""
        with self._one_opening:
            with self._database.reading() as connection:
                states.hold(connection)
                state = states.newest(connection)
            if self._newest is None or self._newest.state.number != state.number:
                self._newest = PostgresReader(self._database, self._generation.reader, state, self._storage)
            return self._newest

    @contextmanager
    def writing(self) -> Iterator[None]:
        """See `Store.writing`. May be entered again by who holds it.

        The end removes what ended an hour ago, and makes the vector index where there are now entries enough.
        """
        with self._lock:
            yield
            if self._lock.depth == 1:
                with self._changing() as connection:
                    writing.settle(connection, self._storage, self._dimensions)

    def commit(self, put: Sequence[IndexedDocument], drop: Collection[VersionKey] = ()) -> None:
        """See `Store.commit`.

        Raises:
            ValueError: the batch is refused, whole; see `batch.check`.
            RuntimeError: called outside `writing`.
            ServiceUnreachable: the connection, and with it the lock, is lost. The state is that before, or after.
        """
        with self._changing() as connection:
            check(put, self._dimensions)
            writing.commit(connection, put, drop, self._dimensions)

    def stash(self, made: Mapping[str, Embedded]) -> None:
        """See `Store.stash`."""
        with self._changing() as connection:
            writing.stash(connection, made)

    def replies(self, document_ids: Collection[str]) -> dict[str, str]:
        """See `Store.replies`."""
        with self._reading_all() as connection:
            return ledger.replies(connection, document_ids)

    def stash_replies(self, replies: Mapping[str, str]) -> None:
        """See `Store.stash_replies`."""
        with self._changing() as connection:
            writing.stash_replies(connection, replies)

    def declare(self, fields: Mapping[str, FieldType]) -> None:
        """See `Store.declare`."""
        with self._changing() as connection:
            writing.declare(connection, fields)

    def analysed_by(self, version: str) -> None:
        """See `Store.analysed_by`."""
        with self._changing() as connection:
            self._generation = schema.analysed_by(connection, version)

    def erase(self, gone: Sequence[Removed] = ()) -> None:
        """See `Store.erase`. Waits for calls of readers under way; older readers than the newest must begin again."""
        drop = [VersionKey(one.document_id, number) for one in gone for number in one.versions]
        with self._changing() as connection:
            writing.erase(connection, drop, self._dimensions)

    def fetch(self, keys: Collection[VersionKey]) -> list[IndexedDocument]:
        """See `Store.fetch`."""
        with self._reading_all() as connection:
            return [each.item for each in whole.fetch(connection, keys, self._dimensions)]

    def ledger(self, roots: Collection[str] | None = None) -> dict[str, LedgerLine]:
        """See `Store.ledger`."""
        with self._reading_all() as connection:
            return ledger.ledger(connection, roots)

    def expired(self, on: date) -> dict[str, LedgerLine]:
        """See `Store.expired`."""
        with self._reading_all() as connection:
            return ledger.expired(connection, on)

    def ended_before(self, moment: datetime) -> list[VersionKey]:
        """See `Store.ended_before`."""
        with self._reading_all() as connection:
            return ledger.ended_before(connection, moment)

    def versions(self, document_ids: Collection[str] | None = None) -> list[Version]:
        """See `Store.versions`."""
        with self._reading_all() as connection:
            return ledger.versions(connection, document_ids)

    def embedded(self, text_hashes: Collection[str]) -> dict[str, Embedded]:
        """See `Store.embedded`."""
        with self._reading_all() as connection:
            return ledger.embedded(connection, text_hashes)

    def close(self) -> None:
        """Close the connections; a later call opens them again."""
        self._newest = None
        self._database.close()

    @property
    def _dimensions(self) -> int:
        return self.made_with.embedder.dimensions

    @contextmanager
    def _changing(self) -> Iterator[Connection]:
        """The connection that holds the lock, for one step at a time."""
        connection = self._lock.connection
        with self._one_commit, translated(self._database.address):
            yield connection

    @contextmanager
    def _reading_all(self) -> Iterator[Connection]:
        with self._database.reading() as connection:
            states.hold(connection)
            rights.assume(connection, None, self._generation.reader)
            yield connection
