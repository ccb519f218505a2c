"""Erasing that is cut short: nothing was dropped, or all was, and the next writer leaves none of it in any file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from citewell.errors import IndexLocked
from citewell.models.embedder import Embedded
from citewell.settings import Storage
from citewell.stores import lance_writing, manifest
from citewell.stores.beside.faiss_index import FaissIndex
from citewell.stores.files import UNSAVED
from citewell.stores.lance import REPLIES, STASH, LanceStore
from citewell.stores.records import pack_embedded, pack_reply
from citewell.stores.stash import Stash
from citewell.stores.store import OWNER, Counts, Store
from citewell.types import Removed
from tests.stores.beside_engines import BESIDE
from tests.stores.corpus import commit, indexed, key, made_with, zipf_texts

STORAGE = Storage(exact_up_to=5)
ENGINES: dict[str, tuple[Callable[[Path], Store], Callable[[Path], Store]]] = {
    "lance": (
        lambda path: LanceStore.create(path, made_with(), STORAGE),
        lambda path: LanceStore.open(path, STORAGE),
    ),
    **{name: pair for name, pair in BESIDE.items() if name == "faiss"},
}

SECRET = indexed("secret", ["Xylophonzwerg geheim", "Quarzuhr"], replies={"ab" * 32: "Holunderteich"})
OLDER = indexed("secret", ["Brombeerschloss"], number=2)
KEPT = indexed("kept", zipf_texts(12, 1))
GONE = (Removed("secret", SECRET.document.source, (1, 2), {"texts": 2}),)
NEEDLES = [
    *(b"Xylophonzwerg", b"Quarzuhr", b"Brombeerschloss", b"Holunderteich", b"Nebelkrug", b"Moorlaterne"),
    *(row.tobytes() for row in SECRET.vectors),
    *(item.token_vectors for item in SECRET.entries),
    *(item.sparse for item in SECRET.entries),
]


class ScriptedDeath(Exception):
    """Stands for the death of the writer at the point where it is raised."""


@pytest.fixture(params=ENGINES)
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Store]]:
    """Opens the store once more. A version of the secret is dropped; a killed run has left vectors and a reply."""
    create, opening = ENGINES[request.param]
    opened = [create(tmp_path / "index")]
    commit(opened[0], [KEPT, OLDER])
    commit(opened[0], [SECRET], [key("secret", 2)])
    hashes = [item.text_hash for item in SECRET.entries]
    made = (
        pack_embedded(Embedded(row, item.token_vectors, item.sparse))
        for row, item in zip(SECRET.vectors, SECRET.entries, strict=True)
    )
    Stash(tmp_path / "index" / STASH).add(dict(zip(hashes, made, strict=True)))
    Stash(tmp_path / "index" / REPLIES).add({"cd" * 32: pack_reply("Nebelkrug")})
    (tmp_path / "index" / (REPLIES + UNSAVED)).write_bytes(b"Moorlaterne")  # of one that died in writing the file anew
    assert holding(tmp_path) == NEEDLES, "or their absence would prove nothing"

    def once_more() -> Store:
        opened.append(opening(tmp_path / "index"))
        return opened[-1]

    yield once_more
    for store in opened:
        store.close()


def holding(path: Path) -> list[bytes]:
    """Those of the needles that some file holds."""
    contents = [file.read_bytes() for file in path.rglob("*") if file.is_file()]
    return [needle for needle in NEEDLES if any(needle in content for content in contents)]


def die(*_: Any, **__: Any) -> None:
    raise ScriptedDeath


def die_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the mark is to be taken away."""
    honest = manifest.save

    def save(directory: Path, saved: manifest.Manifest) -> None:
        if saved.erasing is None:
            raise ScriptedDeath
        honest(directory, saved)

    monkeypatch.setattr(manifest, "save", save)


DEATHS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "while writing": lambda patch: patch.setattr(lance_writing, "rewrite", die),
    "before the manifest": lambda patch: patch.setattr(manifest, "save", die),
    "after the manifest": lambda patch: patch.setattr(lance_writing, "erase", die),
    "while removing": lambda patch: patch.setattr(lance_writing, "remove", die),
    "before the mark is gone": die_at_the_end,
}


@pytest.mark.parametrize("death", DEATHS)
def test_erasing_that_died_was_not_begun_or_is_ended_by_the_next_writer(
    open_store: Callable[[], Store], death: str, tmp_path: Path
) -> None:
    store, begun = open_store(), death in ("after the manifest", "while removing", "before the mark is gone")
    with pytest.MonkeyPatch.context() as patch:
        DEATHS[death](patch)
        with pytest.raises(ScriptedDeath), store.writing():
            store.erase(GONE)
    store = open_store()
    assert store.erasing == (GONE if begun else None)
    assert (store.reader().document("secret", OWNER) is None) is begun
    with store.writing():
        assert store.erasing is None
        assert begun is (holding(tmp_path) == [])
    if not begun:
        with store.writing():
            store.erase(GONE)
    assert holding(tmp_path) == []
    for reopened in (store, open_store()):
        assert reopened.erasing is None
        assert reopened.reader().counts(OWNER) == Counts(1, 12, 12)
        assert reopened.reader().document("kept", OWNER) == KEPT.document
        assert reopened.reader().dense(KEPT.vectors[3], 1, OWNER)[0].entry_id == KEPT.entries[3].entry.id
        assert reopened.embedded([item.text_hash for item in SECRET.entries]) == {}
        assert reopened.replies(["secret"]) == {}
    commit(store, [SECRET])
    assert store.reader().document("secret", OWNER) == SECRET.document


def test_who_goes_on_after_a_failure_and_dies_leaves_the_files_to_the_next(
    open_store: Callable[[], Store], tmp_path: Path
) -> None:
    store, more = open_store(), indexed("more", ["w1 w2"])

    def go_on() -> None:
        with store.writing():
            with pytest.MonkeyPatch.context() as patch, suppress(ScriptedDeath):
                patch.setattr(lance_writing, "erase", die)
                store.erase(GONE)
            store.commit([more])
            assert store.erasing == GONE
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(manifest, "save", die)
                store.commit([indexed("lost", ["w3"])])

    with pytest.raises(ScriptedDeath):
        go_on()
    store = open_store()
    assert store.erasing == GONE
    commit(store, [indexed("next", ["w4"])])
    assert store.erasing is None
    assert holding(tmp_path) == []
    assert [document.id for document in store.reader().documents(OWNER)] == ["kept", "more", "next"]
    assert store.reader().document("more", OWNER) == more.document
    assert store.reader().dense(more.vectors[0], 1, OWNER)[0].entry_id == more.entries[0].entry.id


@pytest.mark.skipif("faiss" not in BESIDE, reason="faiss-cpu is not installed")
def test_what_the_engine_cannot_forget_is_not_dropped(tmp_path: Path) -> None:
    def held(_: FaissIndex) -> None:
        raise IndexLocked("Another process has the vectors open.", remedy="Close it.")

    store = BESIDE["faiss"][0](tmp_path / "index")
    commit(store, [KEPT, SECRET])
    with pytest.MonkeyPatch.context() as patch, store.writing():
        patch.setattr(FaissIndex, "reset", held)
        with pytest.raises(IndexLocked):
            store.erase(GONE)
    assert (store.erasing, store.stale) == (None, False)
    assert store.reader().document("secret", OWNER) == SECRET.document
    store.close()
