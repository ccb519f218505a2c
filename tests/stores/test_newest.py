"""A state that is erased while it is read: what was asked is asked of the next one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pytest

from citewell import Index
from citewell.errors import IndexFormatError
from citewell.settings import Storage
from citewell.stores.lance import LanceStore
from citewell.stores.lance_reader import LanceReader
from citewell.stores.newest import of_newest
from citewell.stores.store import OWNER, Match, Scope
from citewell.types import Chunk
from tests.kills import Place, scaled_down
from tests.stores.child import child
from tests.stores.corpus import commit, indexed, made_with

ERASURES = 2

READER = """
import sys
from pathlib import Path
from citewell.settings import Storage
from citewell.stores.lance import LanceStore
from citewell.stores.newest import of_newest
from citewell.stores.store import OWNER

def question(reader):
    global asked
    asked += 1
    (name,) = {document.title for document in reader.documents(OWNER)}
    texts = {chunk.text for chunk in reader.document_chunks("d", OWNER)}
    found = {chunk.text for chunk in reader.chunks([match.chunk_id for match in reader.keyword(["w"], 9, OWNER)], OWNER).values()}
    assert texts == found and len(texts) == 3, (texts, found)
    return max(texts)

store = LanceStore.open(Path(sys.argv[1]), Storage())
answered = asked = 0
seen = set()
print("ready", flush=True)
while "w end 2" not in seen:
    seen.add(of_newest(store.reader, question))
    assert len(store.versions()) == len(store.ledger()) == 1
    answered += 1
print(answered, asked, flush=True)
"""  # noqa: E501


def put(store: LanceStore, word: str) -> None:
    """Replace the only document, and erase what it was."""
    with store.writing():
        store.commit([indexed("d", [f"w {word} {number}" for number in range(3)])])
        store.erase()


def test_readers_in_other_processes_see_whole_states_while_files_are_erased(tmp_path: Path) -> None:
    store = LanceStore.create(tmp_path / "index", made_with(), Storage())
    put(store, "begin")
    with child(READER, str(tmp_path / "index")) as first, child(READER, str(tmp_path / "index")) as second:
        for reader in (first, second):
            assert reader.output.readline() == "ready\n"
        for number in range(ERASURES):
            put(store, f"state{number}")
        put(store, "end")
        for reader in (first, second):
            answered, asked = map(int, reader.output.readline().split())
            assert 0 < answered <= asked
            assert reader.process.wait() == 0


def test_a_question_whose_state_is_erased_is_asked_again(tmp_path: Path) -> None:
    store = LanceStore.create(tmp_path / "index", made_with(), Storage())
    put(store, "old")
    asked = []

    def question(reader: LanceReader) -> str:
        asked.append(reader)
        if len(asked) == 1:
            put(LanceStore.open(tmp_path / "index", Storage()), "new")
        return max(chunk.text for chunk in reader.document_chunks("d", OWNER))

    assert of_newest(store.reader, question) == "w new 2"
    assert len(set(asked)) == 2


def test_an_old_reader_whose_files_are_gone_says_so(tmp_path: Path) -> None:
    store = LanceStore.create(tmp_path / "index", made_with(), Storage())
    put(store, "old")
    old = LanceStore.open(tmp_path / "index", Storage()).reader()
    put(store, "new")
    with pytest.raises(IndexFormatError, match="cannot be read: "):
        old.document("d", OWNER)


def test_damage_is_not_asked_again_for_ever(tmp_path: Path) -> None:
    store = LanceStore.create(tmp_path / "index", made_with(), Storage())
    commit(store, [indexed("d", ["w"])])
    for path in (tmp_path / "index" / "tables" / "documents.lance" / "data").iterdir():
        path.unlink()
    asked = []

    def question(reader: LanceReader) -> object:
        asked.append(reader)
        return reader.documents(OWNER)

    with pytest.raises(IndexFormatError):
        of_newest(store.reader, question)
    assert len(asked) == 1


def test_an_opening_that_meets_an_erasure_opens_the_next_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = LanceStore.create(tmp_path / "index", made_with(), Storage())
    put(store, "old")
    other = LanceStore.open(tmp_path / "index", Storage())
    from citewell.stores import manifest

    load, loaded = manifest.load, []

    def scripted_erasure_after_loading(directory: Path) -> manifest.Manifest:
        found = load(directory)
        loaded.append(found)
        if len(loaded) == 1:
            put(store, "new")
        return found

    commit(store, [indexed("e", ["w"])])
    monkeypatch.setattr("citewell.stores.lance.manifest.load", scripted_erasure_after_loading)
    assert max(chunk.text for chunk in other.reader().document_chunks("d", OWNER)) == "w new 2"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path / "files", tmp_path / "index")
    for number in range(4):
        place.write(number, edition=1)
    with pytest.MonkeyPatch.context() as patch:
        scaled_down(patch)
        place.add()
        yield place


def test_an_index_answers_while_another_purges(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A purge comes after a search has found its passages and before it reads them."""
    keyword, chunks = LanceReader.keyword, LanceReader.chunks
    purges: list[str] = []

    def scripted_purge_in_between(self: LanceReader, chunk_ids: Collection[str], scope: Scope) -> dict[str, Chunk]:
        if not purges:
            purges.append(str(place.folder / "even" / "00.md"))
            with Index.open(place.index) as other:
                other.purge(purges[0])
        return chunks(self, chunk_ids, scope)

    def searched(self: LanceReader, tokens: Sequence[str], k: int, scope: Scope) -> list[Match]:
        states.append(self)
        return keyword(self, tokens, k, scope)

    states: list[LanceReader] = []
    monkeypatch.setattr(LanceReader, "chunks", scripted_purge_in_between)
    monkeypatch.setattr(LanceReader, "keyword", searched)
    with Index.open(place.index) as index:
        before = len(index.documents())
        hits = index.search("the rule holds", k=50)
        assert len(set(states)) == 2, "it began again"
        assert {hit.chunk.source for hit in hits} == {document.source for document in index.documents()}
        assert len(index.documents()) == before - 1
