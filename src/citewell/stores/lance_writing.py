"""Writing a batch to the Lance tables. Nothing of it is seen before a manifest names the versions written here."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.filters import FieldType
from citewell.stores import conditions, lance_errors
from citewell.stores.files import sync_folder
from citewell.stores.lance_rows import CHUNKS, DOCUMENTS, ENTRIES, TABLES, field_column, field_columns, schemas

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.db import DBConnection
    from lancedb.table import Table

Tables = dict[str, "Table"]

KEPT = timedelta(hours=1)
"""Younger versions are never cleaned up: a reader may be in the middle of a call that uses them."""
NOW = timedelta(milliseconds=1)
"""Versions before the newest are older: a manifest was written to the disk since. Of zero Lance warns."""

MAX_FRAGMENTS = 32
MAX_FRAGMENTS_IN_RUN = 256
ROWS_PER_FRAGMENT = 4_000
MAX_DELETED = 0.3
"""Share of the rows in files that are deleted: they take room, and each search by an index passes them over."""
MAX_OLD_VERSIONS = 64

ROWS_IN_MEMORY = 8_192
MAX_GATHERED = 50_000


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


def rewrite(table: Table) -> set[str]:
    """Write all rows once more into as few files as can be, with nothing of what was deleted, and without indexes.
    Return what is not used any more, as paths below the folder of the tables.

    Lance's own compaction leaves a fragment as it is when a tenth of it or less is deleted, and then its text and
    vectors stay in the file.
    """
    import pyarrow as pa

    left, schema = _parts(table), table.schema
    # The search is of the version before: what is written is not read again.
    batches: Any = table.search().to_batches(batch_size=ROWS_IN_MEMORY)
    whole = (batch.select(schema.names) for batch in batches)
    table.add(pa.RecordBatchReader.from_batches(schema, whole), mode="overwrite")
    return left


def gather(table: Table, first: int) -> None:
    """Write the rows from a row id on once more, into one fragment, unless they are many."""
    fresh = f"_rowid >= {first}"
    if 0 < table.count_rows(fresh) <= MAX_GATHERED:
        rows = table.search().where(fresh).to_arrow().select(table.schema.names)
        table.delete(fresh)
        table.add(rows)


def end(table: Table, first: int) -> int:
    """The row id beyond all rows, where `first` is one that was so earlier. A row's id is its fragment's number, which
    only grows, and its place in it."""
    rows = table.search().where(f"_rowid >= {first}").select(["_rowid"]).to_arrow()["_rowid"].to_numpy()
    return ((int(rows.max()) >> 32) + 1) << 32 if len(rows) else first


def crowded(tables: Tables, *, in_run: bool) -> list[str]:
    """The tables with so many fragments, deleted rows or old versions that they are due for rewriting.

    More may be there the more rows there are: rewriting takes time by the rows, and then it takes a share of the time
    in which they were added.
    """
    return [name for name, table in tables.items() if _is_crowded(table, in_run=in_run)]


def _is_crowded(table: Table, *, in_run: bool) -> bool:
    more = table.count_rows() // ROWS_PER_FRAGMENT
    if in_run:
        return fragments(table) > MAX_FRAGMENTS_IN_RUN + more
    if fragments(table) > MAX_FRAGMENTS + more or _old_versions(table) > MAX_OLD_VERSIONS + 4 * more:
        return True
    return _deleted(table) > MAX_DELETED


def clean_up(tables: Iterable[Table]) -> None:
    """Remove versions older than `KEPT`. To be called only with tables just rewritten, indexed and in the manifest.

    Lance offers cleaning only as a part of `optimize`, between compacting and indexing. With nothing to compact or to
    index it makes no version, and the newest, which it never removes, is the manifest's.
    """
    for table in tables:
        table.optimize(cleanup_older_than=KEPT)


def remove(folder: Path, left: Iterable[str]) -> None:
    """Remove files and folders that no state of the last `KEPT` uses."""
    for path in (folder / name for name in left):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def erase(tables: Tables) -> None:
    """Remove every version but the newest, which is to be just rewritten and in the manifest: no older file is left."""
    for table in tables.values():
        table.optimize(cleanup_older_than=NOW, delete_unverified=True)


@contextmanager
def durably(directory: Path) -> Iterator[None]:
    """Make what is written within the context survive a loss of power (Lance leaves that to the operating system).

    Raises:
        OSError: the file system refuses, or has refused without Lance noticing it.
    """
    before = _files(directory)
    yield
    fresh = [Path(name) for name in _files(directory) - before]
    for path in fresh:
        lance_errors.require_whole(path)
        with path.open("rb") as file:
            os.fsync(file.fileno())
    for folder in {parent for path in fresh for parent in path.parents if parent.is_relative_to(directory)}:
        sync_folder(folder)


def _stored(documents: Table, ids: Collection[str]) -> list[str]:
    return _ids(documents.search().where(conditions.one_of("id", ids)).select(["id"]).to_arrow())


def _ids(rows: pa.Table) -> list[str]:
    return [str(row_id) for row_id in rows["id"].to_pylist()]


def fragments(table: Table) -> int:
    return int(_fragment_statistics(table)["num_fragments"])


def _deleted(table: Table) -> float:
    """The share of the rows in files that are deleted."""
    statistics = _fragment_statistics(table)
    written = statistics["num_fragments"] * statistics["lengths"]["mean"]
    return 1 - table.count_rows() / written if written else 0.0


def _fragment_statistics(table: Table) -> dict[str, Any]:
    statistics: Any = table.stats()  # a dictionary, whatever its type says
    found: dict[str, Any] = statistics["fragment_stats"]
    return found


def _old_versions(table: Table) -> int:
    """Counted by their files: Lance's own list reads each of them."""
    limit = (datetime.now(UTC) - KEPT).timestamp()
    return sum(entry.stat().st_mtime < limit for entry in os.scandir(_place(table) / "_versions"))


def _place(table: Any) -> Path:
    """The folder of a table, which its type does not tell."""
    return Path(table.uri)


def _parts(table: Table) -> set[str]:
    """The files of rows and the folders of indexes that are there, used or not."""
    place = _place(table)
    return {
        f"{place.name}/{kind}/{entry.name}"
        for kind in ("data", "_indices")
        if (place / kind).exists()
        for entry in os.scandir(place / kind)
    }


def _files(directory: Path) -> set[str]:
    return {f"{folder}/{name}" for folder, _, names in os.walk(directory) for name in names}
