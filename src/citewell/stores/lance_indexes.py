"""The indexes of the Lance tables: which there are, from how many rows on, and when they are built anew.

Adding a document must not cost more the more there are. What came since an index was built is compared row by row, and
what went is left out, so an index that lags misses nothing: it is built anew only when it lags so far that searches
would suffer. Measured with 1,000,000 entries of 384 dimensions on two shared cores: the keyword index is built in 11 s
and the vector index in 75 s, that is 3 ms and 4 ms for each entry that came since the last time; each 1,000 entries
outside the keyword index cost a search 5 ms, outside the vector index less than 1 ms. A run that adds a document of 20
chunks took 150 to 230 ms at 100,000 entries and 160 to 190 ms at 1,000,000 (`bench/scale.py`).

Lance's own `optimize` is not used: it takes as long as building anew (it merges the keyword index whole), and leaves
deleted rows in the statistics unless it happens to rewrite their fragment.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from citewell.settings import Storage
from citewell.stores import lance_writing
from citewell.stores.lance_rows import CHUNKS, DOCUMENTS, ENTRIES
from citewell.stores.lance_writing import Tables
from citewell.stores.manifest import Built

if TYPE_CHECKING:
    from lancedb.table import Table

LOOKED_UP = {
    DOCUMENTS: ("id", "document_id", "source"),
    CHUNKS: ("id", "document_id", "version_id"),
    ENTRIES: ("id", "version_id", "text_hash"),
}

MIN_ROWS_INDEXED = 1_000
"""Below, finding a row or a group by scanning is as quick as by an index, and a run without those ends sooner."""
MAX_UNINDEXED_SHARE = 0.05

KEYWORDS_EXACT_UP_TO = 20_000
"""Entries up to which the keyword index is built anew after each run (0.3 s): BM25 then counts exactly what is there.

