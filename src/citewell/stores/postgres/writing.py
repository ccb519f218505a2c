"""Writing a commit, in one transaction, and what is done at the end of a run.

Nothing here changes a row that a reader may see: rows come with the next state, and end with it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta

import numpy as np
from psycopg import Connection, sql

from citewell import clock
from citewell.filters import FieldType
from citewell.models.embedder import Embedded
from citewell.settings import Storage
from citewell.stores.postgres import rows, states, vector_index, whole
from citewell.stores.postgres.rows import Row
from citewell.stores.postgres.schema import FOREVER
from citewell.stores.postgres.texts import fingerprint
from citewell.stores.store import REPLIES_KEPT, IndexedDocument, VersionKey
from citewell.types import Rights

KEPT = timedelta(hours=1)
"""For which rows that ended are kept: a reader may be in the middle of an answer that uses them."""

MIN_ENTRIES_ANALYSED = 1_000
CHANGED_SHARE = 0.2
"""Of the entries counted by the planner's statistics, until they are made anew."""

END = """
    UPDATE documents d SET ended = %s FROM unnest(%s::text[], %s::bigint[]) AS k (document_id, number)
    WHERE d.document_id = k.document_id AND d.number = k.number AND d.ended = %s
    RETURNING d.searchable, d.entries, d.tokens
"""
NEXT_STATE = "INSERT INTO states (number, entries, tokens) VALUES (%s, %s, %s)"
NUMBERS = "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)"
KNOWN_RIGHTS = "SELECT digest, id FROM rights WHERE digest = ANY(%s)"
NEW_RIGHTS = "INSERT INTO rights (digest, groups) VALUES (%s, %s) RETURNING id"
COPY = sql.SQL("COPY {table} ({columns}) FROM STDIN (FORMAT BINARY)")

IS_BOUND = "SELECT row_security_active(%s::text::regclass)"
MAKE_ASIDE = sql.SQL("CREATE TEMPORARY TABLE {aside} (LIKE {table} INCLUDING DEFAULTS) ON COMMIT DROP")
COPY_ASIDE = sql.SQL("COPY {aside} ({columns}) FROM STDIN (FORMAT BINARY)")
FROM_ASIDE = sql.SQL("INSERT INTO {table} ({columns}) SELECT {columns} FROM {aside}")

ADD_COLUMN = sql.SQL("""
    ALTER TABLE documents ADD COLUMN {column} {type};
    ALTER TABLE documents ALTER COLUMN {column} SET STATISTICS 0
""")
COLUMN_TYPES = {
    FieldType.TEXT: sql.SQL('text COLLATE "C"'),
    FieldType.NUMBER: sql.SQL("double precision"),
    FieldType.DATE: sql.SQL("date"),
    FieldType.LIST: sql.SQL('text[] COLLATE "C"'),
}
DROP_COLUMN = sql.SQL("ALTER TABLE documents DROP COLUMN {column}")
NEW_FIELD = "INSERT INTO fields (name, type, place, began) VALUES (%s, %s, %s, %s)"
END_FIELDS = "UPDATE fields SET ended = %s WHERE name = ANY(%s) AND ended = %s"

STASH = "INSERT INTO stash (text_hash, vector, token_vectors, sparse) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING"
IS_STASHED = "SELECT EXISTS (SELECT FROM stash)"
EMPTY_STASH = "TRUNCATE stash"
STASH_REPLY = """
    INSERT INTO stashed_replies (asked, reply) VALUES (%s, %s)
    ON CONFLICT (asked) DO UPDATE SET reply = excluded.reply
"""
DATE_REPLIES = "UPDATE generation SET replies_stashed_at = %s"
# Not by the question alone: a version put once more may have an older reply to it.
FORGET_REPLIES = """
    DELETE FROM stashed_replies s USING unnest(%s::text[], %s::text[]) AS k (asked, reply)
    WHERE s.asked = k.asked AND s.reply = k.reply
"""
ARE_REPLIES_LATE = "SELECT replies_stashed_at < %s AND EXISTS (SELECT FROM stashed_replies) FROM generation"
EMPTY_REPLIES = "TRUNCATE stashed_replies"

