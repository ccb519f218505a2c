"""An index in a PostgreSQL database: the schema NAME with its pointer, and each generation in NAME_g1, NAME_g2 ..."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime

from psycopg import Connection

from citewell.errors import IndexFormatError, IndexNotFound
from citewell.settings import Storage
from citewell.stores.home import Pointer
from citewell.stores.postgres import catalogue, schema
from citewell.stores.postgres.connection import Address, Database, translated
from citewell.stores.postgres.lock import SchemaLock
from citewell.stores.postgres.store import PostgresStore
from citewell.stores.store import MadeWith


class PostgresHome:
    """A `Home` in a database. See `Address.parse` for its URL."""

    def __init__(self, url: str, storage: Storage) -> None:
        """Connects to nothing yet.

        Raises:
            PathError: it is no URL of a database, or no name for a schema.
        """
        self._address = Address.parse(url)
        self._storage = storage
        self._database = Database(self._address, self._address.schema)
        self._lock = SchemaLock(self._database)
        self._mutex = threading.Lock()
        self._stores: dict[int, PostgresStore] = {}

    @property
    def location(self) -> str:
        return self._address.location

    def create(self, made_with: MadeWith) -> None:
        """See `Home.create`. A creation that is cut short leaves nothing."""
        with self._changing() as connection, connection.transaction():
            catalogue.make_room(connection, self._database)
            first = Pointer(current=1, created=datetime.now(UTC).isoformat(timespec="seconds"))
            catalogue.start(connection, self._database, first)
            catalogue.build(connection, self._address.schema, 1, made_with)

    def pointer(self) -> Pointer:
        """See `Home.pointer`."""
        with self._database.reading() as connection:
            return catalogue.pointer(connection, self.location)

    def generations(self) -> list[int]:
        with self._database.reading() as connection:
            return catalogue.generations(connection, self._address.schema)

    def open(self, generation: int) -> PostgresStore:
        """See `Home.open`.

        Raises:
            IndexFormatError: it is not there, or another version of Citewell made it.
        """
        with self._mutex:
            if generation not in self._stores:
                self._stores[generation] = self._opened(generation)
            return self._stores[generation]

    def build(self, generation: int, made_with: MadeWith) -> PostgresStore:
        """See `Home.build`."""
        self._let_go(generation)
        with self._changing() as connection, connection.transaction():
            self._refuse_pointed_at(connection, generation)
            catalogue.build(connection, self._address.schema, generation, made_with)
        return self.open(generation)

    def drop(self, generation: int) -> None:
        """See `Home.drop`."""
        self._let_go(generation)
        with self._changing() as connection, connection.transaction():
            self._refuse_pointed_at(connection, generation)
            catalogue.remove(connection, self._address.schema, generation)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """See `Home.writing`."""
        with self._lock:
            yield

    def switch(self, pointer: Pointer) -> None:
        """See `Home.switch`.

        Raises:
            RuntimeError: called outside `writing`.
        """
        connection = self._lock.connection
        with translated(self._address), connection.transaction():
            catalogue.point(connection, pointer)

    def outdated(self) -> list[int]:
        """See `Upgradable.outdated`."""
        return [generation for generation in self.generations() if self._is_old(generation)]

    def upgrade(self) -> dict[int, list[int]]:
        """See `Upgradable.upgrade`."""
        taken = {}
        for generation in self.outdated():
            name = catalogue.schema_of(self._address.schema, generation)
            with SchemaLock(Database(self._address, name)) as lock, translated(self._address):
                if steps := schema.upgrade(lock.connection, name):
                    taken[generation] = steps
        return taken

    def bytes_on_disk(self, generation: int | None = None) -> int:
        """See `Home.bytes_on_disk`. Of all tables and their indexes."""
        index = self._address.schema
        with self._database.reading() as connection:
            wanted = catalogue.generations(connection, index) if generation is None else [generation]
            names = [catalogue.schema_of(index, number) for number in wanted]
            return catalogue.bytes_on_disk(connection, [index, *names] if generation is None else names)

    def close(self) -> None:
        for generation in list(self._stores):
            self._let_go(generation)
        self._database.close()

    def _opened(self, generation: int) -> PostgresStore:
        name = catalogue.schema_of(self._address.schema, generation)
        try:
            return PostgresStore(self._address, name, self._storage)
        except IndexNotFound:
            raise IndexFormatError(
                f"Generation {generation} of {self.location} is not there.",
                remedy="Restore it from a backup, or index the documents again into a new schema.",
            ) from None

    def _is_old(self, generation: int) -> bool:
        name = catalogue.schema_of(self._address.schema, generation)
        try:
            with closing(Database(self._address, name)) as database, database.reading() as connection:
                return schema.load(connection).version < len(schema.STEPS)
        except IndexNotFound:  # dropped meanwhile, or not ours
            return False

    @contextmanager
    def _changing(self) -> Iterator[Connection]:
        with self._lock as lock, translated(self._address):
            yield lock.connection

    def _refuse_pointed_at(self, connection: Connection, generation: int) -> None:
        pointer = catalogue.pointer(connection, self.location)
        if generation in (pointer.current, pointer.previous):
            raise ValueError(f"generation {generation} of {self.location} is in use")

    def _let_go(self, generation: int) -> None:
        with self._mutex:
            store = self._stores.pop(generation, None)
        if store is not None:
            store.close()
