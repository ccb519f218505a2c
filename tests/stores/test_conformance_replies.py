"""The replies of a language model that entries were made of: stored with a version, and kept before it is complete."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from citewell.stores.store import OWNER, Standing, Store
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


def test_stashed_replies_outlive_a_run_cut_short_until_a_document_has_them(
    engine: Engine, store: Store, tmp_path: Path
) -> None:
    def cut_short() -> None:
        with store.writing():
            store.stash_replies({ASKED[0]: "one", ASKED[1]: HOSTILE})
            store.stash_replies({ASKED[2]: ""})
            raise InterruptedError

    with pytest.raises(InterruptedError):
        cut_short()
    again = engine.open(tmp_path / "index")
    assert again.replies([]) == {ASKED[0]: "one", ASKED[1]: HOSTILE, ASKED[2]: ""}
    assert again.reader().counts(OWNER).entries == 0
    with again.writing():
        again.commit([indexed("d", ["w"], replies={ASKED[0]: "one", ASKED[3]: "asked since"})])
        assert again.replies([]) == {ASKED[1]: HOSTILE, ASKED[2]: ""}
        assert again.replies(["d"]) == {ASKED[0]: "one", ASKED[1]: HOSTILE, ASKED[2]: "", ASKED[3]: "asked since"}
    assert again.replies([]) == {}
    assert again.replies(["d"]) == {ASKED[0]: "one", ASKED[3]: "asked since"}
    again.close()


def test_erasing_forgets_stashed_replies(store: Store) -> None:
    with store.writing():
        store.stash_replies({ASKED[0]: "secret"})
        store.erase()
        assert store.replies([]) == {}


def test_stashing_is_refused_outside_a_run(store: Store) -> None:
    with pytest.raises(RuntimeError, match="inside"):
        store.stash_replies({ASKED[0]: "one"})
