"""The states of a store: each commit makes the next. What a reader of one needs to know of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from psycopg import Connection

from citewell.filters import FieldType
from citewell.stores.postgres.rows import Column

NEWEST = "SELECT number, entries, tokens FROM states ORDER BY number DESC LIMIT 1"
FIELDS = "SELECT name, type, place FROM fields WHERE began <= %s AND ended > %s ORDER BY name"


@dataclass(frozen=True, slots=True)
class State:
    """`entries` and `tokens` count those of all searchable versions. `fields` are the columns of declared fields."""

    number: int
    entries: int
    tokens: int
    fields: Mapping[str, Column]


def hold(connection: Connection) -> None:
    """To be called before a transaction's first query: erasing, which waits for this lock, then never happens between
    the moment whose rows are seen and their reading."""
    connection.execute("LOCK TABLE states IN ACCESS SHARE MODE")


def newest(connection: Connection) -> State:
    """The state that was committed last."""
    ((number, entries, tokens),) = connection.execute(NEWEST).fetchall()
    fields = connection.execute(FIELDS, [number, number]).fetchall()
    return State(number, entries, tokens, {name: Column(place, FieldType(kind)) for name, kind, place in fields})
