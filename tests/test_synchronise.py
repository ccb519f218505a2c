"""One store made to hold what another holds: all of it, nothing else, and no text embedded that need not be."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import pytest

from citewell import synchronise as module
from citewell.filters import Equal, FieldType
from citewell.models.encoding import Encoders
from citewell.settings import Storage
from citewell.stores.lance import LanceStore
from citewell.stores.store import OWNER, IndexedDocument, MadeWith, Scope, Standing, Store, VersionKey
from citewell.synchronise import Synchronised, changes, synchronise
from citewell.types import Ending, Progress, Rights
from tests.scripted_embedder import ScriptedEmbedder
from tests.stores.corpus import commit, declare, indexed, key

OLD, NEW = "old", "new"
PAST = Standing(False, True, None, date(2026, 1, 31), datetime(2026, 2, 1, tzinfo=UTC), Ending.REPLACED)
KEPT = Standing(False, False, None, None, datetime(2026, 2, 1, tzinfo=UTC), Ending.DELETED)


def made(name: str, texts: Sequence[str], **given: object) -> IndexedDocument:
    """With the old embedder's vectors, and the embedded text known by its hash alone."""
    return indexed(name, texts, vectors=ScriptedEmbedder(OLD, 32).embed_passages(texts), **given)  # type: ignore[arg-type]


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Store]:
    with_old = MadeWith(ScriptedEmbedder(OLD, 32).identity, ((1.0,),), "1")
    store = LanceStore.create(tmp_path / "source", with_old, Storage())
    yield store
    store.close()


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Store]:
    with_new = MadeWith(ScriptedEmbedder(NEW, 16).identity, ((1.0,),), "1")
    store = LanceStore.create(tmp_path / "target", with_new, Storage())
    yield store
    store.close()


@pytest.fixture
def embedder() -> ScriptedEmbedder:
    return ScriptedEmbedder(NEW, 16)


def test_replies_that_wait_for_their_documents_wait_in_the_target_too(
    source: Store, target: Store, embedder: ScriptedEmbedder
) -> None:
    asked = [f"{number:02x}" * 32 for number in range(3)]
    commit(source, [made("d", ["w"], replies={asked[0]: "stored"})])
    for store, waiting in (
        (source, {asked[1]: "waits", asked[2]: "newer"}),
        (target, {asked[0]: "stored", asked[2]: "old"}),
    ):
        with store.writing():
            store.stash_replies(waiting)
    synchronise(source, target, Encoders(embedder))
    assert target.replies([]) == source.replies([]) == {asked[1]: "waits", asked[2]: "newer"}
    assert target.replies(["d"])[asked[0]] == "stored"


def whole(store: Store) -> list[IndexedDocument]:
    return store.fetch([VersionKey(version.document_id, version.number) for version in store.versions()])


def bare(document: IndexedDocument) -> IndexedDocument:
    return document.without_vectors(0)


def assert_same(source: Store, target: Store) -> None:
    """Everything but the vectors is that of the source, and the vectors are the new embedder's."""
    theirs, mine = whole(source), whole(target)
    assert [str(bare(one)) for one in mine] == [str(bare(one)) for one in theirs]
    fresh = ScriptedEmbedder(NEW, 16)
    for one in mine:
        if one.standing.searchable and one.entries:
            wanted = fresh.embed_passages([item.entry.text for item in one.entries])
            assert np.allclose(one.vectors, wanted, atol=1e-6)
        else:
            assert len(one.vectors) == 0
        assert {item.token_vectors for item in one.entries} <= {b""}, "they were the old embedder's"
    assert target.ledger() == source.ledger()
    assert target.reader().counts(OWNER) == source.reader().counts(OWNER)
    assert target.reader().documents(OWNER) == source.reader().documents(OWNER)
    assert changes(source, target) == []