OLD_ENOUGH = "SELECT max(number) FROM states WHERE committed_at <= clock_timestamp() - %s"
FORGET_STATES = "DELETE FROM states WHERE number < %s"
FORGET_FIELDS = "DELETE FROM fields WHERE ended <= %s RETURNING place"
FORGET_DOCUMENTS = "DELETE FROM documents WHERE ended <= %s RETURNING body"
IN_USE = "SELECT body FROM documents WHERE body = ANY(%s)"
FORGET_BODIES = (
    "DELETE FROM bodies WHERE id = ANY(%s)",
    "DELETE FROM chunks WHERE body = ANY(%s)",
    "DELETE FROM entries WHERE body = ANY(%s)",
    "DELETE FROM postings WHERE body = ANY(%s)",
    "DELETE FROM sparse_vectors WHERE body = ANY(%s)",
)
FORGET_RIGHTS = """
    DELETE FROM rights r WHERE NOT EXISTS (SELECT FROM documents d WHERE d.rights = r.id)
        AND NOT EXISTS (SELECT FROM chunks c WHERE c.rights = r.id)
        AND NOT EXISTS (SELECT FROM entries e WHERE e.rights = r.id)
"""

# Into a new file, which TRUNCATE gives a table, with its indexes. VACUUM FULL would keep rows for old transactions.
REWRITE = sql.SQL("""
    CREATE TEMPORARY TABLE {kept} ON COMMIT DROP AS TABLE {table};
    TRUNCATE {table};
    INSERT INTO {table} SELECT * FROM {kept}
""")
ALL_TABLES = ("states", "fields", "rights", "documents", "bodies", "chunks", "entries", "postings", "sparse_vectors")

COUNTED = "SELECT reltuples FROM pg_class WHERE oid = 'entries'::regclass"
ANALYSE = "VACUUM (ANALYZE) rights, documents, bodies, chunks, entries, postings, sparse_vectors"


def commit(
    connection: Connection, put: Sequence[IndexedDocument], drop: Collection[VersionKey], dimensions: int
) -> None:
    """Make the next state: without the versions dropped, and with those put, in place of what has their keys."""
    with connection.transaction():
        before = states.newest(connection)
        number = before.number + 1
        stored = {each.item.key: each for each in whole.fetch(connection, [item.key for item in put], dimensions)}
        ended = _end(connection, {*drop, *(item.key for item in put)}, number)
        rights = _rights(connection, put)
        fresh = [item for item in put if item.key not in stored or not _same_body(stored[item.key].item, item)]
        bodies = {key: each.body for key, each in stored.items()}
        bodies |= dict(zip((item.key for item in fresh), _numbers(connection, "bodies", "id", len(fresh)), strict=True))
        _write_bodies(connection, fresh, bodies, rights)
        columns = {**rows.DOCUMENT_COLUMNS, **{c.name: rows.COPY_TYPES[c.type] for c in before.fields.values()}}
        lines = [
            rows.document_row(item, bodies[item.key], rights[item.document.rights], number, before.fields)
            for item in put
        ]
        _copy(connection, "documents", columns, lines)
        searchable = [item for item in put if item.standing.searchable]
        entries = before.entries - ended[0] + sum(len(item.entries) for item in searchable)
        tokens = before.tokens - ended[1] + sum(rows.length_of(item) for item in searchable)
        if replies := {(asked, json.dumps(reply)) for item in put for asked, reply in item.replies.items()}:
            connection.execute(FORGET_REPLIES, [list(each) for each in zip(*replies, strict=True)])
        connection.execute(NEXT_STATE, [number, entries, tokens])


