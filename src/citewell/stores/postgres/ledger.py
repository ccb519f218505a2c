"""What the writer asks of the newest state: which versions there are, and which vectors."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import date, datetime

from psycopg import Connection, sql

from citewell.models.embedder import Embedded
from citewell.stores.postgres import conditions
from citewell.stores.postgres.conditions import Condition
from citewell.stores.postgres.rows import packed, to_ledger_line, to_record, to_version
from citewell.stores.postgres.schema import FOREVER
from citewell.stores.postgres.texts import possible
from citewell.stores.records import load_replies
from citewell.stores.store import LedgerLine, VersionKey
from citewell.types import Version

CURRENT = sql.SQL("SELECT d.document_id, d.record FROM documents d WHERE d.ended = %s AND d.current AND ({where})")
ALL_VERSIONS = """
    SELECT record FROM documents WHERE ended = %s AND (%s::text[] IS NULL OR document_id = ANY(%s))
    ORDER BY source, document_id, number
"""
ENDED_BEFORE = """
    SELECT document_id, number FROM documents WHERE ended = %s AND NOT searchable AND ended_at < %s
    ORDER BY document_id, number
"""
EMBEDDED = """
    SELECT text_hash, vector, token_vectors, sparse FROM stash WHERE text_hash = ANY(%s)
    UNION ALL
    SELECT DISTINCT ON (e.text_hash) e.text_hash, e.vector, e.token_vectors, s.vector
    FROM entries e JOIN documents d ON d.body = e.body LEFT JOIN sparse_vectors s ON s.entry = e.key
    WHERE e.searchable AND e.text_hash = ANY(%s) AND d.ended = %s
"""
REPLIES = """
    SELECT b.replies FROM documents d JOIN bodies b ON b.id = d.body
    WHERE d.ended = %s AND d.document_id = ANY(%s) AND b.replies <> '{}'
    ORDER BY d.number
"""
STASHED_REPLIES = "SELECT asked, reply FROM stashed_replies"


def ledger(connection: Connection, roots: Collection[str] | None) -> dict[str, LedgerLine]:
    return _current(connection, conditions.EVERYTHING if roots is None else conditions.below(roots))


def expired(connection: Connection, on: date) -> dict[str, LedgerLine]:
    return _current(connection, Condition(sql.SQL("d.expires <= %s"), (on,)))


def ended_before(connection: Connection, moment: datetime) -> list[VersionKey]:
    return [VersionKey(*row) for row in connection.execute(ENDED_BEFORE, [FOREVER, moment])]


def versions(connection: Connection, document_ids: Collection[str] | None) -> list[Version]:
    ids = None if document_ids is None else possible(document_ids)
    return [to_version(to_record(record)) for (record,) in connection.execute(ALL_VERSIONS, [FOREVER, ids, ids])]


def embedded(connection: Connection, text_hashes: Collection[str]) -> dict[str, Embedded]:
    wanted = possible(text_hashes)
    rows = connection.execute(EMBEDDED, [wanted, wanted, FOREVER], binary=True)  # vectors are read so
    return {text_hash: Embedded(vector, tokens, packed(sparse)) for text_hash, vector, tokens, sparse in rows}


def replies(connection: Connection, document_ids: Collection[str]) -> dict[str, str]:
    stashed = {asked: json.loads(reply) for asked, reply in connection.execute(STASHED_REPLIES)}
    texts = connection.execute(REPLIES, [FOREVER, possible(document_ids)])
    return {asked: reply for (text,) in texts for asked, reply in load_replies(text).items()} | stashed


def _current(connection: Connection, where: Condition) -> dict[str, LedgerLine]:
    rows = connection.execute(CURRENT.format(where=where.text), [FOREVER, *where.values])
    return {document_id: to_ledger_line(to_record(record)) for document_id, record in rows}