Above, the statistics may leave out, or still hold, `MAX_STALE_SHARE` of the entries. Measured at 100,000: with 1 % of
the rows added or removed since, scores are off by 0.07 % in the mean and 0.5 % at most; with 5 %, by 0.2 % and 1.7 %;
with 2 % added and 2 % removed, by 0.15 % and 6.7 %. Every entry is found, and 99.3 to 100 % of the first ten are those
of exact scores.
"""
MAX_STALE_SHARE = 0.02
MAX_STALE = 4_000

MAX_UNINDEXED_VECTORS = 10_000
MAX_UNINDEXED_VECTORS_SHARE = 0.02

ROWS_PER_PARTITION = 4_096
MAX_PARTITIONS = 256
"""Lance finds more than this many centres by another way, which takes three times as long."""

BITS = {"int8": 4, "binary": 1}
"""Of a code, per dimension (RaBitQ, Gao and Long 2024). Codes of 8 bits take four times as long to build as those of 4
and find no more; plain 8-bit numbers (IVF_SQ) take four times as long to search."""

MAX_FRESH_FRAGMENTS = 64
"""Fragments written since the keyword index was built, before they are gathered into one. With 128 of 20 rows a search
takes up to twice as long as with one."""


def settle(tables: Tables, built: Built, storage: Storage) -> Built:
    """Build what is due, and say what has been built."""
    before = _folders(tables)
    keywords_due = _keywords_due(tables[ENTRIES], built)
    for name, table in tables.items():
        fresh = lance_writing.fragments(table) - built.fragments.get(name, 0)
        if fresh > (1 if keywords_due else MAX_FRESH_FRAGMENTS):
            lance_writing.gather(table, built.ends.get(name, 0))
    if keywords_due:
        _build_keywords(tables[ENTRIES])
        built = _marked(replace(built, entries=tables[ENTRIES].count_rows()), tables)
    _build_lookups(tables)
    if _vectors_due(tables[ENTRIES], built, storage):
        tables[ENTRIES].create_index("vector", config=_vector_index(tables[ENTRIES], storage))
        built = replace(built, quantise=storage.quantise)
    return _leaving(built, before - _folders(tables))


def rewrite(tables: Tables, names: Collection[str], built: Built) -> Built:
    """Rewrite these tables. What is not used any more is kept as long as a reader may be in the middle of a call."""
    for name in names:
        left = lance_writing.rewrite(tables[name])
        ends = {**built.ends, name: 0}
        built = _marked(_leaving(replace(built, ends=ends), left), {name: tables[name]})
    return built


def outlived(built: Built) -> tuple[Built, list[str]]:
    """What was left so long ago that no reader is using it, and without that what has been built."""
    limit = datetime.now(UTC) - lance_writing.KEPT
    gone = [path for path, since in built.left.items() if since < limit]
    return replace(built, left={path: since for path, since in built.left.items() if path not in gone}), gone


def _marked(built: Built, tables: Tables) -> Built:
    """With the rows of these tables as those that are not fresh."""
    return replace(
        built,
        fragments={**built.fragments, **{name: lance_writing.fragments(table) for name, table in tables.items()}},
        ends={
            **built.ends,
            **{name: lance_writing.end(table, built.ends.get(name, 0)) for name, table in tables.items()},
        },
    )


def _leaving(built: Built, paths: Collection[str]) -> Built:
    return replace(built, left={**built.left, **dict.fromkeys(paths, datetime.now(UTC))})


def _folders(tables: Tables) -> set[str]:
    """Of the indexes in use."""
    return {f"{name}.lance/_indices/{index.index_uuid}" for name in tables for index in tables[name].list_indices()}


def _keywords_due(entries: Table, built: Built) -> bool:
    indexed = _indexed(entries).get("tokens")
    if indexed is None:
        return True
    rows = entries.count_rows()
    stale = (rows - indexed) + (built.entries - indexed)  # what came, and what went
    return stale > (0 if rows <= KEYWORDS_EXACT_UP_TO else min(MAX_STALE, MAX_STALE_SHARE * rows))


def _build_keywords(entries: Table) -> None:
    from lancedb.index import FTS

    tokens = FTS(
        base_tokenizer="whitespace",
        max_token_length=None,
        lower_case=False,
        stem=False,
        remove_stop_words=False,
        ascii_folding=False,
        with_position=False,
    )
    entries.create_index("tokens", config=tokens)


def _build_lookups(tables: Tables) -> None:
    from lancedb.index import Bitmap, BTree, LabelList

    for name, table in tables.items():
        kinds: dict[str, Any] = {**dict.fromkeys(LOOKED_UP[name], BTree()), "groups": LabelList(), "current": Bitmap()}
        for column in _lagging(table, list(kinds)):
            table.create_index(column, config=kinds[column])


def _lagging(table: Table, columns: Sequence[str]) -> list[str]:
    rows = table.count_rows()
    if rows < MIN_ROWS_INDEXED:
        return []
    indexed = _indexed(table)
    return [column for column in columns if indexed.get(column, 0) < (1 - MAX_UNINDEXED_SHARE) * rows]


def _vectors_due(entries: Table, built: Built, storage: Storage) -> bool:
    rows, indexed = entries.count_rows(), _indexed(entries).get("vector")
    if rows <= storage.exact_up_to:
        return False
    if indexed is None or built.quantise != storage.quantise:
        return True
    return rows - indexed > max(MAX_UNINDEXED_VECTORS, MAX_UNINDEXED_VECTORS_SHARE * rows)


def _vector_index(entries: Table, storage: Storage) -> Any:
    from lancedb.index import IvfFlat, IvfRq

    partitions = min(MAX_PARTITIONS, 1 + entries.count_rows() // ROWS_PER_PARTITION)
    dimensions = entries.schema.field("vector").type.list_size
    if storage.quantise == "none" or dimensions % 8:  # IvfRq takes no other number
        return IvfFlat(distance_type="dot", num_partitions=partitions)
    return IvfRq(distance_type="dot", num_partitions=partitions, num_bits=BITS[storage.quantise])


def _indexed(table: Table) -> dict[str, int]:
    """How many of the rows that are there each index knows, by its column."""
    return {index.columns[0]: index.num_indexed_rows or 0 for index in table.list_indices()}
