"""The index of vectors: when it is made, that it is used, what it finds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from psycopg import sql

from citewell.models.embedder import Vectors
from citewell.settings import Storage
from citewell.stores.postgres import legs, vector_index
from citewell.stores.postgres.conditions import all_of, in_state, standing_on
from citewell.stores.postgres.home import PostgresHome
from citewell.stores.postgres.store import PostgresStore
from citewell.stores.store import OWNER, Scope
from tests.stores.corpus import (
    DIMENSIONS,
    commit,
    indexed,
    key,
    made_with,
    unit_vectors,
)
from tests.stores.postgres_engine import create, open_store, schema_for, server

STORAGE = Storage()


# In 32 dimensions a vector has 32 bits; one of a real model has hundreds.
@pytest.mark.parametrize(("quantise", "least_recall"), [("none", 0.95), ("int8", 0.95), ("binary", 0.6)])
def test_above_a_size_vectors_are_searched_by_an_index(
    tmp_path: Path, quantise: str, least_recall: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = Storage(exact_up_to=200, quantise=quantise)
    store = create(tmp_path, storage)
    vectors = unit_vectors(40, 1)[np.arange(2_400) % 40] + 0.3 * unit_vectors(2_400, 2)
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    commit(store, [indexed("few", ["w"] * 100, vectors=vectors[:100])])
    assert not _indexes(store)
    rest = [
        indexed(f"d{n}", ["w"] * 100, vectors=vectors[n * 100 : n * 100 + 100], groups=["x" if n % 2 else "y"])
        for n in range(1, 24)
    ]
    commit(store, rest)
    assert _indexes(store) == [vector_index.INDEXES[quantise].name]
    ids = [item.entry.id for document in [indexed("few", ["w"] * 100), *rest] for item in document.entries]
    odd = np.array([number >= 100 and number // 100 % 2 == 1 for number in range(2_400)])
    with monkeypatch.context() as patch:
        patch.delattr(legs, "compared")
        _search(store, vectors, ids, odd, least_recall)
    assert vector_index.INDEXES[quantise].name in _plan(store, quantise)
    store.close()
    # Another kind takes its place, and a small store has none of its own making.
    other = open_store(tmp_path, Storage(exact_up_to=200, quantise="binary" if quantise == "none" else "none"))
    assert len(other.reader().dense(unit_vectors(1, 3)[0], 10, OWNER)) == 10, "before it is built, all are compared"
    with other.writing():
        pass
    assert len(_indexes(other)) == 1
    other.close()


def _search(
    store: PostgresStore, vectors: Vectors, ids: list[str], odd: NDArray[np.bool_], least_recall: float
) -> None:
    for scope, mask in ((OWNER, np.ones(2_400, bool)), (Scope(frozenset({"x"})), odd)):
        found = right = 0
        for query in unit_vectors(8, 3):
            matches_found = store.reader().dense(query, 10, scope)
            cosines = np.where(mask, vectors @ query, -2)
            best = {ids[place] for place in np.argsort(-cosines)[:10]}
            assert len(matches_found) == 10
            for match in matches_found:
                assert match.score == pytest.approx(cosines[ids.index(match.entry_id)], abs=1e-5)
            found += len(best & {match.entry_id for match in matches_found})
            right += 10
        assert found / right > least_recall


def _indexes(store: PostgresStore) -> list[str]:
    with store._database.reading() as connection:
        return [index.name for index in vector_index.INDEXES.values() if vector_index.is_there(connection, index)]


def _plan(store: PostgresStore, quantise: str) -> str:
    """How the server finds the nearest vectors of the owner's scope."""
    reader, index = store.reader(), vector_index.INDEXES[quantise]
    where = all_of([in_state(reader.state.number), standing_on(None)])
    query = legs.BY_INDEX.format(where=where.text, order=index.ordered(DIMENSIONS))
    vector = unit_vectors(1, 1)[0]
    with store._database.reading() as connection:
        vector_index.search_along(connection, 100)
        lines = connection.execute(sql.SQL("EXPLAIN ") + query, [vector, *where.values, vector, 100, 10]).fetchall()
    return "\n".join(line for (line,) in lines)


def test_long_vectors_are_compared_one_by_one(tmp_path: Path) -> None:
    dimensions = 2_100
    home = PostgresHome(server().url(schema_for(tmp_path)), Storage(exact_up_to=3, quantise="none"))
    home.create(made_with(dimensions))
    store = home.open(1)
    item = indexed("d", ["w"] * 8, vectors=unit_vectors(8, 1, dimensions))
    commit(store, [item])
    assert _indexes(store) == []
    assert store.reader().dense(item.vectors[5], 1, OWNER)[0].entry_id == "d/0005/e"
    np.testing.assert_array_equal(store.fetch([key("d")])[0].vectors, item.vectors)
    home.close()
