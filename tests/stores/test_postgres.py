"""What is PostgreSQL's own: states and their end, bodies kept, fields, stashed vectors, migrations."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from citewell.errors import IndexFormatError
from citewell.filters import Equal, FieldType
from citewell.settings import Storage
from citewell.stores.postgres import schema, writing
from citewell.stores.postgres.home import PostgresHome
from citewell.stores.postgres.store import PostgresStore
from citewell.stores.store import OWNER, Counts, Scope, Standing
from tests.stores.corpus import (
    commit,
    declare,
    embedded,
    indexed,
    key,
    sparse_of,
    unit_vectors,
    zipf_texts,
)
from tests.stores.postgres_engine import create, made_older, open_store, rows_of, schema_for, server

STORAGE = Storage()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[PostgresStore]:
    store = create(tmp_path, STORAGE)
    yield store
    store.close()


def test_an_old_reader_keeps_its_state_until_its_rows_are_cleaned_up(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = indexed("d", ["alpha", "beta"])
    commit(store, [first, indexed("other", ["alpha"])])
    before = store.reader()
    commit(store, [indexed("d", ["gamma"])], [key("other")])
    assert before.document("d", OWNER) == first.document
    assert len(before.keyword(["alpha"], 9, OWNER)) == 2
    assert before.keyword(["gamma"], 9, OWNER) == []
    assert store.reader().counts(OWNER) == Counts(1, 1, 1)
    assert rows_of(store, "entries") == 4

    monkeypatch.setattr(writing, "KEPT", timedelta(0))
    with store.writing():
        pass
    tables = ("documents", "bodies", "chunks", "entries", "postings", "sparse_vectors", "states")
    assert [rows_of(store, table) for table in tables] == [1] * len(tables)
    for ask in (
        lambda: before.counts(OWNER),
        lambda: before.dense(first.vectors[0], 1, Scope(frozenset({"everyone"}))),
    ):
        with pytest.raises(IndexFormatError, match=r"is older than an hour, and gone.*Begin again"):
            ask()
    assert store.reader().document("d", OWNER) is not None


def test_a_version_that_only_stands_otherwise_keeps_its_body(store: PostgresStore) -> None:
    old = indexed("d", zipf_texts(6, 1))
    commit(store, [old])
    ended = replace(old, standing=Standing(current=False, in_force_to=date(2026, 1, 1)), set_aside="hash")
    commit(store, [ended, indexed("d", ["new"], number=2)])
    assert rows_of(store, "entries") == 7
    assert rows_of(store, "documents") == 3
    (fetched,) = store.fetch([key("d")])
    assert (fetched.standing, fetched.set_aside, fetched.entries) == (ended.standing, "hash", old.entries)
    np.testing.assert_array_equal(fetched.vectors, old.vectors)
    vectors = old.vectors.copy()
    vectors[0] *= -1
    for changed in (
        replace(ended, vectors=vectors),
        replace(ended, standing=Standing(current=False, searchable=False)),
        replace(ended, document=replace(ended.document, elements=())),
    ):
        count = rows_of(store, "entries")
        commit(store, [changed])
        assert rows_of(store, "entries") == count + 6


def test_the_statistics_of_a_state_are_those_of_its_rows(store: PostgresStore) -> None:
    chance = random.Random(5)
    with store.writing():
        for step in range(25):
            names = chance.sample("abcdefgh", 3)
            put = [
                indexed(name, zipf_texts(chance.randint(0, 4), step), standing=None if chance.random() < 0.7 else KEPT)
                for name in names[:2]
            ]
            store.commit(put, [key(names[2])])
            state = store.reader().state
            assert (state.entries, state.tokens) == _counted(store)
            assert state.number == step + 1


KEPT = Standing(current=False, searchable=False)


def _counted(store: PostgresStore) -> tuple[int, int]:
    entries = [
        item
        for version in store.fetch([key(name) for name in "abcdefgh"])
        if version.standing.searchable
        for item in version.entries
    ]
    return len(entries), sum(len(item.tokens.split()) for item in entries)


def test_an_old_reader_keeps_its_fields(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    declare(store, {"year": FieldType.NUMBER, "gone": FieldType.TEXT})
    commit(store, [indexed("d", ["w"], fields={"year": 2026.0, "gone": "x"})])
    before = store.reader()
    declare(store, {"year": FieldType.TEXT})
    assert store.reader().fields == {"year": FieldType.TEXT}
    assert store.reader().documents(Scope(None, where=Equal("year", "2026"))) == []
    for condition in (Equal("year", 2026.0), Equal("gone", "x")):
        assert len(before.documents(Scope(None, where=condition))) == 1
    commit(store, [indexed("d", ["w"], fields={"year": "2026"})])
    assert len(store.reader().documents(Scope(None, where=Equal("year", "2026")))) == 1
    same = store.reader()
    declare(store, {"year": FieldType.TEXT})
    assert store.reader() is same, "nothing was declared anew"

    monkeypatch.setattr(writing, "KEPT", timedelta(0))
    with store.writing():
        pass
    with store._database.reading() as connection:
        columns = connection.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = 'documents'::regclass"
        ).fetchall()
    assert sorted(name for (name,) in columns if name.startswith("f_")) == ["f_year_3"]


def test_stashed_vectors_are_known_until_the_run_ends(store: PostgresStore, tmp_path: Path) -> None:
    (made,), text_hash = embedded(unit_vectors(1, 4)), "ab" * 32

    def cut_short() -> None:
        with store.writing():
            store.stash({text_hash: made})
            store.stash({text_hash: made})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cut_short()
    again = open_store(tmp_path, STORAGE)
    np.testing.assert_array_equal(again.embedded([text_hash, "cd"])[text_hash].vector, made.vector)
    with again.writing():
        assert set(again.embedded([text_hash])) == {text_hash}
    assert again.embedded([text_hash]) == {}
    again.close()


@pytest.mark.parametrize("version", range(1, len(schema.STEPS)))
def test_tables_of_an_older_version_are_brought_up_to_date(tmp_path: Path, version: int) -> None:
    """What those tables could hold is there afterwards, and what they could not can be stored."""
    whole = indexed("d", ["word"], replies={"ab" * 32: "reply"})
    whole = replace(whole, document=replace(whole.document, lost="page 2"))
    store = create(tmp_path, STORAGE)
    commit(store, [whole])
    made_older(store, version)
    store.close()
    newest = len(schema.STEPS)
    with pytest.raises(IndexFormatError, match=rf"version {version}; .* uses {newest}\. Run `citewell doctor --fix`"):
        open_store(tmp_path, STORAGE)
    home = PostgresHome(server().url(schema_for(tmp_path)), STORAGE)
    assert home.outdated() == [1]
    assert home.upgrade() == {1: list(range(version + 1, newest + 1))}
    assert (home.outdated(), home.upgrade()) == ([], {})
    store = home.open(1)
    assert [document.id for document in store.reader().lossy(OWNER)] == ["d"]
    (kept,) = store.fetch([whole.key])
    assert (kept.document, kept.chunks) == (whole.document, whole.chunks)
    np.testing.assert_array_equal(kept.vectors, whole.vectors)
    assert kept.entries == tuple(
        replace(
            item, token_vectors=item.token_vectors if version > 2 else b"", sparse=item.sparse if version > 3 else b""
        )
        for item in whole.entries
    )
    assert kept.replies == (whole.replies if version > 4 else {})
    commit(store, [whole])
    with store.writing():
        store.stash({"ab" * 32: embedded(unit_vectors(2, 1))[0]})
        store.stash_replies({"cd" * 32: "stashed"})
        assert store.replies(["d"]) == {"ab" * 32: "reply", "cd" * 32: "stashed"}
    (again,) = store.fetch([whole.key])
    assert replace(again, vectors=whole.vectors) == whole
    assert [match.entry_id for match in store.reader().sparse(sparse_of("word"), 9, OWNER)] == ["d/0000/e"]
    with store._database.reading() as connection:
        assert connection.execute("SELECT to_regclass('documents_lossy') IS NOT NULL").fetchone() == (True,)
    home.close()


def test_tables_of_a_newer_version_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newest = len(schema.STEPS)
    create(tmp_path, STORAGE).close()
    monkeypatch.setattr(schema, "STEPS", schema.STEPS[:1])
    with pytest.raises(IndexFormatError, match=rf"tables of version {newest}; .* uses 1\. Open it with the version"):
        open_store(tmp_path, STORAGE)
    home = PostgresHome(server().url(schema_for(tmp_path)), STORAGE)
    assert (home.outdated(), home.upgrade()) == ([], {})
    home.close()
