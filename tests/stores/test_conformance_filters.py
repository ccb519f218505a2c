"""Filtered search is exact, whatever the filter leaves. Approximate indexes lose results here in silence."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from citewell.models.embedder import Vectors
from citewell.stores.store import OWNER, Counts, Scope, Store
from tests.stores.conftest import Engine
from tests.stores.corpus import DIMENSIONS, bm25, dot_products, indexed, sparse_of, unit_vectors, zipf_texts

ROWS = 2_000
CLUSTERS = 40
GROUPS = ("g1", "g10", "g50", "gc")


@dataclass(frozen=True, slots=True)
class Collection:
    store: Store
    vectors: Vectors
    texts: dict[str, str]
    members: dict[str, set[str]]

    def in_scope(self, scope: Scope) -> list[int]:
        groups = scope.groups
        return [
            number
            for number, name in enumerate(self.texts)
            if groups is None or any(name in self.members.get(group, ()) for group in groups)
        ]


@pytest.fixture(scope="module")
def collection(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    """Rows in clusters. g1, g10 and g50 may read that share of them, at random; gc 1 %, all of two clusters."""
    random = np.random.default_rng(0)
    cluster = random.integers(0, CLUSTERS, ROWS)
    vectors = unit_vectors(CLUSTERS, 1)[cluster] + 0.25 * unit_vectors(ROWS, 2)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    chance = random.random(ROWS)
    clustered = set(np.flatnonzero(cluster < 2)[: ROWS // 100])
    texts = zipf_texts(ROWS, 3)
    documents, members = [], {group: set[str]() for group in GROUPS}
    for number in range(ROWS):
        groups = [group for group, share in (("g1", 0.01), ("g10", 0.1), ("g50", 0.5)) if chance[number] < share]
        groups += ["gc"] if number in clustered else []
        name = f"d{number:04d}"
        documents.append(indexed(name, [texts[number]], vectors=vectors[number : number + 1], groups=groups))
        for group in groups:
            members[group].add(f"{name}/0000/e")
    store = engine.filled(tmp_path_factory.mktemp("filters") / "index", documents)
    yield Collection(store, vectors, {f"d{n:04d}/0000/e": text for n, text in enumerate(texts)}, members)
    store.close()


SCOPES = {
    "owner": OWNER,
    **{group: Scope(groups=frozenset({group})) for group in GROUPS},
    "three": Scope(groups=frozenset({"g1", "gc", "unknown"})),
}
each_scope = pytest.mark.parametrize("scope", SCOPES.values(), ids=list(SCOPES))


@each_scope
def test_dense_is_exact(collection: Collection, scope: Scope) -> None:
    rows, names = collection.in_scope(scope), list(collection.texts)
    # Queries near clusters that the group gc has nothing of.
    queries = unit_vectors(CLUSTERS, 1)[5:11] + 0.25 * unit_vectors(6, 4)
    for query in queries / np.linalg.norm(queries, axis=1, keepdims=True):
        cosines = collection.vectors[rows] @ query
        best = np.argsort(-cosines, kind="stable")[:10]
        found = collection.store.reader().dense(query, 10, scope)
        assert [match.entry_id for match in found] == [names[rows[place]] for place in best]
        assert [match.score for match in found] == pytest.approx(cosines[best], abs=1e-5)
        assert len(collection.store.reader().dense(query, 5_000, scope)) == len(rows)


@each_scope
def test_keyword_finds_every_match_and_the_true_best(collection: Collection, scope: Scope) -> None:
    names = list(collection.texts)
    allowed = {names[row] for row in collection.in_scope(scope)}
    for query in (["w0"], ["w5", "w70", "w150"], ["w300"], ["w399", "w1"]):
        scores = {name: score for name, score in bm25(collection.texts, query).items() if name in allowed}
        everything = collection.store.reader().keyword(query, ROWS, scope)
        assert {match.entry_id: match.score for match in everything} == pytest.approx(scores, rel=1e-5)
        best = [match.score for match in collection.store.reader().keyword(query, 5, scope)]
        assert best == pytest.approx(sorted(scores.values(), reverse=True)[:5], rel=1e-5)


@each_scope
def test_sparse_finds_every_match_and_the_true_best(collection: Collection, scope: Scope) -> None:
    names = list(collection.texts)
    allowed = [names[row] for row in collection.in_scope(scope)]
    for words in ("w0", "w5 w70 w150 w5", "w300", "w399 w1"):
        query = sparse_of(words)
        scores = dot_products({name: collection.texts[name] for name in allowed}, query)
        everything = collection.store.reader().sparse(query, ROWS, scope)
        assert {match.entry_id: match.score for match in everything} == pytest.approx(scores, rel=1e-6)
        expected = sorted(scores, key=lambda name: (-scores[name], name))
        assert [match.entry_id for match in everything] == expected
        assert collection.store.reader().sparse(query, 5, scope) == everything[:5]


@each_scope
def test_listings_and_counts_are_complete(collection: Collection, scope: Scope) -> None:
    reader, rows = collection.store.reader(), collection.in_scope(scope)
    names = [f"d{row:04d}" for row in rows]
    assert [document.id for document in reader.documents(scope)] == names
    assert reader.counts(scope) == Counts(len(rows), len(rows), len(rows))
    chunk_ids = [f"d{row:04d}/0000" for row in range(ROWS)]
    assert set(reader.chunks(chunk_ids, scope)) == {f"{name}/0000" for name in names}
    entry_ids = list(collection.texts)
    vectors = reader.vectors(entry_ids, scope)
    assert vectors.keys() == {entry_ids[row] for row in rows}
    for row in rows:
        np.testing.assert_array_equal(vectors[entry_ids[row]], collection.vectors[row])


def test_the_writers_lists_are_complete(collection: Collection) -> None:
    assert len(collection.store.ledger()) == ROWS
    hashes = {hashlib.sha256(text.encode()).hexdigest() for text in collection.texts.values()}
    assert set(collection.store.embedded(hashes)) == hashes


def test_a_scope_without_groups_sees_nothing(collection: Collection) -> None:
    nobody = Scope(groups=frozenset())
    assert collection.store.reader().dense(unit_vectors(1, 0, DIMENSIONS)[0], 10, nobody) == []
    assert collection.store.reader().keyword(["w0"], 10, nobody) == []
    assert collection.store.reader().sparse(sparse_of("w0"), 10, nobody) == []
    assert collection.store.reader().documents(nobody) == []
    assert collection.store.reader().document("d0000", nobody) is None
