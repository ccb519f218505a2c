"""What `tests/test_kill.py` kills: one operation of each kind on a small index, and how to look at what is left.

The process that is killed and the one that looks share this module, so both go by the same small thresholds.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import pytest

from citewell import Index, ingest, loading
from citewell.errors import IndexNotFound, UnknownId
from citewell.loading.language import detect_language
from citewell.loading.parsing import parse
from citewell.models import configured
from citewell.settings import Models, Settings, Storage
from citewell.stores import lance_indexes, lance_writing, manifest
from citewell.stores.store import OWNER, IndexedDocument, Store, VersionKey
from tests.scripted_embedder import ScriptedEmbedder

FILES = 12
PARTS = 4
LOOKED_UP = 4
"""Of the current documents, one by one."""
STATE = "before"


def scaled_down(patch: pytest.MonkeyPatch) -> None:
    """Thresholds at which a few files make several commits, all the indexes, and rewriting with clean-up."""
    # In this process: the processes that files are read in take longer to start than all the rest.
    patch.setattr(loading, "parse_apart", lambda data, name, limits, passwords, _: parse(data, name, limits, passwords))
    patch.setattr(configured, "embedder", lambda _: ScriptedEmbedder(Models().embedder, 48))
    patch.setattr(ingest, "COMMIT_ENTRIES", 8)
    patch.setattr(lance_indexes, "MAX_FRESH_FRAGMENTS", 2)
    patch.setattr(lance_writing, "MAX_FRAGMENTS", 4)
    patch.setattr(lance_writing, "KEPT", timedelta(milliseconds=1))


@dataclass(frozen=True, slots=True)
class Place:
    """A folder of files, its index, and the engine of the index's vectors."""

    folder: Path
    index: Path
    vectors: Literal["built-in", "faiss"] = "built-in"

    @property
    def settings(self) -> Settings:
        """So that there is a vector index, too."""
        return Settings(storage=Storage(exact_up_to=20, vectors=self.vectors))

    def is_erasing(self) -> bool:
        return manifest.load(self.index / "generations" / "1").erasing is not None

    def write(self, number: int, edition: int) -> Path:
        """One of the files. Each part holds a word that is nowhere else."""
        parts = (
            f"## Part {part}\n\nThe rule f{number}p{part}e{edition} holds. " + f"It is rule {number} of {part}. " * 6
            for part in range(PARTS)
        )
        path = self.folder / ("even" if number % 2 == 0 else "odd") / f"{number:02}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# File {number}\n\n" + "\n\n".join(parts) + "\n", encoding="utf-8")
        return path

    def add(self) -> None:
        with self._opened() as index:
            index.add(self.folder)

    def _opened(self) -> Index:
        try:
            return Index.open(self.index, settings=self.settings)
        except IndexNotFound:
            return Index.create(self.index, settings=self.settings)


