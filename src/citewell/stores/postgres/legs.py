"""The legs as SQL: the nearest vectors, all compared or by the index, BM25 over the postings, and sparse vectors."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from uuid import UUID

from psycopg import Connection, sql

from citewell.models.embedder import Vectors
from citewell.models.sparse import SparseVector
from citewell.stores.postgres import vector_index
from citewell.stores.postgres.conditions import Condition
from citewell.stores.postgres.states import State
from citewell.stores.postgres.texts import fingerprint, possible
from citewell.stores.postgres.vector_index import VectorIndex
from citewell.stores.store import Match

K1, B = 1.2, 0.75

SPARE = 16
"""How many more than k the index is asked for at first, to see whether the cut at k goes through a tie."""

# Materialised, so that no index with an order is used: all that is in scope is compared. Vectors have length 1.
COMPARED = sql.SQL("""
    WITH compared AS MATERIALIZED (
        SELECT e.id, e.chunk_id, e.vector <#> %s AS distance
        FROM entries e JOIN documents d ON d.body = e.body WHERE e.searchable AND {where}
    )
    SELECT id, chunk_id, -distance FROM compared ORDER BY distance, id LIMIT %s
""")
BY_INDEX = sql.SQL("""
    WITH near AS MATERIALIZED (
        SELECT e.id, e.chunk_id, e.vector <#> %s AS distance
        FROM entries e JOIN documents d ON d.body = e.body WHERE e.searchable AND {where}
        ORDER BY {order} LIMIT %s
    )
    SELECT id, chunk_id, -distance FROM near ORDER BY distance, id LIMIT %s
""")
# Materialised, so that each product is made once.
WEIGHED = sql.SQL("""
    WITH weighed AS MATERIALIZED (
        SELECT s.entry, s.vector <#> %s AS distance
        FROM sparse_vectors s JOIN documents d ON d.body = s.body WHERE d.searchable AND {where}
    ), best AS (
        SELECT entry, distance FROM weighed WHERE distance < 0 ORDER BY distance FETCH FIRST %s ROWS WITH TIES
    )
    SELECT e.id, e.chunk_id, -b.distance FROM best b JOIN entries e ON e.key = b.entry
    ORDER BY b.distance, e.id LIMIT %s
""")
VECTORS = sql.SQL("""
    SELECT e.id, e.vector FROM entries e JOIN documents d ON d.body = e.body
    WHERE e.searchable AND e.id = ANY(%s::text[]) AND {where}
""")
TOKEN_VECTORS = sql.SQL("""
    SELECT e.id, e.token_vectors FROM entries e JOIN documents d ON d.body = e.body
    WHERE e.searchable AND e.id = ANY(%s::text[]) AND e.token_vectors <> ''::bytea AND {where}
""")
FREQUENCIES = "SELECT term, entries FROM frequencies(%s::uuid[], %s)"
# The terms are constants, so that the planner knows how common they are. As a single precision number a score does not
# depend on the order of its summands: equal entries tie.
SCORED = sql.SQL("""
    WITH scored AS (
        SELECT p.entry, sum(
            (%s::float8[])[array_position(%s::uuid[], p.term)]
            * p.times / (p.times + %s::float8 + %s::float8 * p.length)
        )::real AS score
        FROM postings p JOIN documents d ON d.body = p.body
        WHERE p.term = ANY(%s::uuid[]) AND d.searchable AND {where} GROUP BY p.entry
        ORDER BY score DESC FETCH FIRST %s ROWS WITH TIES
    )
    SELECT e.id, e.chunk_id, s.score FROM scored s JOIN entries e ON e.key = s.entry
    ORDER BY s.score DESC, e.id LIMIT %s
""")


def compared(connection: Connection, vector: Vectors, k: int, where: Condition) -> list[Match]:
    """The k nearest entries of all that the condition leaves."""
    query = COMPARED.format(where=where.text)
    return [Match(*row) for row in connection.execute(query, [vector, *where.values, k])]


def by_index(
    connection: Connection, index: VectorIndex, vector: Vectors, k: int, where: Condition, in_scope: int, entries: int
) -> list[Match] | None:
    """The k nearest entries, or nearly so; None where the index finds too few, or would be no shorter way.

    `in_scope` counts the entries that the condition leaves, of `entries` in the index. Fetches on until the cut at k is
    not in a tie.
    """
    query = BY_INDEX.format(where=where.text, order=index.ordered(len(vector)))
    limit = k + SPARE
    while limit * index.candidates * 2 <= in_scope:
        candidates = limit * index.candidates
        vector_index.search_along(connection, candidates * entries // in_scope)
        values = [vector, *where.values, vector, candidates, limit]
        found = [Match(*row) for row in connection.execute(query, values)]
        if len(found) < limit:
            return None
        if found[-1].score < found[k - 1].score:
            return found[:k]
        limit *= 4
    return None


def weighed(connection: Connection, query: SparseVector, k: int, where: Condition) -> list[Match]:
    """The k entries with the highest dot product with the query, of all that the condition leaves; only those above 0.
    The server sums in single precision."""
    statement = WEIGHED.format(where=where.text)
    first = max(k, 0)
    return [Match(*row) for row in connection.execute(statement, [query, *where.values, first, first])]


def vectors(connection: Connection, entry_ids: Collection[str], where: Condition) -> dict[str, Vectors]:
    query = VECTORS.format(where=where.text)
    return dict(connection.execute(query, [possible(entry_ids), *where.values], binary=True).fetchall())


def token_vectors(connection: Connection, entry_ids: Collection[str], where: Condition) -> dict[str, bytes]:
    query = TOKEN_VECTORS.format(where=where.text)
    return dict(connection.execute(query, [possible(entry_ids), *where.values]).fetchall())


def scored(connection: Connection, tokens: Sequence[str], k: int, state: State, where: Condition) -> list[Match]:
    """The k entries with the highest BM25 of all that the condition leaves.

    See Robertson and Zaragoza (2009), equation 3.15, with k1 + 1 in the numerator and numbers of
    tokens as lengths. The inverse document frequency is never negative: ln((N - n + 0.5) / (n + 0.5) + 1).
    """
    asked = Counter(fingerprint(token) for token in tokens if token)
    having: dict[UUID, int] = dict(connection.execute(FREQUENCIES, [list(asked), state.number]).fetchall())
    if not having:
        return []
    weights = [_weight(asked[term], entries, state.entries) for term, entries in having.items()]
    base, slope = K1 * (1 - B), K1 * B * state.entries / state.tokens
    terms = list(having)
    values = [weights, terms, base, slope, terms, *where.values, k, k]
    return [Match(*row) for row in connection.execute(SCORED.format(where=where.text), values)]


def _weight(times_asked: int, having: int, entries: int) -> float:
    return times_asked * (K1 + 1) * math.log((entries - having + 0.5) / (having + 0.5) + 1)
