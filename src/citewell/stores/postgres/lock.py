"""One writer at a time, on all machines: an advisory lock, which the server lets go when its holder's connection ends.

The lock belongs to a session, and what is written goes through that same connection: who lost the lock cannot write.
A pooler between (PgBouncer) must be in session mode.
"""

from __future__ import annotations

import hashlib
import re
import threading
from contextlib import closing, suppress

from psycopg import Connection, Error

from citewell.errors import IndexLocked, PermissionRefused
from citewell.stores.postgres import rights
from citewell.stores.postgres.connection import Database, translated

RELEASE = "SELECT pg_advisory_unlock(%s)"
TAKE = "SELECT pg_try_advisory_lock(%s)"
MAY_WRITE = """
    SELECT current_setting('transaction_read_only') = 'off' AND has_schema_privilege(n.oid, 'CREATE')
    FROM pg_namespace n WHERE n.nspname = %s
"""
HOLDER = """
    SELECT a.application_name, a.backend_start
    FROM pg_locks l JOIN pg_stat_activity a USING (pid)
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
        AND (l.classid::bigint << 32) | l.objid::bigint = %s
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


class SchemaLock:
    """A context manager that may be entered again while it is held, from any thread that shares the object.

    Entering raises IndexLocked where another holds it (the message names that process), and PermissionRefused where
    the schema may not be written to.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._key = int.from_bytes(hashlib.blake2b(database.schema.encode(), digest_size=8).digest(), signed=True)
        self._mutex = threading.Lock()
        self._depth = 0
        self._connection: Connection | None = None

    @property
    def depth(self) -> int:
        """How many times it is entered; 0 where this object does not hold it."""
        return self._depth

    @property
    def connection(self) -> Connection:
        """The one that holds the lock, and that all writing goes through.

        Raises:
            RuntimeError: the lock is not held.
        """
        if self._connection is None:
            raise RuntimeError("an index may only be changed inside `with ....writing()`")
        return self._connection

    def __enter__(self) -> SchemaLock:
        with self._mutex:
            if self._depth == 0:
                self._connection = self._take()
            self._depth += 1
        return self

    def __exit__(self, *exc_info: object) -> None:
        with self._mutex:
            self._depth -= 1
            if self._depth == 0:
                connection, self._connection = self.connection, None
                # A connection that is closed lets go of its lock only when the server notices; one that is lost, has.
                with closing(connection), suppress(Error):
                    connection.rollback()
                    connection.execute(RELEASE, [self._key])

    def _take(self) -> Connection:
        connection = self._database.connect()
        try:
            with translated(self._database.address):
                self._check(connection)
                connection.execute(rights.SAY_WHOLE)
        except BaseException:
            connection.close()
            raise
        return connection

    def _check(self, connection: Connection) -> None:
        location = self._database.address.location
        may_write = connection.execute(MAY_WRITE, [self._database.schema]).fetchone()
        if may_write is not None and not may_write[0]:
            raise PermissionRefused(
                f"{location} cannot be written to: the database lets its user only read.",
                remedy="Use the database user who made the index, on the primary server.",
            )
        if connection.execute(TAKE, [self._key]).fetchone() != (True,):
            raise IndexLocked(
                f"{location} is being written to by {_holder(connection, self._key)}.",
                remedy="Wait until it has finished, or stop it. Reading goes on meanwhile.",
            )


def _holder(connection: Connection, key: int) -> str:
    found = connection.execute(HOLDER, [key]).fetchone()
    named = re.fullmatch(r"citewell (\d+)@(.*)", found[0] or "") if found else None
    if found is None or named is None:  # it has just given it back, or may not be seen
        return "another process"
    return f"process {named[1]} on {named[2]}, since {found[1].isoformat(timespec='seconds')}"
