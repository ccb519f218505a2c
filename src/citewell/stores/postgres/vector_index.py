"""The HNSW index over the vectors: whole, as halves, or as bits. What it finds is compared again by whole vectors.

pgvector has no eight-bit numbers: the setting `quantise = "int8"` means `halfvec` here, sixteen bits a dimension.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from psycopg import Connection, sql

# With 100, one graph in ten of those built of the same 2,400 vectors misses 5 % of the nearest ten.
MIN_EFFORT = 200
MAX_EFFORT = 1_000
"""Candidates that a search of the graph keeps in mind. pgvector takes no more than 1,000."""

CREATE = sql.SQL("CREATE INDEX {name} ON entries USING hnsw ({vectors}) WITH (ef_construction = 128) WHERE searchable")
DROP = sql.SQL("DROP INDEX IF EXISTS {name}")
THERE = "SELECT to_regclass(%s) IS NOT NULL"

# `strict_order` goes on along the graph until enough is in scope. A plan that sorts would compare everything.
SEARCH_ALONG = """
    SELECT set_config('hnsw.iterative_scan', 'strict_order', true), set_config('hnsw.ef_search', %s, true),
        set_config('enable_sort', 'off', true), set_config('enable_hashjoin', 'off', true),
        set_config('enable_mergejoin', 'off', true), set_config('enable_bitmapscan', 'off', true)
"""


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """`candidates` are fetched for each result, to be compared by whole vectors. `order` has one placeholder."""

    name: str
    vectors: sql.SQL
    order: sql.SQL
    candidates: int
    most_dimensions: int

    def ordered(self, dimensions: int) -> sql.Composed:
        return self.order.format(dimensions=sql.Literal(dimensions))


INDEXES: Mapping[str, VectorIndex] = {
    "none": VectorIndex(
        "entries_near", sql.SQL("vector vector_ip_ops"), sql.SQL("e.vector <#> %s"), candidates=4, most_dimensions=2_000
    ),
    "int8": VectorIndex(
        "entries_near_halves",
        sql.SQL("(vector::halfvec({dimensions})) halfvec_ip_ops"),
        sql.SQL("e.vector::halfvec({dimensions}) <#> %s::halfvec({dimensions})"),
        candidates=4,
        most_dimensions=4_000,
    ),
    "binary": VectorIndex(
        "entries_near_bits",
        sql.SQL("(binary_quantize(vector)::bit({dimensions})) bit_hamming_ops"),
        sql.SQL("binary_quantize(e.vector)::bit({dimensions}) <~> binary_quantize(%s)"),
        candidates=20,
        most_dimensions=64_000,
    ),
}
"""By the setting `storage.quantise`."""


def is_there(connection: Connection, index: VectorIndex) -> bool:
    return connection.execute(THERE, [index.name]).fetchone() == (True,)


def build(connection: Connection, index: VectorIndex, dimensions: int) -> None:
    """Make the index, in place of one of another kind. Takes the server's `maintenance_work_mem` and workers."""
    with connection.transaction():
        drop(connection)
        vectors = index.vectors.format(dimensions=sql.Literal(dimensions))
        connection.execute(CREATE.format(name=sql.Identifier(index.name), vectors=vectors))


def drop(connection: Connection) -> None:
    for index in INDEXES.values():
        connection.execute(DROP.format(name=sql.Identifier(index.name)))


def search_along(connection: Connection, effort: int) -> None:
    """For the rest of the transaction, go along the graph, with about so many candidates in mind."""
    connection.execute(SEARCH_ALONG, [str(min(max(effort, MIN_EFFORT), MAX_EFFORT))])
