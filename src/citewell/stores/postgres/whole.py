"""Versions with all that is stored of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from psycopg import Connection
from psycopg.rows import TupleRow

from citewell.stores.postgres.rows import to_indexed, to_record
from citewell.stores.postgres.schema import FOREVER
from citewell.stores.postgres.texts import possible
from citewell.stores.store import IndexedDocument, VersionKey

VERSIONS = """
    SELECT d.body, d.record, b.text, b.elements, b.replies
    FROM unnest(%s::text[], %s::bigint[]) AS k (document_id, number)
    JOIN documents d USING (document_id, number) JOIN bodies b ON b.id = d.body
    WHERE d.ended = %s ORDER BY document_id, number
"""
CHUNKS = "SELECT body, record FROM chunks WHERE body = ANY(%s) ORDER BY body, place"
ENTRIES = """
    SELECT e.body, e.record, e.vector, e.token_vectors, s.vector
    FROM entries e LEFT JOIN sparse_vectors s ON s.entry = e.key
    WHERE e.body = ANY(%s) ORDER BY e.body, e.place
"""


@dataclass(frozen=True, slots=True)
class Stored:
    """A version, and the number of its body."""

    body: int
    item: IndexedDocument


def fetch(connection: Connection, keys: Collection[VersionKey], dimensions: int) -> list[Stored]:
    """The versions of these keys as they stand now, in the order of their keys."""
    known = [key for key in keys if possible([key.document_id])]
    values = [[key.document_id for key in known], [key.number for key in known], FOREVER]
    rows = connection.execute(VERSIONS, values).fetchall()
    if not rows:
        return []
    bodies = [body for body, *_ in rows]
    chunks, entries = _by_body(connection, CHUNKS, bodies), _by_body(connection, ENTRIES, bodies)
    return [
        Stored(
            body,
            to_indexed(
                to_record(record),
                (text, elements, replies),
                chunks=[chunk for _, chunk in chunks.get(body, ())],
                entries=[(entry, *made) for _, entry, *made in entries.get(body, ())],
                dimensions=dimensions,
            ),
        )
        for body, record, text, elements, replies in rows
    ]


def _by_body(connection: Connection, query: str, bodies: list[int]) -> dict[int, list[TupleRow]]:
    found = connection.execute(query, [bodies], binary=True).fetchall()  # vectors are read so
    return {body: list(rows) for body, rows in groupby(found, key=itemgetter(0))}