def declare(connection: Connection, fields: Mapping[str, FieldType]) -> None:
    """Make the next state, in which these are the declared fields, where they are not so already."""
    with connection.transaction():
        before = states.newest(connection)
        number = before.number + 1
        gone = [name for name, column in before.fields.items() if fields.get(name) is not column.type]
        new = {name: kind for name, kind in fields.items() if name not in before.fields or name in gone}
        if not gone and not new:
            return
        connection.execute(END_FIELDS, [number, gone, FOREVER])
        for name, kind in new.items():
            column = f"f_{name}_{number}"
            connection.execute(ADD_COLUMN.format(column=sql.Identifier(column), type=COLUMN_TYPES[kind]))
            connection.execute(NEW_FIELD, [name, kind.value, column, number])
        connection.execute(NEXT_STATE, [number, before.entries, before.tokens])


def stash(connection: Connection, made: Mapping[str, Embedded]) -> None:
    """Keep vectors that belong to no stored document yet."""
    with connection.transaction():
        lines = [(name, one.vector, one.tokens, rows.unpacked(one.sparse)) for name, one in made.items()]
        connection.cursor().executemany(STASH, lines)


def stash_replies(connection: Connection, replies: Mapping[str, str]) -> None:
    """Keep replies that belong to no stored document yet, as JSON: a reply may hold what no column of text does."""
    with connection.transaction():
        connection.cursor().executemany(STASH_REPLY, [(asked, json.dumps(reply)) for asked, reply in replies.items()])
        connection.execute(DATE_REPLIES, [clock.now()])


def settle(connection: Connection, storage: Storage, dimensions: int) -> None:
    """End a run: forget what ended long ago, make the vector index where it is due, and tell the planner."""
    with connection.transaction():
        cutoff = connection.execute(OLD_ENOUGH, [KEPT]).fetchone()
        if cutoff is not None and cutoff[0] is not None:
            _forget(connection, cutoff[0])
        if connection.execute(IS_STASHED).fetchone() == (True,):
            connection.execute(EMPTY_STASH)
        if connection.execute(ARE_REPLIES_LATE, [clock.now() - REPLIES_KEPT]).fetchone() == (True,):
            connection.execute(EMPTY_REPLIES)
    entries = states.newest(connection).entries
    index = vector_index.INDEXES[storage.quantise]
    due = entries > storage.exact_up_to and dimensions <= index.most_dimensions
    if due and not vector_index.is_there(connection, index):
        vector_index.build(connection, index, dimensions)
    counted = connection.execute(COUNTED).fetchone()
    if counted is not None and abs(entries - max(counted[0], 0)) > max(MIN_ENTRIES_ANALYSED, CHANGED_SHARE * entries):
        connection.execute(ANALYSE)


def erase(connection: Connection, drop: Collection[VersionKey], dimensions: int) -> None:
    """Drop versions, forget all that ended, and write what is left into new files. The vector index is not made again.

    The server removes the old files when it commits, whatever becomes of us.
    """
    with connection.transaction():
        connection.execute("LOCK TABLE states IN ACCESS EXCLUSIVE MODE")  # waits for readers; see states.hold
        if drop:
            commit(connection, [], drop, dimensions)
        vector_index.drop(connection)
        _forget(connection, states.newest(connection).number)
        connection.execute(FORGET_RIGHTS)
        connection.execute(EMPTY_STASH)
        connection.execute(EMPTY_REPLIES)
        for table in ALL_TABLES:
            names = {"table": sql.Identifier(table), "kept": sql.Identifier(f"kept_{table}")}
            connection.execute(REWRITE.format(**names))


def _same_body(old: IndexedDocument, new: IndexedDocument) -> bool:
    """Whether a version only stands otherwise than before: then its parts stay where they are."""
    return (
        old.standing.searchable == new.standing.searchable
        and old.document.rights == new.document.rights
        and old.document.text == new.document.text
        and old.document.elements == new.document.elements
        and old.chunks == new.chunks
        and old.entries == new.entries
        and old.replies == new.replies
        and np.array_equal(old.vectors, new.vectors)
    )


def _end(connection: Connection, keys: Collection[VersionKey], number: int) -> tuple[int, int]:
    """End what is stored of these keys; how many searchable entries and tokens of them there were."""
    values = [number, [key.document_id for key in keys], [key.number for key in keys], FOREVER]
    ended = [row[1:] for row in connection.execute(END, values).fetchall() if row[0]]
    return sum(entries for entries, _ in ended), sum(tokens for _, tokens in ended)


