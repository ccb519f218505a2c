"""The leg of sparse vectors, whatever the engine: exact, within the scope, and gone with what it was made of."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citewell.models.sparse import SparseVector
from citewell.stores.store import OWNER, IndexedDocument, Scope, Standing, Store
from tests.stores.conftest import Engine
from tests.stores.corpus import commit, indexed, key, sparse, sparse_of

EMPTY = SparseVector(np.empty(0, np.uint32), np.empty(0, np.float32))


def weighed(document: IndexedDocument, *packed: bytes) -> IndexedDocument:
    """With these sparse vectors in place of its own."""
    entries = (replace(item, sparse=given) for item, given in zip(document.entries, packed, strict=True))
    return replace(document, entries=tuple(entries))


def found(store: Store, query: SparseVector, k: int = 99, scope: Scope = OWNER) -> list[tuple[str, str, float]]:
    return [(match.entry_id, match.chunk_id, match.score) for match in store.reader().sparse(query, k, scope)]


def test_the_best_come_first_and_only_those_with_a_common_term(store: Store) -> None:
    texts = ("a b", "c c b", "d", "a a a")
    commit(store, [indexed("d", texts)])
    query = sparse_of("a b b")
    assert found(store, query) == [
        ("d/0000/e", "d/0000", 0.75),
        ("d/0003/e", "d/0003", 0.75),
        ("d/0001/e", "d/0001", 0.5),
    ]
    assert found(store, query, 2) == found(store, query)[:2]
    assert found(store, query, 0) == found(store, EMPTY) == found(store, sparse_of("unknown")) == []


def test_ties_go_by_entry_id_also_at_the_cut(store: Store) -> None:
    commit(store, [indexed(f"d{number:02d}", ["same words"]) for number in reversed(range(60))])
    assert [name for name, *_ in found(store, sparse_of("same"), 9)] == [f"d{number:02d}/0000/e" for number in range(9)]


def test_entries_without_sparse_vectors_are_found_by_the_other_legs_only(store: Store) -> None:
    with_some, without = indexed("with", ["word"]), indexed("without", ["word", "other"])
    commit(store, [with_some, weighed(without, b"", b"")])
    assert [chunk for _, chunk, _ in found(store, sparse_of("word"))] == ["with/0000"]
    assert len(store.reader().keyword(["word"], 9, OWNER)) == 2
    assert [item.sparse for item in store.fetch([key("without")])[0].entries] == [b"", b""]
    commit(store, [weighed(with_some, b"")])
    assert found(store, sparse_of("word")) == []


@pytest.mark.parametrize("standing", [None, Standing(current=False, searchable=False)], ids=["found", "only kept"])
def test_packed_vectors_come_back_byte_for_byte(store: Store, standing: Standing | None) -> None:
    weights = np.array([6e-8, 1 / 3, 3.14159, 65_504.0], np.float16).astype(float).tolist()
    many = sparse(dict.fromkeys(range(0, 16_000 * 7, 7), 0.5))
    packed = [sparse(dict(zip([0, 65_535, 65_536, 999_999_999], weights, strict=True))).pack(), many.pack(), b""]
    commit(store, [weighed(indexed("d", ["a", "b", "c"], standing=standing), *packed)])
    assert [item.sparse for item in store.fetch([key("d")])[0].entries] == packed


def test_a_change_is_seen_at_once_and_not_by_an_older_reader(store: Store) -> None:
    commit(store, [indexed("d", ["old"]), indexed("other", ["old new"])])
    before = store.reader()
    commit(store, [indexed("d", ["new"])], [key("other")])
    assert [match.chunk_id for match in before.sparse(sparse_of("old"), 9, OWNER)] == ["d/0000", "other/0000"]
    assert found(store, sparse_of("old")) == []
    assert [chunk for _, chunk, _ in found(store, sparse_of("new"))] == ["d/0000"]


terms = st.integers(0, 5) | st.sampled_from([65_535, 65_536, 131_072, 999_999_999])
halves = st.floats(2**-10, 64, width=16)
vectors = st.dictionaries(terms, halves, max_size=6).map(sparse)
rights = st.frozensets(st.sampled_from(["a", "b"]), min_size=1)


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(vectors, rights), min_size=5, max_size=25),
    vectors,
    st.integers(1, 9),
    st.sampled_from([None, frozenset({"a"}), frozenset({"a", "b"}), frozenset({"c"})]),
)
def test_the_first_k_are_those_of_numpy(
    engine: Engine,
    stored: list[tuple[SparseVector, frozenset[str]]],
    query: SparseVector,
    k: int,
    groups: frozenset[str] | None,
) -> None:
    documents = [
        weighed(indexed(f"d{place:02d}", ["w"], groups=readable), vector.pack())
        for place, (vector, readable) in enumerate(stored)
    ]
    scores = {
        f"d{place:02d}/0000/e": _dense(vector) @ _dense(query)
        for place, (vector, readable) in enumerate(stored)
        if groups is None or readable & groups
    }
    best = sorted((score for score in scores.values() if score > 0), reverse=True)[:k]
    with tempfile.TemporaryDirectory() as folder:
        store = engine.filled(Path(folder), documents)
        told = found(store, query, k, Scope(groups))
        store.close()
    assert [score for *_, score in told] == pytest.approx(best, rel=1e-6)
    assert {name: score for name, _, score in told} == pytest.approx(
        {name: scores[name] for name, *_ in told}, rel=1e-6
    )
    assert told == sorted(told, key=lambda one: (-one[2], one[0]))


PLACES = {term: place for place, term in enumerate([*range(6), 65_535, 65_536, 131_072, 999_999_999])}


def _dense(vector: SparseVector) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    dense = np.zeros(len(PLACES))
    dense[[PLACES[term] for term in vector.terms.tolist()]] = vector.weights
    return dense
