"""The replies of a language model that entries were made of: stored with a version, and kept before it is complete."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from citewell import clock
from citewell.stores.store import OWNER, REPLIES_KEPT, Standing, Store
from citewell.types import Removed
from tests.stores.conftest import Engine
from tests.stores.corpus import commit, indexed, key

ASKED = [f"{number:02x}" * 32 for number in range(5)]
HOSTILE = 'with "quotes", \0, \ud800, é, 日本語\n and {"json": []}'
KEPT = Standing(current=False, searchable=False)


def test_replies_come_back_with_the_version_that_they_were_stored_with(store: Store) -> None:
    first = indexed("d", ["old"], number=1, standing=KEPT, replies={ASKED[0]: "of the old"})
    second = indexed("d", ["new"], number=2, replies={ASKED[1]: HOSTILE, ASKED[2]: ""})
    commit(store, [first, second, indexed("other", ["w"], replies={ASKED[3]: "of the other"}), indexed("none", ["w"])])
    assert [one.replies for one in store.fetch([first.key, second.key, key("none")])] == [
        first.replies,
        second.replies,
        {},
    ]
    assert store.replies(["d", "unknown"]) == {**first.replies, **second.replies}
    assert store.replies(["d", "other"]) == {**first.replies, **second.replies, ASKED[3]: "of the other"}
    assert store.replies([]) == store.replies(["none"]) == {}


def test_replies_change_and_go_with_their_version(store: Store) -> None:
    document = indexed("d", ["word"], replies={ASKED[0]: "first"})
    commit(store, [document, indexed("e", ["word"], replies={ASKED[1]: "other"})])
    commit(store, [replace(document, replies={ASKED[0]: "second"})])
    assert store.replies(["d"]) == {ASKED[0]: "second"}
    commit(store, [replace(document, standing=KEPT, replies={ASKED[0]: "second"})])
    assert store.replies(["d"]) == {ASKED[0]: "second"}
    commit(store, [], [key("d")])
    assert store.replies(["d"]) == {}
    with store.writing():
        store.erase([Removed("e", "file:///e", (1,), {})])
    assert store.replies(["d", "e"]) == {}


def cut_short(store: Store, *stashed: Mapping[str, str]) -> None:
    """A run that stashes these and dies."""
    with suppress(InterruptedError), store.writing():
        for replies in stashed:
            store.stash_replies(replies)
        raise InterruptedError


def test_stashed_replies_outlive_a_run_cut_short_until_a_document_has_them(
    engine: Engine, store: Store, tmp_path: Path
) -> None:
    cut_short(store, {ASKED[0]: "one", ASKED[1]: HOSTILE}, {ASKED[2]: ""})
    again = engine.open(tmp_path / "index")
    assert again.replies([]) == {ASKED[0]: "one", ASKED[1]: HOSTILE, ASKED[2]: ""}
    assert again.reader().counts(OWNER).entries == 0
    with again.writing():
        again.commit([indexed("d", ["w"], replies={ASKED[0]: "one", ASKED[3]: "asked since"})])
        assert again.replies([]) == {ASKED[1]: HOSTILE, ASKED[2]: ""}
        assert again.replies(["d"]) == {ASKED[0]: "one", ASKED[1]: HOSTILE, ASKED[2]: "", ASKED[3]: "asked since"}
    commit(again, [indexed("other", ["w"])])
    commit(again, [], [key("other")])
    again.close()
    again = engine.open(tmp_path / "index")
    assert again.replies([]) == {ASKED[1]: HOSTILE, ASKED[2]: ""}
    commit(again, [indexed("e", ["w"], replies={ASKED[1]: HOSTILE, ASKED[2]: ""})])
    again.close()
    again = engine.open(tmp_path / "index")
    assert again.replies([]) == {}
    assert again.replies(["d"]) == {ASKED[0]: "one", ASKED[3]: "asked since"}
    again.close()


def test_a_stashed_reply_wins_over_the_stored_one_that_was_of_no_use(
    engine: Engine, store: Store, tmp_path: Path
) -> None:
    document = indexed("d", ["w"], replies={ASKED[0]: "of no use", ASKED[1]: "stays"})
    commit(store, [document])
    cut_short(store, {ASKED[0]: "of use"})
    again = engine.open(tmp_path / "index")
    assert again.replies(["d"]) == {ASKED[0]: "of use", ASKED[1]: "stays"}
    # A delete, say, and a rollback put the version once more, with the reply that it had.
    commit(again, [replace(document, standing=KEPT)])
    commit(again, [document])
    assert again.replies(["d"]) == {ASKED[0]: "of use", ASKED[1]: "stays"}
    commit(again, [replace(document, replies={ASKED[0]: "of use", ASKED[1]: "stays"})])
    assert again.replies([]) == {}
    assert again.replies(["d"]) == {ASKED[0]: "of use", ASKED[1]: "stays"}
    again.close()


def test_a_second_reply_to_one_question_is_stashed_in_place_of_the_first(
    engine: Engine, store: Store, tmp_path: Path
) -> None:
    cut_short(store, {ASKED[0]: "of no use", ASKED[1]: "other"}, {ASKED[0]: "of use"})
    assert store.replies([]) == {ASKED[0]: "of use", ASKED[1]: "other"}
    cut_short(store, {ASKED[1]: HOSTILE})
    again = engine.open(tmp_path / "index")
    assert again.replies([]) == {ASKED[0]: "of use", ASKED[1]: HOSTILE}
    again.close()


def test_of_the_replies_of_two_versions_that_of_the_higher_number_counts(store: Store) -> None:
    newest = indexed("d", ["new"], number=10, replies={ASKED[0]: "of use"})
    older = [indexed("d", ["old"], number=number, standing=KEPT, replies={ASKED[0]: "none"}) for number in (9, 2)]
    commit(store, [newest])
    commit(store, older[:1])
    commit(store, older[1:])
    assert store.replies(["d"]) == {ASKED[0]: "of use"}


def test_stashed_replies_wait_until_none_was_added_for_a_month(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    began = clock.now()

    def run_after(days: int, replies: Mapping[str, str]) -> Mapping[str, str]:
        monkeypatch.setattr(clock, "now", lambda: began + timedelta(days=days))
        with store.writing():
            store.commit([indexed(f"d{days}", ["w"])])
            if replies:
                store.stash_replies(replies)
        return store.replies([])

    assert REPLIES_KEPT.days == 30
    first, second = {ASKED[0]: "one"}, {ASKED[1]: "two"}
    assert run_after(0, first) == first
    assert run_after(29, {}) == first
    assert run_after(29, second) == first | second
    assert run_after(58, {}) == first | second
    assert run_after(60, {}) == {}
    assert run_after(90, first) == first


def test_erasing_forgets_stashed_replies(store: Store) -> None:
    with store.writing():
        store.stash_replies({ASKED[0]: "secret"})
        store.erase()
        assert store.replies([]) == {}


def test_stashing_is_refused_outside_a_run(store: Store) -> None:
    with pytest.raises(RuntimeError, match="inside"):
        store.stash_replies({ASKED[0]: "one"})
