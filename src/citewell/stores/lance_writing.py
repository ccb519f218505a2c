"""Writing a batch to the Lance tables. Nothing of it is seen before a manifest names the versions written here."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.filters import FieldType
from citewell.stores import conditions
from citewell.stores.files import sync_folder
from citewell.stores.lance_rows import CHUNKS, DOCUMENTS, ENTRIES, TABLES, field_column, field_columns, schemas

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.db import DBConnection
    from lancedb.table import Table

Tables = dict[str, "Table"]

LOOKED_UP = {
    DOCUMENTS: ("id", "document_id", "source"),
    CHUNKS: ("id", "document_id", "version_id"),
    ENTRIES: ("id", "version_id", "text_hash"),
}

KEPT = timedelta(hours=1)
"""Younger versions are never cleaned up: a reader may be in the middle of a call that uses them."""
NEVER = timedelta(days=36_500)

MAX_FRAGMENTS = 32
MAX_FRAGMENTS_IN_RUN = 256
MAX_OLD_VERSIONS = 64

MIN_ROWS_INDEXED = 1_000
"""Below, finding a row or a group by scanning is as quick as by an index, and a run without those ends sooner."""

ROWS_PER_PARTITION = 8_192
MAX_UNINDEXED_SHARE = 0.2


def create_tables(connection: DBConnection, dimensions: int) -> Tables:
    """Empty tables."""
    tables = {}
    for name, schema in schemas(dimensions, {}).items():
        table: Any = connection.create_table(name, schema=schema)
        table.set_unenforced_primary_key("id")
        tables[name] = table
    return tables


def open_at(connection: DBConnection, versions: Mapping[str, int]) -> Tables:
    """The tables, ready for writing, with exactly the contents of these versions.

    A writer that died, or failed, before its manifest has left newer versions. They are undone by restoring, which
    makes one more version with the old contents: versions only grow, so no reader's or cache's version changes meaning.
    """
    tables = {name: connection.open_table(name) for name in TABLES}
    for name, table in tables.items():
        if table.version != versions[name]:
            table.restore(versions[name])
    return tables


def write(tables: Tables, rows: Mapping[str, pa.Table], dropped: Collection[str]) -> None:
    """Delete all rows of versions, by their ids, and of those that `rows` replaces; then add `rows`."""
    gone = _stored(tables[DOCUMENTS], {*dropped, *_ids(rows[DOCUMENTS])})
    if gone:
        tables[DOCUMENTS].delete(conditions.one_of("id", gone))
        tables[CHUNKS].delete(conditions.one_of("version_id", gone))
        tables[ENTRIES].delete(conditions.one_of("version_id", gone))
    for name, table in tables.items():
        if rows[name].num_rows:
            table.add(rows[name])


def declare(tables: Tables, before: Mapping[str, FieldType], fields: Mapping[str, FieldType]) -> None:
    """Give all tables a column for each field, empty where it is new or of another type than before."""
    gone = [field_column(name) for name, kind in before.items() if fields.get(name) != kind]
    come = field_columns({name: kind for name, kind in fields.items() if before.get(name) != kind})
    for table in tables.values():
        if gone:
            table.drop_columns(gone)
        if come:
            table.add_columns(come)


def settle(tables: Tables, *, compacted: bool, exact_up_to: int) -> None:
    """Rebuild the keyword index, so that BM25 statistics count exactly the rows that are there, and others that lag.

    Rebuilt, not optimised: Lance's `optimize` leaves deleted rows in the statistics unless it happens to compact their
    fragment, and compacting rewrites the vectors. Compaction comes without indexes, which are then not remapped.
    """
    from lancedb.index import FTS, BTree, IvfFlat, LabelList

    if compacted:
        for table in tables.values():
            for index in table.list_indices():
                table.drop_index(index.name)
            table.optimize(cleanup_older_than=NEVER)
    tokens = FTS(
        base_tokenizer="whitespace",
        max_token_length=None,
        lower_case=False,
        stem=False,
        remove_stop_words=False,
        ascii_folding=False,
        with_position=False,
    )
    tables[ENTRIES].create_index("tokens", config=tokens)
    for name, columns in LOOKED_UP.items():
        for column in _lagging(tables[name], columns, least=MIN_ROWS_INDEXED):
            tables[name].create_index(column, config=BTree())
        for column in _lagging(tables[name], ["groups"], least=MIN_ROWS_INDEXED):
            tables[name].create_index(column, config=LabelList())
    for column in _lagging(tables[ENTRIES], ["vector"], least=exact_up_to + 1):
        partitions = 1 + tables[ENTRIES].count_rows() // ROWS_PER_PARTITION
        tables[ENTRIES].create_index(column, config=IvfFlat(distance_type="dot", num_partitions=partitions))


def crowded(tables: Tables, *, in_run: bool) -> bool:
    """Whether so many fragments or old versions have gathered that the tables are due for compaction."""
    fragments = max(map(_fragments, tables.values()))
    if in_run:
        return fragments > MAX_FRAGMENTS_IN_RUN
    return fragments > MAX_FRAGMENTS or max(map(_old_versions, tables.values())) > MAX_OLD_VERSIONS


def clean_up(tables: Tables) -> None:
    """Remove versions older than `KEPT`. To be called only with tables just compacted, indexed and in the manifest.

    Lance offers cleaning only as a part of `optimize`, between compacting and indexing. With nothing to compact or to
    index it makes no version, and the newest, which it never removes, is the manifest's.
    """
    for table in tables.values():
        table.optimize(cleanup_older_than=KEPT)


def erase(tables: Tables) -> None:
    """Remove every version but the newest, which is to be just compacted and in the manifest."""
    for table in tables.values():
        table.optimize(cleanup_older_than=timedelta(0), delete_unverified=True)


@contextmanager
def durably(directory: Path) -> Iterator[None]:
    """Make what is written within the context survive a loss of power (Lance leaves that to the operating system)."""
    before = _files(directory)
    yield
    fresh = [Path(name) for name in _files(directory) - before]
    for path in fresh:
        with path.open("rb") as file:
            os.fsync(file.fileno())
    for folder in {parent for path in fresh for parent in path.parents if parent.is_relative_to(directory)}:
        sync_folder(folder)


def _stored(documents: Table, ids: Collection[str]) -> list[str]:
    return _ids(documents.search().where(conditions.one_of("id", ids)).select(["id"]).to_arrow())


def _ids(rows: pa.Table) -> list[str]:
    return [str(row_id) for row_id in rows["id"].to_pylist()]


def _lagging(table: Table, columns: Iterable[str], *, least: int) -> list[str]:
    """The columns whose index, due from `least` rows on, is missing or lacks more than its share of the rows.

    Rows outside an index are looked at one by one, and its deleted rows left out: only time is lost when it lags.
    """
    rows = table.count_rows()
    if rows < least:
        return []
    indexed = {index.columns[0]: index.num_indexed_rows or 0 for index in table.list_indices()}
    return [column for column in columns if indexed.get(column, 0) < (1 - MAX_UNINDEXED_SHARE) * rows]


def _fragments(table: Table) -> int:
    statistics: Any = table.stats()  # a dictionary, whatever its type says
    return int(statistics["fragment_stats"]["num_fragments"])


def _old_versions(table: Table) -> int:
    limit = datetime.now(UTC) - KEPT
    return sum(version["timestamp"].astimezone(UTC) < limit for version in table.list_versions())


def _files(directory: Path) -> set[str]:
    return {f"{folder}/{name}" for folder, _, names in os.walk(directory) for name in names}