def _write_bodies(
    connection: Connection,
    items: Sequence[IndexedDocument],
    bodies: Mapping[VersionKey, int],
    rights: Mapping[Rights, int],
) -> None:
    numbers = iter(_numbers(connection, "entries", "key", sum(len(item.entries) for item in items)))
    placed = [(item, bodies[item.key], [next(numbers) for _ in item.entries]) for item in items]
    lines = (rows.body_row(item, body, rights[item.document.rights]) for item, body, _ in placed)
    _copy(connection, "bodies", rows.BODY_COLUMNS, lines)
    lines = (row for item, body, _ in placed for row in rows.chunk_rows(item, body, rights))
    _copy(connection, "chunks", rows.CHUNK_COLUMNS, lines)
    lines = (row for item, body, keys in placed for row in rows.entry_rows(item, keys, body, rights))
    _copy(connection, "entries", rows.ENTRY_COLUMNS, lines)
    lines = (row for item, body, keys in placed for row in rows.posting_rows(item, keys, body, rights))
    _copy(connection, "postings", rows.POSTING_COLUMNS, lines)
    lines = (row for item, body, keys in placed for row in rows.sparse_rows(item, keys, body, rights))
    _copy(connection, "sparse_vectors", rows.SPARSE_COLUMNS, lines)


def _rights(connection: Connection, put: Sequence[IndexedDocument]) -> dict[Rights, int]:
    """The numbers of all sets of groups in a batch."""
    wanted = {item.document.rights for item in put}
    wanted |= {chunk.rights for item in put for chunk in item.chunks}
    wanted |= {each.entry.rights for item in put for each in item.entries}
    # No group holds a NUL, so no two sets are joined to one text; the empty set is not the set of the empty name.
    digests = {rights: fingerprint("\0".join(["", *sorted(rights.groups)])) for rights in wanted}
    known = dict(connection.execute(KNOWN_RIGHTS, [list(digests.values())]).fetchall())
    for rights, digest in digests.items():
        if digest not in known:
            ((known[digest],),) = connection.execute(NEW_RIGHTS, [digest, sorted(rights.groups)]).fetchall()
    return {rights: known[digest] for rights, digest in digests.items()}


def _numbers(connection: Connection, table: str, column: str, count: int) -> list[int]:
    return [number for (number,) in connection.execute(NUMBERS, [table, column, count])]


def _copy(connection: Connection, table: str, columns: Mapping[str, str], lines: Iterable[Row]) -> None:
    """Add rows. An owner who is bound by policies himself may not copy into his table, only insert."""
    names = {"table": sql.Identifier(table), "columns": sql.SQL(", ").join(map(sql.Identifier, columns))}
    bound = connection.execute(IS_BOUND, [table]).fetchone() == (True,)
    if bound:
        names["aside"] = sql.Identifier(f"fresh_{table}")
        connection.execute(MAKE_ASIDE.format(**names))
    with connection.cursor().copy((COPY_ASIDE if bound else COPY).format(**names)) as copy:
        copy.set_types(list(columns.values()))
        for line in lines:
            copy.write_row(line)
    if bound:
        connection.execute(FROM_ASIDE.format(**names))


def _forget(connection: Connection, cutoff: int) -> None:
    """Remove what is in no state from `cutoff` on, and the states before it."""
    connection.execute(FORGET_STATES, [cutoff])
    for (place,) in connection.execute(FORGET_FIELDS, [cutoff]).fetchall():
        connection.execute(DROP_COLUMN.format(column=sql.Identifier(place)))
    bodies = {body for (body,) in connection.execute(FORGET_DOCUMENTS, [cutoff])}
    bodies -= {body for (body,) in connection.execute(IN_USE, [list(bodies)])}
    for statement in FORGET_BODIES if bodies else ():
        connection.execute(statement, [list(bodies)])
