"""How the tables of a Lance store are: what is damaged, what disagrees, what lags. Only reads."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from citewell.errors import IndexFormatError
from citewell.settings import Storage
from citewell.stores import lance_errors, lance_indexes, lance_writing
from citewell.stores.batch import LENGTH_TOLERANCE
from citewell.stores.lance_reader import LanceReader
from citewell.stores.lance_rows import CHUNKS, DOCUMENTS, ENTRIES

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.table import Table

ROWS_AT_ONCE = 2_048


@dataclass(frozen=True, slots=True)
class Strays:
    """Rows that belong to nothing, by id, and versions that lack what they should have, by the id of their row."""

    chunks: tuple[str, ...]
    entries: tuple[str, ...]
    without_parts: tuple[str, ...]
    doubled: Mapping[str, int]
    """For each table in which ids are there more than once, how many."""


@dataclass(frozen=True, slots=True)
class Legs:
    """How many entries each index of a leg knows; None where there is no such index, and none is due."""

    entries: int
    keyword: int | None
    vector: int | None
    overdue: tuple[str, ...]
    """The columns whose index is missing, or lags so far that the end of a run would build it."""


@dataclass(frozen=True, slots=True)
class Waste:
    """`old` counts the table versions that nobody needs any more; `deleted` is the largest share of rows deleted, and
    `crowded` names the tables that the end of a run would rewrite."""

    old: int
    deleted: float
    crowded: tuple[str, ...]


def damaged_rows(reader: LanceReader) -> Iterator[str]:
    """Read all rows, and say of each table what is wrong with it: cannot be read, or is not what was written."""
    for name, table in reader.tables.items():
        try:
            with lance_errors.reading(name):
                altered = sum(map(_altered, _batches(table)))
        except IndexFormatError as error:
            yield error.message
        else:
            if altered:
                yield f"{name}: {altered:,} rows are not what was written"


def damaged_indexes(reader: LanceReader) -> Iterator[str]:
    """Read all indexes, and say which cannot be read."""
    for name, table in reader.tables.items():
        local: Any = table  # the library's type lacks what only local tables can do
        for index in table.list_indices():
            try:
                with lance_errors.reading(f"the index of {name} by {index.columns[0]}"):
                    local.prewarm_index(index.name)
            except IndexFormatError as error:
                yield error.message


def strays(reader: LanceReader) -> Strays:
    """Look for rows that belong to nothing. Reads the ids of all rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    documents = _columns(reader, DOCUMENTS, "id", "searchable", "lost")
    chunks = _columns(reader, CHUNKS, "id", "version_id")
    entries = _columns(reader, ENTRIES, "id", "chunk_id", "version_id")
    whole = documents.filter(documents["searchable"])
    homeless = _missing(entries["version_id"], whole["id"])
    # A document of which nothing could be read has no entry, and says so.
    read = pc.is_in(whole["lost"], value_set=pa.array([""]))
    without_parts = pc.and_(_missing(whole["id"], entries["version_id"]), read)
    tables = {DOCUMENTS: documents, CHUNKS: chunks, ENTRIES: entries}
    doubled = {name: table.num_rows - pc.count_distinct(table["id"]).as_py() for name, table in tables.items()}
    return Strays(
        chunks=_ids(chunks, _missing(chunks["version_id"], whole["id"])),
        entries=_ids(entries, pc.or_(homeless, _missing(entries["chunk_id"], chunks["id"]))),
        without_parts=_ids(whole, without_parts),
        doubled={name: times for name, times in doubled.items() if times},
    )


def legs(reader: LanceReader, storage: Storage) -> Legs:
    """How far the indexes are behind."""
    entries, built = reader.tables[ENTRIES], reader.manifest.built
    known = lance_indexes._indexed(entries)
    overdue = [
        f"{name} by {column}"
        for name, table in reader.tables.items()
        for column in lance_indexes._lagging(table, [*lance_indexes.LOOKED_UP[name], "groups", "current"])
    ]
    if lance_indexes._keywords_due(entries, built):
        overdue.append("words")
    if lance_indexes._vectors_due(entries, built, storage):
        overdue.append("vectors")
    return Legs(entries.count_rows(), known.get("tokens"), known.get("vector"), tuple(overdue))


def waste(reader: LanceReader) -> Waste:
    """What rewriting the tables would set free."""
    tables = dict(reader.tables)
    return Waste(
        old=sum(map(lance_writing._old_versions, tables.values())),
        deleted=max(map(lance_writing._deleted, tables.values())),
        crowded=tuple(lance_writing.crowded(tables, in_run=False)),
    )


def _batches(table: Table) -> Iterator[pa.RecordBatch]:
    query: Any = table.search()
    batches: Iterator[pa.RecordBatch] = query.to_batches(batch_size=ROWS_AT_ONCE)
    return batches


def _altered(batch: pa.RecordBatch) -> int:
    """Entries carry the hash of their text, and their vectors have length 1; other rows carry no such proof."""
    if "text_hash" not in batch.schema.names:
        return 0
    pairs = zip(batch.column("text").to_pylist(), batch.column("text_hash").to_pylist(), strict=True)
    texts = np.array([text is None or _sha256(text) != known for text, known in pairs])
    vectors: Any = batch.column("vector")
    rows = vectors.flatten().to_numpy(zero_copy_only=False).reshape(batch.num_rows, -1)
    lengths = np.linalg.norm(rows, axis=1)
    return int((texts | ~(np.abs(lengths - 1) <= LENGTH_TOLERANCE)).sum())  # NaN is not near 1 either


def _missing(ids: Any, known: Any) -> Any:
    """For each id whether it is not among those known."""
    import pyarrow.compute as pc

    return pc.invert(pc.is_in(ids, value_set=known))


def _ids(table: pa.Table, mask: Any) -> tuple[str, ...]:
    return tuple(sorted(str(row_id) for row_id in table.filter(mask)["id"].to_pylist()))


def _columns(reader: LanceReader, table: str, *columns: str) -> pa.Table:
    query: Any = reader.tables[table].search()
    with lance_errors.reading(table):
        found: pa.Table = query.select(list(columns)).to_arrow()
    return found


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