def index_twice(place: Place) -> None:
    """Half of the files have two versions; one was deleted; a state before all that has a name."""
    for number in range(FILES):
        place.write(number, edition=1)
    place.add()
    with Index.open(place.index, settings=place.settings) as index:
        index.name_state(STATE)
        for number in range(FILES // 2):
            place.write(number, edition=2)
        index.add(place.folder)
        index.delete(str(place.folder / "odd" / f"{FILES - 1:02}.md"))


def forget(place: Place) -> None:
    shutil.rmtree(place.index)


def change(place: Place) -> None:
    """Files are changed, come and go."""
    for number in (0, 3, 8):
        place.write(number, edition=3)
    for number in (20, 21, 22):
        place.write(number, edition=1)
    (place.folder / "even" / "02.md").unlink()


def delete(place: Place) -> None:
    with Index.open(place.index, settings=place.settings) as index, suppress(UnknownId):
        index.delete(str(place.folder / "even"))


def purge(place: Place) -> None:
    # After a purge that was killed late, and ended by the run after it, nothing is stored, and that is said.
    with Index.open(place.index, settings=place.settings) as index, suppress(UnknownId):
        index.purge(str(place.folder / "even" / "04.md"))


def run_of_nothing(place: Place) -> None:
    """A run that finds nothing changed."""
    with Index.open(place.index, settings=place.settings) as index:
        index.add(place.folder / "odd" / "01.md")


def roll_back(place: Place) -> None:
    with Index.open(place.index, settings=place.settings) as index:
        if index.history(str(place.folder / "odd" / "01.md"))[-1].number == 2:
            index.rollback(str(place.folder / "odd" / "01.md"))


def roll_all_back(place: Place) -> None:
    with Index.open(place.index, settings=place.settings) as index:
        index.rollback_to(STATE)


def crowd(place: Place) -> None:
    """So many fragments and old versions that the next run, of one file, rewrites the tables and cleans up."""
    with Index.open(place.index, settings=place.settings) as index, pytest.MonkeyPatch.context() as patch:
        patch.setattr(lance_writing, "MAX_FRAGMENTS_IN_RUN", 1_000)
        with index._upkeep.writing() as store:
            for version in store.versions():
                store.commit(store.fetch([VersionKey(version.document_id, version.number)]))
            patch.setattr(lance_writing, "MAX_FRAGMENTS", 1_000)
            patch.setattr(lance_writing, "MAX_DELETED", 1)
            patch.setattr(lance_writing, "MAX_OLD_VERSIONS", 1_000)
            patch.setattr(lance_indexes, "MAX_FRESH_FRAGMENTS", 1_000)
            patch.setattr(lance_indexes, "KEYWORDS_EXACT_UP_TO", 0)
    place.write(30, edition=1)


@dataclass(frozen=True, slots=True)
class Kind:
    """What is done, and what is prepared for it after `index_twice`. In steps: each document goes from before to after
    by itself."""

    act: Callable[[Place], None]
    prepare: Callable[[Place], None] | None = None
    in_steps: bool = False
    vectors: Literal["built-in", "faiss"] = "built-in"


KINDS = {
    "first run": Kind(Place.add, prepare=forget, in_steps=True),
    "update": Kind(Place.add, prepare=change, in_steps=True),
    "delete": Kind(delete),
    "purge": Kind(purge),
    "rollback": Kind(roll_back),
    "rollback to a state": Kind(roll_all_back),
    "optimise": Kind(Place.add, prepare=crowd),
}
if find_spec("faiss"):
    KINDS["purge beside FAISS"] = Kind(purge, prepare=run_of_nothing, vectors="faiss")

Picture = Mapping[str, tuple[object, ...]]
"""What is stored, document by document: of each version how it stands, and the hash of its text."""


def picture(place: Place) -> Picture:
    """Look at all that is stored, and check that it is whole."""
    try:
        index = Index.open(place.index, settings=place.settings)
    except IndexNotFound:
        return {}
    with index:
        store = index._store
        versions = store.versions()
        stored = store.fetch([VersionKey(version.document_id, version.number) for version in versions])
        assert len(stored) == len(versions)
        check_legs(store, [one for one in stored if one.standing.searchable])
        found: dict[str, tuple[object, ...]] = {}
        for one in stored:
            check_parts(one)
            text = hashlib.sha256(one.document.text.encode()).hexdigest()[:8]
            seen = (one.document.number, one.standing.current, one.standing.ending, text)
            found[one.document.source] = (*found.get(one.document.source, ()), seen)
        return found


def check_parts(one: IndexedDocument) -> None:
    assert len(one.chunks) == len(one.entries) >= PARTS
    assert all(chunk.text == one.document.text[chunk.start : chunk.end] for chunk in one.chunks)
    assert {item.entry.chunk_id for item in one.entries} == {chunk.id for chunk in one.chunks}
    embedder = ScriptedEmbedder(Models().embedder, 48)
    assert (one.vectors == embedder.embed_passages([item.entry.text for item in one.entries])).all()


def check_legs(store: Store, stored: list[IndexedDocument]) -> None:
    """Each leg finds what is current, and nothing else."""
    reader, current = store.reader(), [one for one in stored if one.standing.current]
    entries = {item.entry.id: item.tokens.split() for one in current for item in one.entries}
    counts = reader.counts(OWNER)
    assert counts.documents == len(current) == len({one.document.id for one in current})
    assert counts.chunks == counts.entries == len(entries)
    for one in current[:LOOKED_UP]:
        word = next(token for token in one.entries[0].tokens.split() if token.startswith("f") and token[1:2].isdigit())
        expected = {entry_id for entry_id, tokens in entries.items() if word in tokens}
        assert {match.entry_id for match in reader.keyword([word], 999, OWNER)} == expected
        nearest = reader.dense(one.vectors[0], 1, OWNER)[0]
        assert nearest.entry_id in entries
        assert nearest.score == pytest.approx(1, abs=1e-5)
    if current:
        assert {match.entry_id for match in reader.keyword(["rule"], 999, OWNER)} == set(entries)
        assert len(reader.dense(current[0].vectors[0], 999, OWNER)) == len(entries)


def warm_up() -> None:
    """So that nothing is loaded, and no process started, inside any more."""
    with tempfile.TemporaryDirectory() as folder:
        spare = Place(Path(folder) / "files", Path(folder) / "index")
        spare.write(0, edition=1)
        spare.add()


def act(kind: str, place: Place) -> None:
    """The process that is killed: it says when it is inside, and when it has come out."""
    picture(place)  # so that the index is open, and what reads it is loaded
    say("in")
    KINDS[kind].act(place)
    say("out")


def serve() -> None:
    """For each line, the kind and the place of an operation, fork a process that acts, and say when it has ended.

    To load all that is needed takes ten times as long as what is killed. A fork is safe here, and nowhere else: Lance
    is loaded, and nothing of it was used yet.
    """
    import lancedb.index
    import lancedb.query  # noqa: F401
    import pyarrow.ipc  # noqa: F401

    warnings.simplefilter("ignore")  # of the fork
    scaled_down(pytest.MonkeyPatch())
    detect_language("Load the model that tells which language this is.")
    while line := sys.stdin.readline():
        kind, folder, index = json.loads(line)
        process = os.fork()
        if process == 0:
            act(kind, Place(Path(folder), Path(index), KINDS[kind].vectors))
            os._exit(0)
        say(str(process))
        sys.stdin.readline()  # until then its number is not given to another
        os.waitpid(process, 0)
        say("ended")


def say(word: str) -> None:
    print(word, flush=True)  # noqa: T201 - to the process that kills
