"""When Lance's indexes are built anew and when they may lag, and what a search finds by them meanwhile."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from citewell.models.embedder import Vectors
from citewell.settings import Storage
from citewell.stores import lance_indexes, lance_reader, lance_writing
from citewell.stores.lance import LanceStore
from citewell.stores.lance_rows import ENTRIES, TABLES
from citewell.stores.lance_scopes import Compared, SmallScopes
from citewell.stores.store import OWNER, Scope
from tests.stores.corpus import DIMENSIONS, bm25, commit, indexed, key, made_with, unit_vectors, zipf_texts

CLUSTERS = 40
OF_ONE_CLUSTER = Scope(frozenset({"one cluster"}))
OF_A_TENTH = Scope(frozenset({"a tenth"}))


def create(path: Path, storage: Storage) -> LanceStore:
    return LanceStore.create(path, made_with(), storage)


def index_folders(path: Path) -> set[Path]:
    return set(path.glob("tables/*/_indices/*"))


def scores(store: LanceStore, *query: str) -> dict[str, float]:
    return {match.entry_id: match.score for match in store.reader().keyword(query, 10_000, OWNER)}


def texts(documents: dict[str, list[str]]) -> dict[str, str]:
    return {f"{name}/{place:04d}/e": text for name, parts in documents.items() for place, text in enumerate(parts)}


def rows_in_index(store: LanceStore, column: str) -> int | None:
    statistics = store._connection.open_table(ENTRIES).index_stats(f"{column}_idx")
    return None if statistics is None else statistics.num_indexed_rows


def clustered(count: int, seed: int, clusters: range = range(CLUSTERS)) -> Vectors:
    """Vectors around some of 40 centres, as close as texts on one subject: neighbours have a cosine of 0.9."""
    random = np.random.default_rng(seed)
    around = unit_vectors(CLUSTERS, 77)[random.choice(list(clusters), size=count)]
    vectors = around + 0.3 / np.sqrt(DIMENSIONS) * random.standard_normal((count, DIMENSIONS))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


@pytest.mark.parametrize("quantise", ["none", "int8", "binary"])
def test_recall_by_index_also_where_the_filter_is_far_from_the_query(
    quantise: Literal["none", "int8", "binary"], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lance_indexes, "ROWS_PER_PARTITION", 30)
    monkeypatch.setitem(lance_reader.CANDIDATES, "binary", 200)
    store = create(tmp_path / "index", Storage(exact_up_to=100, quantise=quantise))
    of_all, of_tenth, of_one = clustered(3_000, 1), clustered(300, 2), clustered(150, 3, range(1))
    commit(
        store,
        [
            indexed("all", ["w"] * 3_000, vectors=of_all),
            indexed("tenth", ["w"] * 300, vectors=of_tenth, groups=["a tenth"]),
            indexed("one", ["w"] * 150, vectors=of_one, groups=["one cluster"]),
        ],
    )
    assert rows_in_index(store, "vector") == 3_450
    queries = clustered(20, 4, range(1, CLUSTERS))
    everything = {"all": of_all, "tenth": of_tenth, "one": of_one}
    for scope, seen in (
        (OWNER, everything),
        (OF_A_TENTH, {"tenth": of_tenth}),
        (OF_ONE_CLUSTER, {"one": of_one}),
    ):
        names = [f"{name}/{place:04d}/e" for name, vectors in seen.items() for place in range(len(vectors))]
        cosines = queries @ np.concatenate(list(seen.values())).T
        hits = 0
        for query, of_query in zip(queries, cosines, strict=True):
            best = {names[place]: of_query[place] for place in np.argsort(-of_query)[:10]}
            found = {match.entry_id: match.score for match in store.reader().dense(query, 10, scope)}
            assert len(found) == 10
            hits += len(found.keys() & best.keys())
            assert {name: found[name] for name in found.keys() & best.keys()} == pytest.approx(
                {name: float(best[name]) for name in found.keys() & best.keys()}, abs=1e-6
            ), "the cosines are those of whole vectors"
        assert hits >= 0.98 * 10 * len(queries)


def test_adding_a_document_to_a_large_index_builds_no_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lance_indexes, "KEYWORDS_EXACT_UP_TO", 500)
    monkeypatch.setattr(lance_indexes, "MIN_ROWS_INDEXED", 10)
    path = tmp_path / "index"
    store = create(path, Storage(exact_up_to=500))
    parts = {"first": zipf_texts(1_000, 1)}
    commit(store, [indexed("first", parts["first"])])
    before = index_folders(path)
    assert {rows_in_index(store, column) for column in ("tokens", "vector", "id", "groups")} == {1_000}

    for number in range(3):
        parts[f"d{number}"] = zipf_texts(4, number + 2)
        commit(store, [indexed(f"d{number}", parts[f"d{number}"])])
    commit(store, [], [key("d1")])
    del parts["d1"]
    assert index_folders(path) == before
    assert store.manifest.settled
    expected = bm25(texts(parts), ["w1", "w12", "w200"])
    assert scores(store, "w1", "w12", "w200") == pytest.approx(expected, rel=0.02), "all are found, scores near"
    for document in ("first", "d0", "d2"):
        vector = indexed(document, parts[document]).vectors[3]
        assert store.reader().dense(vector, 1, OWNER)[0].entry_id == f"{document}/0003/e"

    parts["much"] = zipf_texts(30, 9)
    commit(store, [indexed("much", parts["much"])])
    assert rows_in_index(store, "tokens") == 1_038
    assert scores(store, "w1", "w12", "w200") == pytest.approx(bm25(texts(parts), ["w1", "w12", "w200"]), rel=1e-5)


def test_what_was_removed_counts_as_stale_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lance_indexes, "KEYWORDS_EXACT_UP_TO", 100)
    path = tmp_path / "index"
    store = create(path, Storage())
    parts = {f"d{number}": zipf_texts(4, number) for number in range(100)}
    commit(store, [indexed(name, part) for name, part in parts.items()])
    before = index_folders(path)
    commit(store, [], [key("d0")])
    assert index_folders(path) == before
    commit(store, [], [key("d1"), key("d2")])
    assert index_folders(path) != before
    for gone in ("d0", "d1", "d2"):
        del parts[gone]
    assert scores(store, "w1") == pytest.approx(bm25(texts(parts), ["w1"]), rel=1e-5)


def test_small_fragments_are_gathered_without_touching_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lance_indexes, "KEYWORDS_EXACT_UP_TO", 100)
    monkeypatch.setattr(lance_indexes, "MAX_FRESH_FRAGMENTS", 3)
    path = tmp_path / "index"
    store = create(path, Storage())
    commit(store, [indexed("first", zipf_texts(1_000, 1))])
    large = max(path.glob("tables/entries.lance/data/*"), key=lambda file: file.stat().st_size)
    before = index_folders(path)
    for number in range(9):
        commit(store, [indexed(f"d{number}", [f"only{number} w1"])])
    assert index_folders(path) == before
    for name, table in lance_writing.open_at(store._connection, store.manifest.tables).items():
        assert lance_writing.fragments(table) <= 4, name
        assert not lance_writing.crowded({name: table}, in_run=False)
    assert large.exists()
    assert [len(scores(store, f"only{number}")) for number in range(9)] == [1] * 9
    assert store.reader().counts(OWNER).entries == 1_009
    assert set(newest_versions(store).items()) == set(store.manifest.tables.items())


def newest_versions(store: LanceStore) -> dict[str, int]:
    return {name: store._connection.open_table(name).version for name in TABLES}


def test_another_way_to_shorten_vectors_is_built_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "index"
    store = create(path, Storage(exact_up_to=50, quantise="none"))
    commit(store, [indexed("d", ["w"] * 300)])
    assert rows_in_index(store, "vector") == 300
    assert store.manifest.built.quantise == "none"
    reopened = LanceStore.open(path, Storage(exact_up_to=50, quantise="int8"))
    commit(reopened, [indexed("e", ["w"])])
    assert reopened.manifest.built.quantise == "int8"
    assert rows_in_index(reopened, "vector") == 301


def test_indexes_that_were_replaced_are_removed_when_no_reader_can_be_using_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "index"
    store = create(path, Storage())
    for number in range(3):
        commit(store, [indexed(f"d{number}", [f"w{number}"])])
    assert len(index_folders(path)) == 4, "of the empty index and of three runs"
    monkeypatch.setattr(lance_writing, "KEPT", timedelta(0))
    commit(store, [indexed("d3", ["w3"])])
    commit(store, [indexed("d4", ["w4"])])
    assert len(index_folders(path)) <= 2, "that in use, and the one just replaced"
    assert [len(scores(store, f"w{number}")) for number in range(5)] == [1] * 5
    assert len(scores(LanceStore.open(path, Storage()), "w4")) == 1


def test_no_file_of_before_is_left_after_erasing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lance_indexes, "MIN_ROWS_INDEXED", 10)
    path = tmp_path / "index"
    store = create(path, Storage(exact_up_to=20))
    secret = indexed("secret", ["quokka salary", "zebra pension"], source="file:///personnel/quokka")
    kept = indexed("kept", zipf_texts(200, 1))
    commit(store, [kept, secret])
    needles = [b"quokka", b"pension", *(vector.tobytes() for vector in secret.vectors)]
    assert all(any(needle in content for content in contents(path).values()) for needle in needles)

    before = contents(path)
    commit(store, [], [key("secret")])
    assert any(needles[-1] in content for content in contents(path).values()), "deleting only marks rows as deleted"
    with store.writing():
        store.erase()
    after = contents(path)
    # Long columns of text are stored compressed, where no search for bytes finds them. So what proves it is that every
    # file is new, written when only the rest was there; all that keeps its name is rewritten in place.
    in_place = {file for file in after.keys() & before.keys() if after[file] == before[file]}
    assert not [file for file in in_place if file.parent.name in ("data", "_deletions") or "_indices" in file.parts]
    assert not [needle for needle in needles for content in after.values() if needle in content]
    assert store.reader().dense(kept.vectors[3], 1, OWNER)[0].entry_id == "kept/0003/e"
    assert rows_in_index(store, "vector") == 200
    assert newest_versions(store) == store.manifest.tables


def contents(path: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_scopes_in_memory_are_let_go_of_when_they_are_too_many(tmp_path: Path) -> None:
    store = create(tmp_path / "index", Storage())
    documents = [indexed(f"d{number}", ["w"] * 10, groups=[f"g{number}"]) for number in range(3)]
    commit(store, documents)
    loaded: list[Scope] = []
    reader = store.reader()

    def load(scope: Scope) -> Compared:
        loaded.append(scope)
        return reader._whole(scope)

    of_two = 2 * 10 * DIMENSIONS * 4
    scopes = SmallScopes(load, max_bytes=of_two)
    assert scopes.fits(10, DIMENSIONS)
    assert not scopes.fits(11, DIMENSIONS)
    first, second, third = (Scope(frozenset({f"g{number}"})) for number in range(3))
    for scope in (first, second, first, third, first, second):
        best = scopes.get(scope).first(documents[0].vectors[0], 20)
        assert len(best) == 10
        assert (best[0].entry_id == "d0/0000/e") is (scope == first)
    assert loaded == [first, second, third, second], "the one used least lately went"


def test_equal_vectors_come_in_the_order_of_their_ids(tmp_path: Path) -> None:
    same = np.repeat(unit_vectors(1, 5), 23, axis=0)
    store = create(tmp_path / "index", Storage())
    commit(store, [indexed("b", ["w"] * 23, vectors=same), indexed("a", ["w"] * 23, vectors=same)])
    found = [match.entry_id for match in store.reader().dense(unit_vectors(1, 6)[0], 30, OWNER)]
    assert found == [f"a/{place:04d}/e" for place in range(23)] + [f"b/{place:04d}/e" for place in range(7)]
