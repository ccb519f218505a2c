"""Kill -9 at random moments while an index moves to another embedder, is switched, and moves back.

What is open again is sound each time: the old index or the new one, whole, with every document whose commit was
acknowledged and none that was deleted. The embedders are scripted: what is tried is where a run may stop.
"""

from __future__ import annotations

import logging
import os
import random
import signal
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from citewell import synchronise
from citewell.generations import beside
from citewell.migration import migrate
from citewell.models import configured
from citewell.models.encoding import Encoders
from citewell.models.fingerprint import canaries
from citewell.settings import Models, Storage
from citewell.stores.folder import FolderHome
from citewell.stores.home import Home
from citewell.stores.store import OWNER, IndexedDocument, MadeWith, Store, VersionKey
from citewell.types import EVERYONE
from tests.scripted_embedder import ScriptedEmbedder
from tests.stores.child import child
from tests.stores.corpus import indexed

KILLS = int(os.environ.get("CITEWELL_TEST_KILLS", "1"))
MOST_SECONDS = 3.0
ALIVE = 9
"""Documents at a time: with each that comes the oldest goes."""
BUILT_IN = Models().embedder

WRITER = """
import itertools, sys
from pathlib import Path
from citewell import synchronise
from citewell.migration import migrate, roll_back
from citewell.models import configured
from citewell.models.encoding import Encoders
from tests.test_migration_kill import add, home_of, other_than, scripted

configured.embedder = scripted
synchronise.COMMIT_ENTRIES = 6
home, number, first = home_of(Path(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3])

def say(what):
    print(what, flush=True)

for turn in itertools.count(first):
    models = other_than(home)
    if turn % 3 == 0:
        say("migrating")
        migrate(home, Encoders(scripted(models)), models)
        say("migrated")
    elif turn % 3 == 1:
        say(f"adding {number}")
        add(home, number)
        say(f"added {number}")
        number += 1
    elif home.pointer().previous is not None:
        say("rolling back")
        roll_back(home, models)
        say("rolled back")
"""


def scripted(models: Models) -> ScriptedEmbedder:
    return ScriptedEmbedder(BUILT_IN, models.dimensions or 48)


def home_of(path: Path) -> FolderHome:
    return FolderHome(path, Storage())


def current_of(home: Home) -> Store:
    return home.open(home.pointer().current)


def other_than(home: Home) -> Models:
    """The next of three embedders."""
    now = current_of(home).made_with.embedder.dimensions
    return Models(dimensions={48: 24, 24: 16, 16: 0}[now])


def embedder_of(store: Store) -> ScriptedEmbedder:
    return ScriptedEmbedder(BUILT_IN, store.made_with.embedder.dimensions)


def document(number: int, store: Store) -> IndexedDocument:
    """The number-th of a series, with rights that its number says."""
    texts = [f"document {number} says {part}" for part in range(3)] + ["what all of them say"]
    vectors = embedder_of(store).embed_passages(texts)
    groups = ["board"] if number % 2 else [EVERYONE]
    replies = {f"{number:064x}": f"what a model said of {number}"}
    made = indexed(f"d{number}", texts, vectors=vectors, groups=groups, replies=replies)
    # The scripted embedder gives no vectors of tokens, and there is no encoder of sparse ones.
    return replace(made, entries=tuple(replace(item, token_vectors=b"", sparse=b"") for item in made.entries))


def add(home: Home, number: int) -> None:
    with home.writing():
        store = current_of(home)
        with store.writing():
            store.commit([document(number, store)], [VersionKey(f"d{number - ALIVE}", 1)])


def expected(store: Store, last: int) -> list[IndexedDocument]:
    numbers = range(max(last - ALIVE + 1, 0), last + 1)
    return sorted((document(number, store) for number in numbers), key=lambda one: one.key)


def assert_whole(store: Store, last: int) -> None:
    """It holds the documents up to this one, in every leg, with the vectors of its embedder."""
    wanted = expected(store, last)
    found = store.fetch([VersionKey(version.document_id, version.number) for version in store.versions()])
    assert [one.key for one in found] == [one.key for one in wanted]
    reader = store.reader()
    for one, theirs in zip(found, wanted, strict=True):
        assert (one.document, one.chunks, one.entries) == (theirs.document, theirs.chunks, theirs.entries)
        assert one.replies == theirs.replies != {}
        assert np.allclose(one.vectors, theirs.vectors, atol=1e-6)
        assert reader.dense(theirs.vectors[1], 1, OWNER)[0].entry_id == theirs.entries[1].entry.id
    entries = {item.entry.id for one in wanted for item in one.entries}
    assert {match.entry_id for match in reader.keyword(["document", "all"], 999, OWNER)} == entries


def killed_after(path: Path, number: int, turn: int, seconds: float) -> list[str]:
    """Let the writer go on from a number, kill it that long after its first line, and return what it said."""
    with child(WRITER, str(path), str(number), str(turn)) as writer:
        said = [writer.output.readline()]
        time.sleep(seconds)
        writer.process.kill()
        said += writer.output.readlines()
        assert writer.process.wait() == -signal.SIGKILL
    return [line.strip() for line in said if line.endswith("\n")]


def texts_of(store: Store) -> set[str]:
    keys = [VersionKey(version.document_id, version.number) for version in store.versions()]
    return {item.entry.text for one in store.fetch(keys) for item in one.entries}


def test_a_kill_loses_nothing_and_leaves_the_old_index_or_the_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "index"
    embedder = scripted(Models())
    with_first = home_of(path)
    with_first.create(MadeWith(embedder.identity, canaries(embedder), "1"))
    for number in range(ALIVE):
        add(with_first, number)
    with_first.close()

    moments, during, last = random.Random(17), Counter[str](), ALIVE - 1
    for turn in range(KILLS):
        said = killed_after(path, last + 1, turn * 2, moments.uniform(0, MOST_SECONDS))
        during[said[-1].rstrip(" 0123456789")] += 1
        acknowledged = max([last, *(int(line.split()[1]) for line in said if line.startswith("added"))])
        begun = max([last, *(int(line.split()[1]) for line in said if line.startswith("adding"))])

        home = home_of(path)
        assert {home.pointer().current, home.pointer().previous} - {None} <= set(home.generations())
        store = current_of(home)
        # One more than was acknowledged may have been committed.
        newest = max(int(version.document_id[1:]) for version in store.versions())
        assert newest in (acknowledged, begun)
        last = newest
        assert_whole(store, last)
        home.close()
    logging.getLogger(__name__).info("killed %d times: %s", KILLS, dict(during))

    # What it was about is finished, and only the rest is embedded.
    monkeypatch.setattr(configured, "embedder", scripted)
    home = home_of(path)
    models = other_than(home)
    begun_with = [
        home.open(one.generation)
        for one in beside(home)
        if one.embedder and home.open(one.generation).made_with.embedder.dimensions == (models.dimensions or 48)
    ]
    had = set[str]().union(*map(texts_of, begun_with[-1:]))
    texts = texts_of(current_of(home))
    done = migrate(home, Encoders(scripted(models)), models)
    assert done.carried is not None
    assert done.carried.embedded == len(texts - had)
    assert_whole(current_of(home), last)
    assert synchronise.changes(home.open(done.previous or 0), current_of(home)) == []
    assert home.generations() == sorted([done.generation, done.previous or 0])
