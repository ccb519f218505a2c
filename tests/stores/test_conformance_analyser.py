"""Another version of the analyser: every engine has all of its tokens made anew, and says by which version."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import pytest

from citewell.history import analyse_again, reanalysis, tokens_of
from citewell.retrieval.analyser import ANALYSER_VERSION, analyse_query
from citewell.stores.store import OWNER, IndexedDocument, Scope, Standing, Store, VersionKey
from citewell.types import EVERYONE, Ending
from tests.stores.conftest import Engine
from tests.stores.corpus import indexed, key, made_with

ENDED = datetime(2026, 6, 1, 12, tzinfo=UTC)
JUNE = date(2026, 6, 1)
GROUPS = frozenset({EVERYONE})
NEXT = "the next"
PAST = Standing(
    current=False,
    in_force_from=date(2026, 1, 1),
    in_force_to=date(2026, 5, 31),
    ended_at=ENDED,
    ending=Ending.REPLACED,
)
KEPT = Standing(current=False, searchable=False, ended_at=ENDED, ending=Ending.DELETED)
# The corpus takes the words as they stand for tokens: capitals, which no analyser of ours leaves.
VERSIONS = [
    indexed("d", ["Chargebacks of Old"], number=1, standing=PAST),
    indexed("d", ["Chargebacks of Today", "Refunds"], number=2, standing=Standing(in_force_from=JUNE)),
    indexed("k", ["Chargebacks Kept"], standing=KEPT),
]
KEYS = [key("d", 1), key("d", 2), key("k")]


def found(store: Store, scope: Scope) -> set[str]:
    return {match.chunk_id for match in store.reader().keyword(analyse_query("chargebacks"), 9, scope)}


@pytest.fixture
def store(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """One that another version than the present, `NEXT`, has analysed."""
    assert made_with().analyser == ANALYSER_VERSION
    store = engine.filled(tmp_path / "index", VERSIONS)
    monkeypatch.setattr(reanalysis, "ANALYSER_VERSION", NEXT)
    return store


def test_every_version_is_analysed_anew(store: Store, engine: Engine, tmp_path: Path) -> None:
    assert found(store, OWNER) == set()
    before = store.fetch(KEYS)
    with store.writing():
        analyse_again(store)
    assert store.made_with.analyser == NEXT
    after = store.fetch(KEYS)
    for was, is_now in zip(before, after, strict=True):
        assert (is_now.document, is_now.chunks, is_now.standing) == (was.document, was.chunks, was.standing)
        assert np.array_equal(is_now.vectors, was.vectors)
        assert [each.tokens for each in is_now.entries] == [
            tokens_of(each.entry.text, was.document) for each in was.entries
        ]
    past, now = (one.chunks[0].id for one in VERSIONS[:2])
    assert found(store, Scope(GROUPS, date(2026, 3, 1))) == {past}
    assert found(store, Scope(GROUPS, JUNE)) == found(store, OWNER) == {now}
    store.close()
    again = engine.open(tmp_path / "index")
    assert again.made_with.analyser == NEXT
    again.close()


def test_what_the_present_analyser_made_is_left_alone(store: Store) -> None:
    with store.writing():
        analyse_again(store)
        reader = store.reader()
        analyse_again(store)
        assert store.reader() is reader
    store.close()


def test_a_run_that_is_cut_short_leaves_it_to_the_next(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reanalysis, "FETCHED", 1)
    commit = store.commit
    done: list[Sequence[IndexedDocument]] = []

    def scripted_end(put: Sequence[IndexedDocument], drop: Collection[VersionKey] = ()) -> None:
        if done:
            raise KeyboardInterrupt
        commit(put, drop)
        done.append(put)

    with monkeypatch.context() as patch:
        patch.setattr(store, "commit", scripted_end)
        with pytest.raises(KeyboardInterrupt), store.writing():
            analyse_again(store)
    assert store.made_with.analyser == ANALYSER_VERSION
    with store.writing():
        analyse_again(store)
    assert store.made_with.analyser == NEXT
    assert len(found(store, OWNER)) == 1
    store.close()
