"""Where the server is, a small pool of connections to it, and what its refusals mean."""

from __future__ import annotations

import os
import re
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

import psycopg
from psycopg import Connection, IsolationLevel, errors, sql
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool

from citewell.errors import (
    CitewellError,
    DiskFull,
    IndexNotFound,
    PathError,
    PermissionRefused,
    ServiceRefused,
    ServiceUnreachable,
)
from citewell.stores.postgres import vectors

DEFAULT_SCHEMA = "citewell"

MAX_CONNECTIONS = 8
WAIT_S = 15
"""For a connection, new or of the pool."""

APPLICATION = "citewell {pid}@{host}"
"""How a connection is named at the server: who is refused as the second writer reads it there."""

SECRET = ("password", "sslpassword")

EXTENSION_SCHEMA = """
    SELECT n.nspname FROM pg_extension x JOIN pg_namespace n ON n.oid = x.extnamespace WHERE x.extname = 'vector'
"""


@dataclass(frozen=True, slots=True)
class Address:
    """`location` is the URL that a user gave, without its password; `schema` the index's."""

    location: str
    schema: str
    parameters: Mapping[str, Any] = field(repr=False)

    @staticmethod
    def parse(url: str) -> Address:
        """Read `postgresql://user@host:port/database?schema=NAME`; libpq's other parameters may be added.

        A password may be in the URL, in PGPASSWORD or in `.pgpass`.

        Raises:
            PathError: it is no such URL, or no name for a schema. The message does not hold the password.
        """
        parts = urlsplit(url)
        user, at, host = parts.netloc.rpartition("@")
        asked = dict(parse_qsl(parts.query, keep_blank_values=True))
        schema = asked.pop("schema", DEFAULT_SCHEMA)
        shown = {name: value for name, value in parse_qsl(parts.query) if name not in SECRET}
        location = _url(parts, user.partition(":")[0] + at + host, shown)
        # A generation's schema is named after its index: no index may have such a name.
        if not re.fullmatch(r"(?!pg_)[a-z_][a-z0-9_]{0,39}", schema) or re.search(r"_g\d+$", schema):
            raise PathError(
                f"{location} names the schema {schema!r}, which an index cannot have.",
                remedy="Take up to 40 small letters, digits and underscores; it may not end in _g and a number.",
            )
        try:
            parameters = conninfo_to_dict(_url(parts, parts.netloc, asked))
        except psycopg.Error:  # its message may quote the password
            raise PathError(
                f"{location} is not the URL of a PostgreSQL database.",
                remedy="Write postgresql://user@host:port/database?schema=NAME, and signs such as @ or % as %40, %25.",
            ) from None
        return Address(location, schema, parameters)


class Database:
    """Connections whose search path is one schema. Opened at the first use, and again after `close`."""

    def __init__(self, address: Address, schema: str) -> None:
        self.address, self.schema = address, schema
        name = APPLICATION.format(pid=os.getpid(), host=socket.gethostname())[:63]
        self._parameters = {"connect_timeout": WAIT_S, **address.parameters, "application_name": name}
        self._pool: ConnectionPool[Connection] | None = None
        self._opening = threading.Lock()

    def connect(self) -> Connection:
        """A connection of its own, outside the pool, that commits what is not in a `transaction()`.

        Raises:
            ServiceUnreachable, ServiceRefused: there is no server, or it lets nobody in under this name.
        """
        with translated(self.address):
            connection = psycopg.connect(**self._parameters, autocommit=True)
            self._prepare(connection)
        return connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A read-only transaction on one whole state of the tables; for a call, never for longer."""
        with translated(self.address), self._opened().connection(WAIT_S) as connection:
            yield connection

    def close(self) -> None:
        with self._opening:
            if self._pool is not None:
                self._pool.close()
                self._pool = None

    def _opened(self) -> ConnectionPool[Connection]:
        with self._opening:
            if self._pool is None:
                self.connect().close()  # says at once what is wrong; a pool would try on, and name no reason
                self._pool = ConnectionPool(
                    kwargs=self._parameters,
                    min_size=0,
                    max_size=MAX_CONNECTIONS,
                    open=True,
                    configure=self._prepare_for_reading,
                    check=ConnectionPool.check_connection,
                    name="citewell",
                )
            return self._pool

    def _prepare_for_reading(self, connection: Connection) -> None:
        self._prepare(connection)
        connection.commit()
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        connection.read_only = True

    def _prepare(self, connection: Connection) -> None:
        # Each statement is planned for its values: a plan for any scope is a bad one for most.
        connection.prepare_threshold = None
        connection.execute("SET jit TO off")  # compiling takes longer than any of these
        found = connection.execute(EXTENSION_SCHEMA).fetchone()
        path = [self.schema, found[0]] if found else [self.schema]
        connection.execute(sql.SQL("SET search_path TO {}").format(sql.SQL(", ").join(map(sql.Identifier, path))))
        vectors.register(connection)


@contextmanager
def translated(address: Address) -> Iterator[None]:
    """Raise our errors for the server's. Theirs are not shown with ours: their details quote rows."""
    try:
        yield
    except psycopg.Error as error:
        meaning = _meaning(error, address.location)
        if meaning is None:
            raise
        raise meaning from None


def _meaning(error: psycopg.Error, location: str) -> CitewellError | None:
    said = error.diag.message_primary or str(error).strip().partition("\n")[0]
    match error:
        case errors.InsufficientPrivilege() | errors.ReadOnlySqlTransaction():
            return PermissionRefused(
                f"{location}: the database refuses: {said}.",
                remedy="Use the database user who made the index, or let an administrator grant what is missing.",
            )
        case errors.UndefinedTable() | errors.InvalidSchemaName():
            return IndexNotFound(
                f"There is no index in {location}: {said}.",
                remedy="Check the database and the schema, or make one with `citewell index`.",
            )
        case errors.DiskFull():
            return DiskFull(
                f"{location}: the database server has no room to write.",
                remedy="Make room on the server. What was committed is all there.",
            )
        case psycopg.OperationalError() | psycopg.InterfaceError():
            return _no_connection(error, location, said)
    return None


def _no_connection(error: psycopg.Error, location: str, said: str) -> ServiceRefused | ServiceUnreachable:
    wants_password = error.pgconn is not None and error.pgconn.needs_password
    # The server's own words come with its FATAL; what the client library says of the network does not.
    if error.sqlstate is None and ("FATAL" in said or wants_password):
        return ServiceRefused(
            f"{location}: the database server lets nobody in: {said}.",
            remedy="Check user, password (PGPASSWORD or .pgpass) and database name, and the server's pg_hba.conf.",
        )
    return ServiceUnreachable(
        f"{location}: the database server cannot be reached, or the connection broke: {said}.",
        remedy="Check that it runs and that host and port are right, then try again. What was committed is all there.",
    )


def _url(parts: SplitResult, place: str, parameters: Mapping[str, str]) -> str:
    query = "?" + urlencode(parameters, safe="/") if parameters else ""
    return f"{parts.scheme}://{place}{parts.path}{query}"