def test_an_empty_store_gets_every_version_and_each_text_is_embedded_once(
    source: Store, target: Store, embedder: ScriptedEmbedder
) -> None:
    shared = "the same in both"
    commit(source, [made("a", [shared, "one"]), made("b", ["two", shared], groups=["team"]), made("none", [])])
    commit(
        source, [made("c", ["new"], number=2), made("c", ["was"], standing=PAST), made("d", ["gone"], standing=KEPT)]
    )
    done = synchronise(source, target, Encoders(embedder))
    assert done == Synchronised(put=6, dropped=0, embedded=5, too_long=0)
    assert sorted(embedder.embedded) == sorted([shared, "one", "two", "new", "was"])
    assert_same(source, target)
    assert synchronise(source, target, Encoders(embedder)) == Synchronised()


def test_two_empty_stores_are_the_same(source: Store, target: Store, embedder: ScriptedEmbedder) -> None:
    assert synchronise(source, target, Encoders(embedder)) == Synchronised()


def test_what_changed_is_put_and_what_went_is_dropped(source: Store, target: Store, embedder: ScriptedEmbedder) -> None:
    before = made("narrowed", ["secret"])
    commit(source, [before, made("gone", ["x"]), made("same", ["y"]), made("replaced", ["old text"])])
    synchronise(source, target, Encoders(embedder))
    embedder.embedded.clear()

    narrow = made("narrowed", ["secret"], groups=["board"])
    commit(source, [narrow], [key("gone")])
    commit(source, [made("replaced", ["new text"], number=2), made("replaced", ["old text"], standing=PAST)])
    done = synchronise(source, target, Encoders(embedder))
    assert done == Synchronised(put=3, dropped=1, embedded=1)
    assert embedder.embedded == ["new text"]
    assert_same(source, target)
    nobody = Scope(frozenset({"everyone"}))
    assert target.reader().document("narrowed", nobody) is None
    assert target.reader().document("gone", OWNER) is None


def test_a_change_of_anything_is_seen(source: Store, target: Store, embedder: ScriptedEmbedder) -> None:
    one = made("a", ["x"])
    commit(source, [one])
    synchronise(source, target, Encoders(embedder))
    for changed in (
        replace(one, recipe="recipe-2"),
        replace(one, set_aside="a hash"),
        replace(one, standing=Standing(in_force_from=date(2026, 1, 1))),
        replace(one, document=replace(one.document, fields={"kind": "note"})),
        replace(one, document=replace(one.document, expires=date(2027, 1, 1))),
        replace(one, document=replace(one.document, lost="page 3")),
        replace(one, document=replace(one.document, metadata={"author": "A"})),
        replace(one, document=replace(one.document, language="de")),
    ):
        commit(source, [changed])
        assert synchronise(source, target, Encoders(embedder)) == Synchronised(put=1)
    assert_same(source, target)


def test_a_text_that_moved_to_another_document_is_not_embedded_again(
    source: Store, target: Store, embedder: ScriptedEmbedder
) -> None:
    commit(source, [made("z", ["moved"]), made("y", ["kept elsewhere"])])
    synchronise(source, target, Encoders(embedder))
    commit(source, [made("a", ["moved"])], [key("z")])
    commit(source, [made("b", ["kept elsewhere"]), made("y", ["kept elsewhere"], standing=KEPT)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "COMMIT_ENTRIES", 1)
        assert synchronise(source, target, Encoders(embedder)) == Synchronised(put=3, dropped=1)
    assert_same(source, target)


def test_it_goes_on_where_it_was_stopped(source: Store, target: Store, embedder: ScriptedEmbedder) -> None:
    commit(source, [made(f"d{number}", [f"text {number}", "in all"]) for number in range(12)])
    told: list[Progress] = []

    def stop(progress: Progress) -> None:
        told.append(progress)
        if progress.files_done == 8:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "COMMIT_ENTRIES", 6)
        with pytest.raises(KeyboardInterrupt):
            synchronise(source, target, Encoders(embedder), stop)
    assert len(target.versions()) == 8
    assert {one.files_total for one in told} == {12}
    assert [one.embedded for one in told] == sorted(one.embedded for one in told)
    assert told[-1].embedded == 9
    commit(source, [], [key("d0")])  # what happens meanwhile
    assert synchronise(source, target, Encoders(embedder)) == Synchronised(put=4, dropped=1, embedded=4)
    assert sorted(embedder.embedded) == sorted({"in all", *(f"text {number}" for number in range(12))})
    assert_same(source, target)


