"""One whole state of a PostgreSQL store, and every question that can be asked of it: the `Reader` of the protocol."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache

from psycopg import Connection, sql
from psycopg.rows import TupleRow

from citewell.errors import IndexFormatError
from citewell.filters import FieldType
from citewell.models.embedder import Vectors
from citewell.models.sparse import SparseVector
from citewell.settings import Storage
from citewell.stores.postgres import conditions, legs, rights, states, vector_index
from citewell.stores.postgres.conditions import Condition
from citewell.stores.postgres.connection import Database
from citewell.stores.postgres.rows import to_chunk, to_record, with_text
from citewell.stores.postgres.states import State
from citewell.stores.postgres.texts import possible
from citewell.stores.store import Counts, Match, Scope
from citewell.types import Chunk, Document

MIN_SHARE = 0.05
"""Of all entries, up to which those in scope are compared: along the graph, one would pass twenty to find one."""

STILL_THERE = "SELECT EXISTS (SELECT FROM states WHERE number = %s)"
RIGHTS = "SELECT id FROM rights WHERE groups && %s::text[] ORDER BY id"
IN_SCOPE = {
    "documents": sql.SQL("SELECT count(*) FROM documents d WHERE {where}"),
    "chunks": sql.SQL("SELECT count(*) FROM chunks c JOIN documents d ON d.body = c.body WHERE {where}"),
    "entries": sql.SQL("SELECT count(*) FROM entries e JOIN documents d ON d.body = e.body WHERE {where}"),
}
CHUNKS = sql.SQL("""
    SELECT c.id, c.record FROM chunks c JOIN documents d ON d.body = c.body
    WHERE d.searchable AND c.id = ANY(%s::text[]) AND {where}
""")
DOCUMENT_CHUNKS = sql.SQL("""
    SELECT c.record FROM chunks c JOIN documents d ON d.body = c.body
    WHERE d.document_id = ANY(%s::text[]) AND {where} ORDER BY d.number, c.place
""")
DOCUMENTS = sql.SQL("SELECT d.record FROM documents d WHERE {where} ORDER BY d.source, d.document_id, d.number")
DOCUMENT = sql.SQL("""
    SELECT d.record, b.text, b.elements FROM documents d JOIN bodies b ON b.id = d.body
    WHERE d.document_id = ANY(%s::text[]) AND {where} ORDER BY d.number DESC LIMIT 1
