"""What is Lance's own: recovery, runs, compaction, freshness. What every store does is in the conformance suite."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from citewell.errors import IndexFormatError, IndexLocked, IndexNotFound, PathError
from citewell.models.embedder import Vectors
from citewell.settings import Storage
from citewell.stores import lance_indexes, lance_reader, lance_writing, manifest
from citewell.stores.lance import LanceStore
from citewell.stores.lance_reader import LanceReader
from citewell.stores.lance_rows import TABLES
from citewell.stores.lock import WriterLock
from citewell.stores.manifest import Manifest
from citewell.stores.store import OWNER, Counts, Match, Scope
from tests.stores.corpus import bm25, commit, dot_products, indexed, key, made_with, sparse_of, unit_vectors, zipf_texts


class ScriptedDeath(Exception):
    """Stands for the death of the writer at the point where it is raised."""


def create(path: Path, exact_up_to: int = 5_000) -> LanceStore:
    return LanceStore.create(path, made_with(), Storage(exact_up_to=exact_up_to))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LanceStore]:
    store = create(tmp_path / "index")
    yield store
    store.close()


def die_before_the_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    def save(directory: Path, manifest: Manifest) -> None:
        raise ScriptedDeath

    monkeypatch.setattr(manifest, "save", save)


def scores(store: LanceStore, *query: str) -> dict[str, float]:
    return {match.entry_id: match.score for match in store.reader().keyword(query, 10_000, OWNER)}


def texts(**documents: list[str]) -> dict[str, str]:
    return {f"{name}/{place:04d}/e": text for name, parts in documents.items() for place, text in enumerate(parts)}


def newest_versions(store: LanceStore) -> dict[str, int]:
    return {name: store._connection.open_table(name).version for name in TABLES}


def files(directory: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in directory.rglob("*")}


def test_what_a_dead_writer_left_is_not_seen_and_undone_by_the_next(
    store: LanceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = zipf_texts(30, 1)
    commit(store, [indexed("kept", kept), indexed("old", ["old words"])])
    committed = store.manifest
    with monkeypatch.context() as patch:
        die_before_the_switch(patch)
        with pytest.raises(ScriptedDeath):
            commit(store, [indexed("new", ["new words"])], [key("kept"), key("old")])
    assert newest_versions(store) != committed.tables

    for reopened in (store, LanceStore.open(tmp_path / "index", Storage())):
        assert reopened.manifest == committed
        assert [document.id for document in reopened.reader().documents(OWNER)] == ["kept", "old"]
        assert scores(reopened, "new") == {}
        assert reopened.reader().counts(OWNER) == committed.counts == Counts(2, 31, 31)
    commit(reopened, [indexed("next", ["next words"])], [key("old")])
    assert [document.id for document in store.reader().documents(OWNER)] == ["kept", "next"]
    assert scores(store, "w1", "next") == pytest.approx(bm25(texts(kept=kept, next=["next words"]), ["w1", "next"]))


def test_a_state_outlives_death_after_compaction_however_old_it_is(
    store: LanceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lance_writing, "KEPT", timedelta(milliseconds=1))
    monkeypatch.setattr(lance_writing, "MAX_FRAGMENTS", 1)
    document = indexed("d", zipf_texts(10, 1))
    commit(store, [document])
    with monkeypatch.context() as patch:
        die_before_the_switch(patch)
        for number in range(3):
            with pytest.raises(ScriptedDeath):
                commit(store, [indexed(f"lost{number}", ["word"])])
            with pytest.raises(ScriptedDeath), store.writing():
                store._switch([indexed("lost", ["word"])], (), settle=True)
    reopened = LanceStore.open(tmp_path / "index", Storage())
    assert reopened.reader().document("d", OWNER) == document.document
    assert reopened.reader().dense(document.vectors[2], 1, OWNER)[0].entry_id == "d/0002/e"
    commit(reopened, [indexed("e", ["word"])])
    assert reopened.reader().counts(OWNER) == Counts(2, 11, 11)


def test_compaction_keeps_contents_and_scores_and_cleans_up_behind_the_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lance_writing, "KEPT", timedelta(milliseconds=1))
    monkeypatch.setattr(lance_writing, "MAX_FRAGMENTS", 5)
    monkeypatch.setattr(lance_indexes, "MIN_ROWS_INDEXED", 10)
    store = create(tmp_path / "index", exact_up_to=5)
    parts = {f"d{number}": zipf_texts(6, number) for number in range(8)}
    with store.writing():
        for name, part in parts.items():
            store.commit([indexed(name, part)])
        parts["d3"] = zipf_texts(4, 99)
        store.commit([indexed("d3", parts["d3"])], [key("d5")])
        del parts["d5"]
        before = len(files(tmp_path / "index"))
    # Nothing was left to optimise: cleaning up made no version that the manifest does not name.
    assert newest_versions(store) == store.manifest.tables
    assert len(files(tmp_path / "index")) < before
    assert not lance_writing.crowded(lance_writing.open_at(store._connection, store.manifest.tables), in_run=False)
    for reopened in (store, LanceStore.open(tmp_path / "index", Storage(exact_up_to=5))):
        assert scores(reopened, "w2", "w7") == pytest.approx(bm25(texts(**parts), ["w2", "w7"]), rel=1e-5)
        assert set(reopened.reader().chunks([f"{name}/0001" for name in [*parts, "d5"]], OWNER)) == {
            f"{name}/0001" for name in parts
        }
        vector = unit_vectors(1, 3)[0]
        known = {
            item.entry.id: float(indexed(name, part).vectors[place] @ vector)
            for name, part in parts.items()
            for place, item in enumerate(indexed(name, part).entries)
        }
        found = reopened.reader().dense(vector, 100, OWNER)
        assert {match.entry_id: match.score for match in found} == pytest.approx(known, abs=1e-6)


def test_many_old_versions_are_due_for_cleaning(store: LanceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def tables() -> lance_writing.Tables:
        return lance_writing.open_at(store._connection, store.manifest.tables)

    monkeypatch.setattr(lance_writing, "MAX_OLD_VERSIONS", 2)
    assert not lance_writing.crowded(tables(), in_run=False), "they are young"
    monkeypatch.setattr(lance_writing, "KEPT", timedelta(milliseconds=1))
    assert lance_writing.crowded(tables(), in_run=False)
    assert not lance_writing.crowded(tables(), in_run=True)


def test_a_run_settles_at_its_end(store: LanceStore) -> None:
    parts = {"first": zipf_texts(80, 1), "second": zipf_texts(20, 2)}
    commit(store, [indexed("first", parts["first"]), indexed("gone", zipf_texts(9, 3))])
    with store.writing():
        with store.writing():
            store.commit([indexed("second", parts["second"])], [key("gone")])
        assert not store.manifest.settled
        expected = bm25(texts(**parts), ["w1", "w12"])
        assert scores(store, "w1", "w12") == pytest.approx(expected, rel=0.25), "near, and every match is found"
    assert store.manifest.settled
    assert scores(store, "w1", "w12") == pytest.approx(expected, rel=1e-5)


def test_a_long_run_is_compacted_on_its_way(store: LanceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lance_writing, "MAX_FRAGMENTS_IN_RUN", 3)
    parts = {f"d{number}": zipf_texts(4, number) for number in range(5)}
    with store.writing():
        settled = []
        for name, part in parts.items():
            store.commit([indexed(name, part)])
            settled.append(store.manifest.settled)
    assert settled == [False, False, False, True, False]
    assert scores(store, "w1") == pytest.approx(bm25(texts(**parts), ["w1"]), rel=1e-5)


def test_a_run_cut_short_is_settled_by_the_next(store: LanceStore) -> None:
    parts = {"first": zipf_texts(50, 1), "second": zipf_texts(50, 2)}
    commit(store, [indexed("first", parts["first"])])

    def run_cut_short() -> None:
        with store.writing():
            store.commit([indexed("second", parts["second"])])
            raise ScriptedDeath

    with pytest.raises(ScriptedDeath):
        run_cut_short()
    assert not store.manifest.settled
    assert len(scores(store, "w1")) == len(bm25(texts(**parts), ["w1"]))
    with store.writing():
        pass
    assert store.manifest.settled
    assert scores(store, "w1") == pytest.approx(bm25(texts(**parts), ["w1"]), rel=1e-5)


def test_an_index_that_returns_too_few_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = create(tmp_path / "index", exact_up_to=5)
    document = indexed("d", ["w"] * 40)
    commit(store, [document])
    honest = LanceReader._nearest

    def scripted_short_index(
        self: LanceReader, vector: Vectors, limit: int, scope: Scope, *, exact: bool
    ) -> list[Match]:
        asked.append(exact)
        return honest(self, vector, limit if exact else limit - 1, scope, exact=exact)

    asked: list[bool] = []
    monkeypatch.setattr(LanceReader, "_nearest", scripted_short_index)
    assert len(store.reader().dense(document.vectors[0], 30, OWNER)) == 30
    assert asked == [False, True]


def test_opening_and_reading_write_nothing(store: LanceStore, tmp_path: Path) -> None:
    document = indexed("d", zipf_texts(20, 1))
    commit(store, [document])
    before = files(tmp_path)
    reader = LanceStore.open(tmp_path / "index", Storage()).reader()
    assert reader.dense(document.vectors[0], 3, OWNER)
    assert reader.keyword(["w1"], 3, OWNER)
    assert reader.documents(OWNER)
    assert files(tmp_path) == before


def test_threads_may_share_a_reader_and_a_store(store: LanceStore) -> None:
    document = indexed("d", zipf_texts(50, 1))
    commit(store, [document])
    reader = store.reader()

    def search(seed: int) -> None:
        for query in unit_vectors(5, seed):
            best = int(np.argmax(document.vectors @ query))
            assert reader.dense(query, 1, OWNER)[0].entry_id == f"d/{best:04d}/e"
            assert store.reader().counts(OWNER) in (Counts(1, 50, 50), Counts(1, 1, 1))

    with ThreadPoolExecutor(6) as threads:
        searches = [threads.submit(search, seed) for seed in range(6)]
        commit(store, [indexed("e", ["other"])], [key("d")])
        for each in searches:
            each.result()
    assert reader.counts(OWNER) == Counts(1, 50, 50)
    assert store.reader().counts(OWNER) == Counts(1, 1, 1)


def test_creation_refuses_what_is_there(store: LanceStore, tmp_path: Path) -> None:
    with pytest.raises(PathError, match=r"an index in .* already"):
        create(tmp_path / "index")
    (tmp_path / "file").write_text("text")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(PathError, match="is not a directory"):
            create(path)
    with WriterLock(tmp_path), pytest.raises(IndexLocked):
        create(tmp_path)


def test_a_creation_that_died_is_no_index_and_may_be_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        die_before_the_switch(patch)
        with pytest.raises(ScriptedDeath):
            create(tmp_path)
    with pytest.raises(IndexNotFound):
        LanceStore.open(tmp_path, Storage())
    store = create(tmp_path)
    assert store.reader().counts(OWNER) == Counts(0, 0, 0)
    assert store.made_with == made_with()


def test_tables_that_the_manifest_names_and_are_not_there_are_damage(store: LanceStore, tmp_path: Path) -> None:
    manifest.save(tmp_path / "index", replace(store.manifest, tables={**store.manifest.tables, "chunks": 999}))
    with pytest.raises(IndexFormatError, match=r"chunks of .* cannot be read at version 999"):
        LanceStore.open(tmp_path / "index", Storage())
    shutil.rmtree(tmp_path / "index" / "tables" / "entries.lance")
    with pytest.raises(IndexFormatError, match="backup"):
        LanceStore.open(tmp_path / "index", Storage())


def test_an_index_that_vanished_is_said_to_have(store: LanceStore, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "index")
    with pytest.raises(IndexNotFound):
        store.reader()


@pytest.mark.parametrize("at_once", [1, 7, 64])
def test_sparse_vectors_are_all_read_however_many_at_once(
    store: LanceStore, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(lance_reader, "SPARSE_AT_ONCE", at_once)
    parts = {name: zipf_texts(30, seed) for seed, name in enumerate("abc")}
    with store.writing():
        for name, its in parts.items():
            store.commit([indexed(name, its)])
    commit(store, [indexed("b", parts["b"][:9])])
    query = sparse_of("w1 w30 w30")
    expected = dot_products(texts(**{**parts, "b": parts["b"][:9]}), query)
    for k in (5, 99):
        found = [(match.score, match.entry_id) for match in store.reader().sparse(query, k, OWNER)]
        assert (
            found == sorted(((score, name) for name, score in expected.items()), key=lambda one: (-one[0], one[1]))[:k]
        )


def test_a_store_made_without_sparse_vectors_is_not_read_for_them(tmp_path: Path) -> None:
    store = LanceStore.create(tmp_path / "plain", replace(made_with(), sparse=""), Storage())
    commit(store, [indexed("d", ["word"])])
    with store.writing():
        for file in (tmp_path / "plain" / "tables").rglob("data/*"):
            file.unlink()
        assert store.reader().sparse(sparse_of("word"), 9, OWNER) == []
    store.close()