def test_a_long_document_that_was_stopped_does_not_lose_its_vectors(
    source: Store, target: Store, embedder: ScriptedEmbedder
) -> None:
    commit(source, [made("long", [f"part {number}" for number in range(100)])])

    def stop(progress: Progress) -> None:
        if progress.embedded == 64:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "COMMIT_ENTRIES", 50)
        with pytest.raises(KeyboardInterrupt):
            synchronise(source, target, Encoders(embedder), stop)
        assert synchronise(source, target, Encoders(embedder)) == Synchronised(put=1, embedded=36)
    assert_same(source, target)


def test_texts_longer_than_the_embedder_reads_are_counted(source: Store, target: Store) -> None:
    short = ScriptedEmbedder(NEW, 16, max_tokens=12)
    commit(source, [made("a", ["ten signs.", "eleven sign", "a much longer text than that"])])
    assert synchronise(source, target, Encoders(short)).too_long == 2


def test_declared_fields_are_carried(source: Store, target: Store, embedder: ScriptedEmbedder) -> None:
    declare(source, {"kind": FieldType.TEXT})
    commit(source, [made("a", ["x"], fields={"kind": "note"}), made("b", ["y"])])
    synchronise(source, target, Encoders(embedder))
    assert target.reader().fields == {"kind": FieldType.TEXT}
    notes = Scope(None, where=Equal("kind", "note"))
    assert [one.id for one in target.reader().documents(notes)] == ["a"]

    # As when the settings changed: what is declared anew gets its values in the target, too.
    declare(source, {"kind": FieldType.LIST})
    commit(source, [made("a", ["x"], fields={"kind": ("note", "draft")}), made("b", ["y"])])
    assert synchronise(source, target, Encoders(embedder)).embedded == 0
    drafts = Scope(None, where=Equal("kind", "draft"))
    assert [one.id for one in target.reader().documents(drafts)] == ["a"]
    assert_same(source, target)


def test_a_value_of_a_type_that_a_field_had_before_is_carried_as_it_is(
    source: Store, target: Store, embedder: ScriptedEmbedder
) -> None:
    declare(source, {"amount": FieldType.TEXT})
    commit(source, [made("a", ["x"], fields={"amount": "about ten"})])
    declare(source, {"amount": FieldType.NUMBER})
    synchronise(source, target, Encoders(embedder))
    assert_same(source, target)
    assert target.reader().documents(Scope(None, where=Equal("amount", 10.0))) == []


def test_random_histories(source: Store, target: Store, embedder: ScriptedEmbedder) -> None:
    """Documents come, change, are narrowed, deleted, kept and dropped, and the target follows now and then."""
    draws = random.Random(5)
    numbers: dict[str, int] = {}
    for step in range(24):
        name = draws.choice("abcdef")
        number = numbers.setdefault(name, 1)
        texts = [f"{name} {draws.randrange(4)}" for _ in range(draws.randrange(1, 4))]
        match draws.randrange(5):
            case 0:
                commit(source, [], [VersionKey(name, number) for number in range(1, number + 1)])
            case 1:
                past = [replace(one, standing=PAST) for one in source.fetch([VersionKey(name, number)])]
                numbers[name] = number + 1
                commit(source, [*past, made(name, texts, number=number + 1)])
            case 2:
                commit(source, [replace(one, standing=KEPT) for one in source.fetch([VersionKey(name, number)])])
            case 3:
                now = source.fetch([VersionKey(name, number)])
                rights = Rights(frozenset({draws.choice(["board", "team"])}))
                commit(source, [replace(one, document=replace(one.document, rights=rights)) for one in now])
            case _:
                commit(source, [made(name, texts, number=number)])
        if step % 8 == 7:
            synchronise(source, target, Encoders(embedder))
            assert_same(source, target)
    assert len(source.versions()) > 4
