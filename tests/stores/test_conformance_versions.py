"""Every version of a document: which of them is found on which day, and what is only kept."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from citewell.filters import Contains, Equal, FieldType, Filter, Not, Range
from citewell.stores.store import OWNER, Counts, IndexedDocument, Scope, Standing, Store
from citewell.types import EVERYONE, Ending, Removed
from tests.stores.conftest import Engine
from tests.stores.corpus import commit, declare, embedded, indexed, key, sparse_of, unit_vectors

JUNE = date(2026, 6, 1)
ENDED = datetime(2026, 6, 1, 12, tzinfo=UTC)
GROUPS = frozenset({EVERYONE})
PAST = Standing(
    current=False,
    in_force_from=date(2026, 1, 1),
    in_force_to=date(2026, 5, 31),
    ended_at=ENDED,
    ending=Ending.REPLACED,
)
KEPT = Standing(current=False, searchable=False, ended_at=ENDED, ending=Ending.DELETED)


def three_versions() -> list[IndexedDocument]:
    return [
        indexed("d", ["alpha old", "beta old"], number=1, standing=PAST),
        indexed("d", ["alpha corrected"], number=2, standing=KEPT),
        indexed("d", ["alpha new"], number=3, standing=Standing(in_force_from=JUNE)),
    ]


def found(store: Store, scope: Scope, word: str = "alpha") -> set[str]:
    return {match.chunk_id for match in store.reader().keyword([word], 9, scope)}


def test_a_day_finds_the_version_of_that_day_in_every_leg(store: Store) -> None:
    versions = three_versions()
    commit(store, versions)
    reader = store.reader()
    for day, expected in ((date(2026, 3, 1), 0), (date(2026, 5, 31), 0), (JUNE, 2), (date(2027, 1, 1), 2), (None, 2)):
        scope, version = Scope(GROUPS, day), versions[expected]
        ids = {chunk.id for chunk in version.chunks}
        assert {match.chunk_id for match in reader.dense(version.vectors[0], 9, scope)} == ids
        assert found(store, scope) == {version.chunks[0].id}
        assert reader.document("d", scope) == version.document
        assert [document.number for document in reader.documents(scope)] == [version.document.number]
        assert reader.document_chunks("d", scope) == list(version.chunks)
        assert reader.counts(scope) == Counts(1, len(ids), len(ids))
        entries = [item.entry.id for one in versions for item in one.entries]
        assert len(reader.vectors(entries, scope)) == len(ids)
        assert {match.chunk_id for match in reader.sparse(sparse_of("alpha"), 9, scope)} == {version.chunks[0].id}
    nothing = Scope(GROUPS, date(2025, 12, 31))
    assert reader.document("d", nothing) is None
    assert reader.dense(versions[0].vectors[0], 9, nothing) == []
    assert reader.counts(nothing) == Counts(0, 0, 0)


def test_a_chunk_is_found_by_id_in_any_searchable_version_but_only_by_who_may_read_it(store: Store) -> None:
    versions = three_versions()
    commit(store, versions)
    wanted = [version.chunks[0].id for version in versions]
    assert set(store.reader().chunks(wanted, Scope(GROUPS))) == {wanted[0], wanted[2]}
    assert store.reader().chunks(wanted, Scope(frozenset({"others"}))) == {}
    assert set(store.reader().chunks(wanted, Scope(GROUPS, JUNE))) == {wanted[2]}


def test_what_is_only_kept_is_in_no_leg(store: Store) -> None:
    kept = indexed("k", ["hidden word"], standing=KEPT)
    commit(store, [kept])
    for scope in (OWNER, Scope(GROUPS, JUNE)):
        assert store.reader().dense(kept.vectors[0], 5, scope) == []
        assert found(store, scope, "hidden") == set()
        assert store.reader().sparse(sparse_of("hidden"), 5, scope) == []
        assert store.reader().vectors([kept.entries[0].entry.id], scope) == {}
        assert store.reader().document("k", scope) is None
        assert store.reader().counts(scope) == Counts(0, 0, 0)
    assert store.embedded([kept.entries[0].text_hash]) == {}
    assert store.ledger() == {}


def test_every_version_can_be_fetched_as_it_was_put(store: Store) -> None:
    versions = three_versions()
    without_vectors = replace(indexed("e", ["x y", "z"], standing=KEPT), vectors=np.empty((0, 32), np.float32))
    empty = replace(indexed("f", [], standing=KEPT), set_aside="abc")
    commit(store, [*versions, without_vectors, empty])
    fetched = store.fetch([key("d", 3), key("d", 1), key("d", 2), key("e"), key("f"), key("none"), key("d", 4)])
    assert [one.key for one in fetched] == [key("d", 1), key("d", 2), key("d", 3), key("e"), key("f")]
    for one, put in zip(fetched, [*versions, without_vectors, empty], strict=True):
        assert len(one.vectors) == len(put.vectors)
        if len(put.vectors):
            np.testing.assert_array_equal(one.vectors, put.vectors)
        assert replace(one, vectors=put.vectors) == put


def test_a_version_can_be_put_to_another_standing_and_back(store: Store) -> None:
    document = indexed("d", ["alpha"])
    for _ in range(2):
        commit(store, [document])
        assert found(store, OWNER) == {"d/0000"}
        commit(store, [replace(document, standing=KEPT)])
        assert found(store, OWNER) == set()
    assert [version.ending for version in store.versions()] == [Ending.DELETED]
    commit(store, [], [key("d")])
    assert store.versions() == []
    assert store.fetch([key("d")]) == []


def test_the_history_lists_every_version(store: Store) -> None:
    commit(store, [*three_versions(), indexed("a", ["x"], valid_to=JUNE)])
    history = store.versions()
    assert [(version.document_id, version.number) for version in history] == [("a", 1), ("d", 1), ("d", 2), ("d", 3)]
    first, past, kept, current = history
    assert (first.valid_to, first.in_force_to, first.current, first.ended_at) == (JUNE, JUNE, True, None)
    assert (past.current, past.searchable, past.in_force_to) == (False, True, date(2026, 5, 31))
    assert (past.label, past.ending, past.ended_at) == ("1", Ending.REPLACED, ENDED)
    assert (kept.searchable, kept.ending) == (False, Ending.DELETED)
    assert (current.current, current.in_force_from, current.indexed_at.utcoffset()) == (
        True,
        JUNE,
        timedelta(0),
    )
    assert store.versions(["d"]) == history[1:]
    assert store.versions([]) == store.versions(["none"]) == []


def test_the_ledger_of_some_roots_is_what_lies_below_them(store: Store) -> None:
    sources = ["file:///a", "file:///a/b.md", "file:///a/c.zip!/in.md", "file:///ab/x.md", "file:///a_/x.md"]
    commit(store, [indexed(f"d{n}", ["x"], source=source) for n, source in enumerate(sources)])
    commit(store, three_versions())
    assert {line.number for line in store.ledger().values() if line.document_id == "d"} == {3}

    def below(*roots: str) -> set[str]:
        return {line.source for line in store.ledger(roots).values()}

    assert below("file:///a") == set(sources[:3])
    assert below("file:///a/c.zip") == {sources[2]}
    assert below("file:///ab", "file:///a_") == set(sources[3:])
    assert below("file:///a'") == below() == set()


FIELDS = {
    "kind": FieldType.TEXT,
    "amount": FieldType.NUMBER,
    "signed": FieldType.DATE,
    "tags": FieldType.LIST,
}


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Equal("kind", "a"), {"x"}),
        (Not(Equal("kind", "a")), {"y", "z"}),
        (Range("amount", 2.5), {"y"}),
        (Range("signed", None, date(2026, 1, 31)), {"x"}),
        (Equal("tags", "red"), {"x", "y"}),
        (Contains("tags", "lu"), {"y"}),
        (Contains("source", "/z"), {"z"}),
        (Equal("version", "1"), {"x", "y", "z"}),
    ],
)
def test_declared_fields_filter_every_leg(store: Store, where: Filter, expected: set[str]) -> None:
    declare(store, FIELDS)
    assert dict(store.reader().fields) == FIELDS
    documents = [
        indexed("x", ["w"], fields={"kind": "a", "amount": 1.0, "signed": date(2026, 1, 31), "tags": ("red",)}),
        indexed("y", ["w"], fields={"kind": "b", "amount": 2.5, "tags": ("red", "blue")}),
        indexed("z", ["w"]),
    ]
    commit(store, documents)
    scope, reader = Scope(GROUPS, JUNE, where), store.reader()
    assert {match.chunk_id[0] for match in reader.keyword(["w"], 9, scope)} == expected
    assert {match.chunk_id[0] for match in reader.dense(documents[0].vectors[0], 9, scope)} == expected
    assert {match.chunk_id[0] for match in reader.sparse(sparse_of("w"), 9, scope)} == expected
    assert {document.id for document in reader.documents(scope)} == expected
    assert {chunk_id[0] for chunk_id in reader.chunks([d.chunks[0].id for d in documents], scope)} == expected
    assert reader.counts(scope).entries == len(expected)


def test_a_field_may_change_its_type_or_go_and_nothing_else_does(store: Store) -> None:
    declare(store, {"kind": FieldType.TEXT, "amount": FieldType.NUMBER})
    document = indexed("x", ["w"], fields={"kind": "a", "amount": 1.0})
    commit(store, [document])
    before = store.reader()
    declare(store, {"kind": FieldType.LIST})
    assert dict(store.reader().fields) == {"kind": FieldType.LIST}
    assert found(store, Scope(GROUPS, None, Equal("kind", "a")), "w") == set()
    assert dict(before.fields) == {"kind": FieldType.TEXT, "amount": FieldType.NUMBER}
    assert before.counts(Scope(GROUPS, None, Equal("kind", "a"))).chunks == 1
    (kept,) = store.fetch([key("x")])
    assert kept.document == document.document
    commit(store, [replace(document, document=replace(document.document, fields={"kind": ("a", "b")}))])
    assert found(store, Scope(GROUPS, None, Equal("kind", "b")), "w") == {"x/0000"}


def test_two_current_versions_in_one_batch_are_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="more than once"):
        commit(store, [indexed("d", ["a"]), indexed("d", ["b"], number=2)])
    with pytest.raises(ValueError, match="must be searchable"):
        commit(store, [indexed("d", ["a"], standing=Standing(searchable=False))])


def test_what_expires_and_what_was_kept_long_enough_are_found(store: Store) -> None:
    current = indexed("x", ["w"])
    expiring = replace(indexed("y", ["w"]), document=replace(indexed("y", ["w"]).document, expires=JUNE))
    commit(store, [current, expiring, *three_versions(), indexed("k", ["w"], standing=KEPT)])
    assert set(store.expired(JUNE)) == {"y"}
    assert store.expired(date(2026, 5, 31)) == {}
    assert store.ledger()["y"].expires == JUNE
    assert store.ended_before(ENDED) == []
    assert store.ended_before(ENDED + timedelta(microseconds=1)) == [key("d", 2), key("k")]


def test_what_is_erased_is_dropped_in_the_same_step(engine: Engine, store: Store, tmp_path: Path) -> None:
    commit(store, [*three_versions(), indexed("k", ["w"])])
    with store.writing():
        store.erase([Removed("d", "file:///d", (1, 2), {}), Removed("never was", "file:///n", (1,), {})])
        assert store.erasing is None
        store.erase()
    again = engine.open(tmp_path / "index")
    for one in (store, again):
        assert [(version.document_id, version.number) for version in one.versions()] == [("d", 3), ("k", 1)]
        assert one.erasing is None
        assert one.reader().counts(OWNER).documents == 2
    again.close()


def test_stashed_vectors_outlive_a_run_cut_short_and_no_other(engine: Engine, store: Store, tmp_path: Path) -> None:
    hashes, made = ["ab" * 32, "cd" * 32, "ef" * 32], embedded(unit_vectors(3, 1))

    def cut_short() -> None:
        with store.writing():
            store.stash(dict(zip(hashes[:2], made, strict=False)))
            store.stash({hashes[2]: made[2]})
            raise InterruptedError

    with pytest.raises(InterruptedError):
        cut_short()
    again = engine.open(tmp_path / "index")
    known = again.embedded([*hashes[1:], "00" * 32])
    assert known.keys() == set(hashes[1:])
    for text_hash, one in zip(hashes[1:], made[1:], strict=True):
        np.testing.assert_array_equal(known[text_hash].vector, one.vector)
        assert (known[text_hash].tokens, known[text_hash].sparse) == (one.tokens, one.sparse)
    assert again.reader().counts(OWNER).entries == 0
    commit(again, [indexed("d", ["w"])])
    assert again.embedded(hashes) == {}
    again.close()