""")
LOSSY = Condition(sql.SQL("d.lossy"))


class PostgresReader:
    """The rows of one state, each call in a short transaction of its own. Never changes, so threads may share it.

    The rows are kept for an hour after the commit that makes the state old; a call after that raises IndexFormatError.

    The planner (no engine's filtered search by an index may be trusted): count the entries in scope; at or below
    `storage.exact_up_to`, or where they are a small share of all, compare each of them; else search along the graph,
    check the number of results, and if they are too few compare each entry after all.
    """

    def __init__(self, database: Database, role: str | None, state: State, storage: Storage) -> None:
        self.state = state
        self._database, self._role, self._storage = database, role, storage
        self._rights_of = lru_cache(maxsize=1_000)(self._find_rights)
        self._in_scope = lru_cache(maxsize=1_000)(self._count)

    @property
    def fields(self) -> Mapping[str, FieldType]:
        return {name: column.type for name, column in self.state.fields.items()}

    def dense(self, vector: Vectors, k: int, scope: Scope) -> list[Match]:
        in_scope = self._in_scope("entries", scope)
        if k <= 0 or in_scope == 0:
            return []
        where = self._where("e", scope)
        index = vector_index.INDEXES[self._storage.quantise]
        with self._reading(scope) as connection:
            found = None
            many = in_scope > max(self._storage.exact_up_to, MIN_SHARE * self.state.entries)
            if many and vector_index.is_there(connection, index):
                found = legs.by_index(connection, index, vector, k, where, in_scope, self.state.entries)
            return legs.compared(connection, vector, k, where) if found is None else found

    def keyword(self, tokens: Sequence[str], k: int, scope: Scope) -> list[Match]:
        where = self._where("p", scope)
        with self._reading(scope) as connection:
            return legs.scored(connection, tokens, k, self.state, where)

    def sparse(self, query: SparseVector, k: int, scope: Scope) -> list[Match]:
        where = self._where("s", scope)
        with self._reading(scope) as connection:
            return legs.weighed(connection, query, k, where)

    def vectors(self, entry_ids: Collection[str], scope: Scope) -> dict[str, Vectors]:
        where = self._where("e", scope)
        with self._reading(scope) as connection:
            return legs.vectors(connection, entry_ids, where)

    def token_vectors(self, entry_ids: Collection[str], scope: Scope) -> dict[str, bytes]:
        where = self._where("e", scope)
        with self._reading(scope) as connection:
            return legs.token_vectors(connection, entry_ids, where)

    def chunks(self, chunk_ids: Collection[str], scope: Scope) -> dict[str, Chunk]:
        # A chunk's id names its version, so without a day any version will do.
        where = self._where("c", scope, any_version=True)
        rows = self._rows(scope, CHUNKS.format(where=where.text), [possible(chunk_ids), *where.values])
        return {chunk_id: to_chunk(record) for chunk_id, record in rows}

    def document_chunks(self, document_id: str, scope: Scope) -> list[Chunk]:
        where = self._where("c", scope)
        rows = self._rows(scope, DOCUMENT_CHUNKS.format(where=where.text), [possible([document_id]), *where.values])
        return [to_chunk(record) for (record,) in rows]

    def documents(self, scope: Scope) -> list[Document]:
        return self._list(scope, self._where("d", scope))

    def lossy(self, scope: Scope) -> list[Document]:
        return self._list(scope, conditions.all_of([LOSSY, self._where("d", scope)]))

    def document(self, document_id: str, scope: Scope) -> Document | None:
        where = self._where("d", scope)
        for record, text, elements in self._rows(
            scope, DOCUMENT.format(where=where.text), [possible([document_id]), *where.values]
        ):
            return with_text(to_record(record).document, text, elements)
        return None

    def counts(self, scope: Scope) -> Counts:
        return Counts(*(self._in_scope(table, scope) for table in IN_SCOPE))

    def _list(self, scope: Scope, where: Condition) -> list[Document]:
        rows = self._rows(scope, DOCUMENTS.format(where=where.text), list(where.values))
        return [to_record(record).document for (record,) in rows]

    def _count(self, table: str, scope: Scope) -> int:
        where = self._where(table[0], scope)
        ((number,),) = self._rows(scope, IN_SCOPE[table].format(where=where.text), list(where.values))
        return int(number)

    def _find_rights(self, groups: frozenset[str]) -> list[int]:
        rows = self._rows(Scope(groups), sql.SQL(RIGHTS), [possible(groups)])
        return [number for (number,) in rows]

    def _where(self, table: str, scope: Scope, *, any_version: bool = False) -> Condition:
        """What a scope leaves of the rows of a table in this state."""
        parts = [conditions.in_state(self.state.number)]
        if scope.on is not None or not any_version:
            parts.append(conditions.standing_on(scope.on))
        if scope.groups is not None:
            parts.append(conditions.with_rights(table, self._rights_of(scope.groups)))
        if scope.where is not None:
            parts.append(conditions.meets(scope.where, self.state.fields))
        return conditions.all_of(parts)

    def _rows(self, scope: Scope, query: sql.SQL | sql.Composed, values: list[object]) -> list[TupleRow]:
        with self._reading(scope) as connection:
            return connection.execute(query, values).fetchall()

    @contextmanager
    def _reading(self, scope: Scope) -> Iterator[Connection]:
        """A transaction bound to the scope's groups, on this state."""
        groups = None if scope.groups is None else possible(scope.groups)
        with self._database.reading() as connection:
            with connection.pipeline():
                states.hold(connection)
                rights.assume(connection, groups, self._role)
                there = connection.execute(STILL_THERE, [self.state.number])
            if there.fetchone() != (True,):
                raise IndexFormatError(
                    f"State {self.state.number} of {self._database.address.location} is older than an hour, and gone.",
                    remedy="Begin again with the newest state.",
                )
            yield connection
