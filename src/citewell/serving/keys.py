"""API keys: 256 random bits, of which only a SHA-256 is kept. That is enough for a secret that nobody can guess."""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from citewell import clock
from citewell.errors import UnknownId, UsageError
from citewell.serving.caller import Caller, Scope
from citewell.serving.state import State
from citewell.types import Principal

PREFIX = "cw_"
BYTES = 32
MAX_NAME = 100

TABLE = """
CREATE TABLE IF NOT EXISTS keys (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, hash BLOB NOT NULL UNIQUE, scope TEXT NOT NULL, groups TEXT NOT NULL,
    created TEXT NOT NULL, expires TEXT, revoked TEXT
)
"""


@dataclass(frozen=True, slots=True)
class Key:
    """One key, without its secret. `expires` is the first day on which it no longer holds."""

    id: str
    name: str
    scope: Scope
    groups: frozenset[str]
    created: str
    expires: date | None
    revoked: str | None

    @property
    def holds(self) -> bool:
        return self.revoked is None and (self.expires is None or clock.today() < self.expires)

    @property
    def caller(self) -> Caller:
        """Who shows it. A second key of the same name is the same caller, so that keys can be changed."""
        name = f"key:{self.name}"
        return Caller(name, Principal(name, self.groups), self.scope.contained, self.id)


class Keys:
    """The keys of a service."""

    def __init__(self, state: State) -> None:
        self._file = state.file
        with self._file.writing() as database:
            database.execute(TABLE)

    def add(self, name: str, scope: Scope, groups: Iterable[str] = (), expires: date | None = None) -> tuple[Key, str]:
        """A new key, and the text to show, which is told this once.

        Raises:
            UsageError: the name is empty or too long, or the last day is over.
        """
        name = name.strip()
        if not name or len(name) > MAX_NAME or not name.isprintable():
            raise UsageError(f"{name[:50]!r} cannot name a key.", remedy=f"Use 1 to {MAX_NAME} printable signs.")
        if expires is not None and expires <= clock.today():
            raise UsageError(f"A key that expires on {expires} never holds.", remedy="Give a day to come.")
        token = PREFIX + secrets.token_urlsafe(BYTES)
        created = clock.now().isoformat(timespec="seconds")
        key = Key(secrets.token_hex(4), name, scope, frozenset(groups), created, expires, None)
        with self._file.writing() as database:
            database.execute(
                "INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, ?, NULL)",
                (
                    key.id,
                    key.name,
                    _hash(token),
                    key.scope,
                    json.dumps(sorted(key.groups)),
                    key.created,
                    expires.isoformat() if expires else None,
                ),
            )
        return key, token

    def every(self) -> tuple[Key, ...]:
        """All of them, also those that hold no more, the oldest first."""
        with self._file.reading() as database:
            return tuple(_key(row) for row in database.execute("SELECT * FROM keys ORDER BY created, rowid"))

    def revoke(self, key_id: str) -> Key:
        """It no longer holds, from the next request on, in every process.

        Raises:
            UnknownId: there is no such key.
        """
        with self._file.writing() as database:
            now = clock.now().isoformat(timespec="seconds")
            database.execute("UPDATE keys SET revoked = ? WHERE id = ? AND revoked IS NULL", (now, key_id))
            row = database.execute("SELECT * FROM keys WHERE id = ?", (key_id,)).fetchone()
        if row is None:
            raise UnknownId(f"There is no key {key_id!r}.", remedy="`citewell keys list` lists them.")
        return _key(row)

    def find(self, token: str) -> Key | None:
        """The key of this text, if it holds."""
        with self._file.reading() as database:
            row = database.execute("SELECT * FROM keys WHERE hash = ?", (_hash(token),)).fetchone()
        key = _key(row) if row is not None else None
        return key if key is not None and key.holds else None


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def _key(row: sqlite3.Row) -> Key:
    expires = date.fromisoformat(row["expires"]) if row["expires"] else None
    groups = frozenset(json.loads(row["groups"]))
    return Key(row["id"], row["name"], Scope(row["scope"]), groups, row["created"], expires, row["revoked"])
