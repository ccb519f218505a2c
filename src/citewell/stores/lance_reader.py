"""One whole state of a Lance index, and every question that can be asked of it: the `Reader` of the protocol."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from citewell.filters import FieldType
from citewell.models.sparse import PACKED, SparseVector
from citewell.stores import conditions, lance_errors, sparse_scores
from citewell.stores.lance_rows import (
    CHUNK_COLUMNS,
    CHUNKS,
    DOCUMENT_COLUMNS,
    DOCUMENTS,
    ENTRIES,
    ENTRY_COLUMNS,
    LEDGER_COLUMNS,
    SUMMARY_COLUMNS,
    TABLES,
    VERSION_COLUMNS,
    WHOLE_COLUMNS,
    Row,
    to_chunk,
    to_document,
    to_embedded,
    to_indexed,
    to_ledger_line,
    to_version,
    version_id,
)
from citewell.stores.lance_scopes import Compared, SmallScopes
from citewell.stores.records import load_replies
from citewell.stores.store import Counts, IndexedDocument, LedgerLine, Match, Scope, VersionKey
from citewell.types import Chunk, Document, Version

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.db import DBConnection
    from lancedb.table import Table

    from citewell.models.embedder import Embedded, Vectors
    from citewell.stores.manifest import Manifest

SPARE = 16
"""How many more than k are fetched at first, to see whether the cut at k goes through a tie."""

SPARSE_AT_ONCE = 8_192
"""Entries whose sparse vectors are in memory at the same time, some 10 MB."""

# What Unicode calls white space, where Lance splits. Python's `\s` has four separators more, from U+001C on.
WHITE_SPACE = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")

_NO_TERMS = np.empty(0, PACKED)

ALL_PARTITIONS = 1_000_000
PROBED = 32
"""Partitions of the vector index that are looked into where a scope leaves nothing out. Measured with 1,000,000
clustered vectors in 256 partitions: 16 had a recall of 1.0 already, also for queries between the clusters."""

CANDIDATES = {"none": 0, "int8": 100, "binary": 1_000}
"""How many are found by their short codes at least, and compared again by their whole vectors."""


class LanceReader:
    """The tables at the versions that a manifest names. Never changes, so threads may share it.

    The planner (no engine's filtered search by an index may be trusted): count the rows in scope; at or below
    `exact_up_to` compare each of them, from memory from the second time on; above, search by the vector index and
    compare the whole vectors of its candidates; check the number of results, and if it is short compare each row after
    all. Under a filter every partition of the index is probed: what is in scope may all lie far from the query, in the
    last of them. With 64 of 1,024 partitions such a scope of 1 % had a recall of 0.06, and no result was missing.
    """

    def __init__(self, connection: DBConnection, manifest: Manifest, exact_up_to: int) -> None:
        self.manifest = manifest
        self._exact_up_to = exact_up_to
        self._tables = {name: _pinned(connection, name, manifest.tables) for name in TABLES}
        self._place = str(connection.uri)
        self._in_scope = lru_cache(maxsize=1_000)(self._count)
        self._rows_of = lru_cache(maxsize=len(TABLES))(self._count_all)
        self._lossy_in_scope = lru_cache(maxsize=100)(self._lossy)
        self._small_scopes = SmallScopes(self._whole)

    @property
    def state(self) -> str:
        """Names what is stored: another at each commit and change of fields, never the same again."""
        return self.manifest.state

    @property
    def fields(self) -> Mapping[str, FieldType]:
        return self.manifest.fields

    @property
    def tables(self) -> Mapping[str, Table]:
        """Each table at the version of this state, only to be read."""
        return self._tables

    def dense(self, vector: Vectors, k: int, scope: Scope) -> list[Match]:
        in_scope = self._in_scope(ENTRIES, scope)
        exact = in_scope <= self._exact_up_to
        if exact and self._small_scopes.fits(in_scope, len(vector)):
            return self._small_scopes.get(scope).first(vector, k)

        def nearest(limit: int) -> list[Match]:
            found = self._nearest(vector, limit, scope, exact=exact)
            return found if len(found) == limit else self._nearest(vector, limit, scope, exact=True)

        return _first(k, in_scope, nearest)

    def keyword(self, tokens: Sequence[str], k: int, scope: Scope) -> list[Match]:
        # No stored token holds white space, so one that does matches nothing; joined in, it would match its parts.
        words = " ".join(token for token in tokens if token and not WHITE_SPACE.search(token))
        return _first(k, self._in_scope(ENTRIES, scope), lambda limit: self._best_scores(words, limit, scope))

    def sparse(self, query: SparseVector, k: int, scope: Scope) -> list[Match]:
        found: list[Match] = []
        if k <= 0 or not self.manifest.made_with.sparse:
            return found
        for rows in self._batches(ENTRIES, ["id", "chunk_id", "sparse"], self._filter(ENTRIES, scope)):
            scores = sparse_scores.dot_products(*_packed(rows["sparse"]), query)
            places = sparse_scores.highest(scores, k)
            named = rows.select(["id", "chunk_id"]).take(places).to_pylist()
            found += map(_match, named, scores[places])
        return sorted(found, key=_best_first)[:k]

    def vectors(self, entry_ids: Collection[str], scope: Scope) -> dict[str, Vectors]:
        rows = self._of_entries(entry_ids, "vector", scope)
        return dict(zip(map(str, rows["id"].to_pylist()), _matrix(rows), strict=True))

    def token_vectors(self, entry_ids: Collection[str], scope: Scope) -> dict[str, bytes]:
        rows = self._of_entries(entry_ids, "token_vectors", scope).to_pylist()
        return {row["id"]: row["token_vectors"] for row in rows if row["token_vectors"]}

    def embedded(self, text_hashes: Collection[str]) -> dict[str, Embedded]:
        columns = ["text_hash", "vector", "token_vectors", "sparse"]
        rows = self._rows(ENTRIES, columns, conditions.one_of("text_hash", text_hashes))
        return {row["text_hash"]: to_embedded(row) for row in rows}

    def chunks(self, chunk_ids: Collection[str], scope: Scope) -> dict[str, Chunk]:
        # A chunk's id names its version, so without a day any version will do.
        where = conditions.both(conditions.one_of("id", chunk_ids), self._readable(scope, any_version=True))
        return {row["id"]: to_chunk(row) for row in self._rows(CHUNKS, CHUNK_COLUMNS, where)}

    def document_chunks(self, document_id: str, scope: Scope) -> list[Chunk]:
        where = conditions.both(conditions.one_of("document_id", [document_id]), self._readable(scope))
        rows = self._rows(CHUNKS, CHUNK_COLUMNS, where)
        return [to_chunk(row) for row in sorted(rows, key=lambda row: int(row["place"]))]

    def documents(self, scope: Scope) -> list[Document]:
        rows = self._rows(DOCUMENTS, SUMMARY_COLUMNS, self._found(scope))
        return sorted(map(to_document, rows), key=lambda document: (document.source, document.id))

    def lossy(self, scope: Scope) -> list[Document]:
        return list(self._lossy_in_scope(scope))

    def document(self, document_id: str, scope: Scope) -> Document | None:
        where = conditions.both(conditions.one_of("document_id", [document_id]), self._found(scope))
        return next(map(to_document, self._rows(DOCUMENTS, DOCUMENT_COLUMNS, where)), None)

    def ledger(self, roots: Collection[str] | None) -> dict[str, LedgerLine]:
        where = conditions.CURRENT
        if roots is not None:
            where = conditions.both(conditions.under("source", roots), where)
        return {row["document_id"]: to_ledger_line(row) for row in self._rows(DOCUMENTS, LEDGER_COLUMNS, where)}

    def expired(self, on: date) -> dict[str, LedgerLine]:
        where = conditions.both(conditions.until("expires", on), conditions.CURRENT)
        return {row["document_id"]: to_ledger_line(row) for row in self._rows(DOCUMENTS, LEDGER_COLUMNS, where)}

    def ended_before(self, moment: datetime) -> list[VersionKey]:
        where = conditions.both(conditions.before("ended_at", moment), f"NOT {conditions.SEARCHABLE}")
        rows = self._rows(DOCUMENTS, ["document_id", "number"], where)
        return sorted(VersionKey(row["document_id"], row["number"]) for row in rows)

    def versions(self, document_ids: Collection[str] | None) -> list[Version]:
        where = None if document_ids is None else conditions.one_of("document_id", document_ids)
        found = map(to_version, self._rows(DOCUMENTS, VERSION_COLUMNS, where))
        return sorted(found, key=lambda version: (version.source, version.document_id, version.number))

    def fetch(self, keys: Collection[VersionKey]) -> list[IndexedDocument]:
        ids = {version_id(key) for key in keys}
        rows = self._rows(DOCUMENTS, [*WHOLE_COLUMNS, "id"], conditions.one_of("id", ids))
        searchable = {row["id"] for row in rows if row["searchable"]}
        of_them = conditions.one_of("version_id", searchable)
        chunks = _by_version(self._rows(CHUNKS, [*CHUNK_COLUMNS, "version_id"], of_them) if searchable else [])
        entries = _by_version(self._rows(ENTRIES, [*ENTRY_COLUMNS, "version_id"], of_them) if searchable else [])
        dimensions = self.manifest.made_with.embedder.dimensions
        found = [to_indexed(row, chunks.get(row["id"], ()), entries.get(row["id"], ()), dimensions) for row in rows]
        return sorted(found, key=lambda indexed: indexed.key)

    def replies(self, document_ids: Collection[str]) -> dict[str, str]:
        rows = list(self._rows(DOCUMENTS, ["number", "replies"], conditions.one_of("document_id", document_ids)))
        rows.sort(key=lambda row: row["number"])
        return {asked: reply for row in rows for asked, reply in load_replies(row["replies"]).items()}

    def counts(self, scope: Scope) -> Counts:
        return Counts(*(self._in_scope(name, scope) for name in TABLES))

    def _lossy(self, scope: Scope) -> tuple[Document, ...]:
        where = conditions.both(conditions.filled("lost"), self._found(scope))
        found = map(to_document, self._rows(DOCUMENTS, SUMMARY_COLUMNS, where))
        return tuple(sorted(found, key=lambda document: (document.source, document.id)))

    def _count(self, table: str, scope: Scope) -> int:
        where = self._found(scope) if table == DOCUMENTS else self._readable(scope)
        with lance_errors.reading(self._place):
            return self._tables[table].count_rows(where)

    def _count_all(self, table: str) -> int:
        with lance_errors.reading(self._place):
            return self._tables[table].count_rows()

    def _readable(self, scope: Scope, *, any_version: bool = False) -> str | None:
        return conditions.readable(scope, self.fields, any_version=any_version)

    def _found(self, scope: Scope) -> str:
        """The condition of a scope on documents, of which some rows are not searchable."""
        return conditions.both(conditions.SEARCHABLE, self._readable(scope))

    def _filter(self, table: str, scope: Scope) -> str | None:
        """The condition of a scope; None where, in this state, it would leave nothing out and only cost time."""
        everything = self._in_scope(table, scope) == self._rows_of(table)
        return None if everything else self._readable(scope)

    def _whole(self, scope: Scope) -> Compared:
        rows = self._table(ENTRIES, ["id", "chunk_id", "vector"], self._filter(ENTRIES, scope))
        return Compared(rows.select(["id", "chunk_id"]), _matrix(rows))

    def _nearest(self, vector: Vectors, limit: int, scope: Scope, *, exact: bool) -> list[Match]:
        query: Any = self._tables[ENTRIES].search(vector, vector_column_name="vector")
        query = query.distance_type("dot")
        if exact:
            query = query.bypass_vector_index()
        else:
            query = query.nprobes(PROBED if self._filter(ENTRIES, scope) is None else ALL_PARTITIONS)
            candidates = CANDIDATES.get(self.manifest.built.quantise, 0)
            if candidates:
                query = query.refine_factor(math.ceil(max(candidates, 4 * limit) / limit))
        return [_match(row, 1 - row["_distance"]) for row in self._ranked(query, "_distance", limit, scope)]

    def _best_scores(self, words: str, limit: int, scope: Scope) -> list[Match]:
        from lancedb.query import MatchQuery

        # A MatchQuery's text is only split at white space: it has no operators and no syntax to escape from.
        literals = MatchQuery(words, "tokens")  # type: ignore[call-arg]  # pydantic gives the rest their defaults
        query = self._tables[ENTRIES].search(literals)
        return [_match(row, row["_score"]) for row in self._ranked(query, "_score", limit, scope)]

    def _ranked(self, query: Any, score: str, limit: int, scope: Scope) -> list[Row]:
        where = self._filter(ENTRIES, scope)
        if where is not None:
            query = query.where(where, prefilter=True)
        with lance_errors.reading(self._place):
            lines: list[Row] = query.select(["id", "chunk_id", score]).limit(limit).to_arrow().to_pylist()
        return lines

    def _of_entries(self, entry_ids: Collection[str], column: str, scope: Scope) -> pa.Table:
        where = conditions.both(conditions.one_of("id", entry_ids), self._filter(ENTRIES, scope))
        return self._table(ENTRIES, ["id", column], where)

    def _rows(self, table: str, columns: list[str], where: str | None) -> Sequence[Row]:
        return self._table(table, columns, where).to_pylist()

    def _table(self, table: str, columns: list[str], where: str | None) -> pa.Table:
        with lance_errors.reading(self._place):
            found: pa.Table = self._select(table, columns, where).to_arrow()
        return found

    def _batches(self, table: str, columns: list[str], where: str | None) -> Iterator[pa.RecordBatch]:
        with lance_errors.reading(self._place):
            yield from self._select(table, columns, where).to_batches(batch_size=SPARSE_AT_ONCE)

    def _select(self, table: str, columns: list[str], where: str | None) -> Any:
        query = self._tables[table].search().select(columns)
        return query if where is None else query.where(where)


def _pinned(connection: DBConnection, name: str, versions: Mapping[str, int]) -> Table:
    try:
        table = connection.open_table(name)
        table.checkout(versions[name])
    except (KeyError, OSError, RuntimeError, TypeError, ValueError) as error:  # also what is no version's number
        what = f"The table {name} of {connection.uri} cannot be read at version {versions.get(name)}"
        raise lance_errors.damaged(what, error) from error
    return table


def _by_version(rows: Iterable[Row]) -> dict[str, list[Row]]:
    grouped: dict[str, list[Row]] = {}
    for row in rows:
        grouped.setdefault(row["version_id"], []).append(row)
    return grouped


def _matrix(rows: pa.Table) -> Vectors:
    """The vectors of all rows, as one array that is not copied."""
    vectors: Any = rows["vector"].combine_chunks()
    whole: Vectors = vectors.flatten().to_numpy().reshape(len(rows), vectors.type.list_size)
    return whole


def _packed(values: Any) -> tuple[NDArray[np.void], NDArray[np.int64]]:
    """The bytes of a column of sparse vectors, one value after the other, and the place where each ends, in terms."""
    _, offsets, contents = values.buffers()
    ends = np.frombuffer(offsets, np.int64)[values.offset : values.offset + len(values) + 1]
    whole = np.frombuffer(contents, PACKED, (ends[-1] - ends[0]) // PACKED.itemsize, ends[0]) if ends[-1] else _NO_TERMS
    return whole, (ends[1:] - ends[0]) // PACKED.itemsize


def _best_first(match: Match) -> tuple[float, str]:
    return -match.score, match.entry_id


def _match(row: Row, score: float) -> Match:
    return Match(entry_id=row["id"], chunk_id=row["chunk_id"], score=float(score))


def _first(k: int, in_scope: int, fetch: Callable[[int], list[Match]]) -> list[Match]:
    """The first k by score, then entry id. An engine cuts ties as it likes, so fetch on until the cut is not in one."""
    limit = min(k + SPARE, in_scope)
    if k <= 0 or limit == 0:
        return []
    found = fetch(limit)
    while len(found) == limit < in_scope and found[-1].score == found[k - 1].score:
        limit = min(limit * 4, in_scope)
        found = fetch(limit)
    return sorted(found, key=_best_first)[:k]
