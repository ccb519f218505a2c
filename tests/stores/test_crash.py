"""A writer killed at any moment, and readers in other processes while a writer commits."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

from citewell.settings import Storage
from citewell.stores.lance import LanceStore
from citewell.stores.store import OWNER, Counts
from tests.stores.child import child
from tests.stores.corpus import bm25, commit, indexed, key, made_with, numbered

KILLS = int(os.environ.get("CITEWELL_TEST_KILLS", "2"))

WRITER = """
import itertools, sys
from pathlib import Path
from citewell.settings import Storage
from citewell.stores.lance import LanceStore
from tests.stores.corpus import numbered

store = LanceStore.open(Path(sys.argv[1]), Storage())
number = int(sys.argv[2])
while True:
    with store.writing():
        for _ in range(4):
            # Documents come to stay; one comes in each commit to replace the one of the commit before.
            store.commit([numbered(number), numbered(number, "changing")])
            print(number, flush=True)
            number += 1
"""

READER = """
import sys
from pathlib import Path
from citewell.settings import Storage
from citewell.stores.lance import LanceStore
from citewell.stores.store import OWNER

store = LanceStore.open(Path(sys.argv[1]), Storage())
seen = set()
print("ready", flush=True)
while "19" not in seen:
    reader = store.reader()
    first, second = (reader.document(name, OWNER).text for name in ("a", "b"))
    chunks = {chunk.text for chunk in reader.chunks(["a/0000", "b/0000"], OWNER).values()}
    found = [match.entry_id for match in reader.keyword([first], 10, OWNER)]
    assert first == second and chunks == {first} and found == ["a/0000/e", "b/0000/e"], (first, second, chunks, found)
    seen.add(first)
print(len(seen), flush=True)
"""


def create(path: Path) -> LanceStore:
    return LanceStore.create(path, made_with(), Storage())


def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "index"
    create(path).close()
    moments = random.Random(17)
    acknowledged = -1
    for _ in range(KILLS):
        with child(WRITER, str(path), str(acknowledged + 1)) as writer:
            acknowledged = int(writer.output.readline())
            time.sleep(moments.uniform(0, 0.6))
            writer.process.kill()
            acknowledged = max([acknowledged, *map(int, writer.output.read().split())])
            assert writer.process.wait() == -signal.SIGKILL

        store = LanceStore.open(path, Storage())
        reader = store.reader()
        # One more than it could say may have been committed.
        last = len(reader.documents(OWNER)) - 2
        assert last in (acknowledged, acknowledged + 1)
        acknowledged = last
        expected = [*(numbered(number) for number in range(last + 1)), numbered(last, "changing")]
        for one in expected:
            assert reader.document(one.document.id, OWNER) == one.document
            assert reader.document_chunks(one.document.id, OWNER) == list(one.chunks)
            assert reader.dense(one.vectors[1], 1, OWNER)[0].entry_id == one.entries[1].entry.id
        assert reader.counts(OWNER) == store.manifest.counts == Counts(last + 2, 5 * last + 10, 5 * last + 10)
        texts = {item.entry.id: item.tokens for one in expected for item in one.entries}
        assert {match.entry_id for match in reader.keyword(["w1"], 999, OWNER)} == set(bm25(texts, ["w1"]))

    # The lock has died with its holder, too.
    commit(store, [], [key("none")])
    found = {match.entry_id: match.score for match in store.reader().keyword(["w1"], 999, OWNER)}
    assert found == pytest.approx(bm25(texts, ["w1"]), rel=1e-5)


def test_a_reader_in_another_process_sees_whole_states_only(tmp_path: Path) -> None:
    store = create(tmp_path / "index")
    commit(store, [indexed("a", ["0"]), indexed("b", ["0"])])
    with child(READER, str(tmp_path / "index")) as reader:
        assert reader.output.readline() == "ready\n"
        for number in range(1, 20):
            commit(store, [indexed("a", [str(number)]), indexed("b", [str(number)])])
        assert int(reader.output.readline()) > 3
