"""A writer whose connection is cut, and one that is killed."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from citewell.errors import IndexLocked, ServiceUnreachable
from citewell.settings import Storage
from citewell.stores.postgres import writing
from citewell.stores.postgres.store import PostgresStore
from citewell.stores.store import OWNER, Counts
from tests.stores.child import child
from tests.stores.corpus import (
    bm25,
    commit,
    indexed,
    numbered,
)
from tests.stores.postgres_engine import create, rows_of, schema_for, server

STORAGE = Storage()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[PostgresStore]:
    store = create(tmp_path, STORAGE)
    yield store
    store.close()


def test_a_connection_cut_in_the_middle_of_a_commit_leaves_the_state_before(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(store, [indexed("a", ["one"])])
    before = store.reader()

    class ScriptedCut:
        """Stands for a commit whose connection is cut when its rows are written."""

        def __init__(self) -> None:
            self.next_state = writing.NEXT_STATE

        def __enter__(self) -> None:
            monkeypatch.setattr(writing, "NEXT_STATE", "SELECT pg_terminate_backend(pg_backend_pid()), %s, %s, %s")

        def __exit__(self, *_: object) -> None:
            monkeypatch.setattr(writing, "NEXT_STATE", self.next_state)

    with ScriptedCut(), pytest.raises(ServiceUnreachable), store.writing():
        store.commit([indexed("a", ["two"]), indexed("b", ["three"])])
    assert store.reader() is before
    assert rows_of(store, "entries") == 1
    commit(store, [indexed("b", ["three"])])
    assert store.reader().counts(OWNER) == Counts(2, 2, 2)


WRITER = """
import itertools, sys
from citewell.settings import Storage
from citewell.stores.postgres.connection import Address
from citewell.stores.postgres.store import PostgresStore
from tests.stores.corpus import numbered

address = Address.parse(sys.argv[1])
store = PostgresStore(address, address.schema + "_g1", Storage())
with store.writing():
    for number in itertools.count(int(sys.argv[2])):
        store.commit([numbered(number), numbered(number, "changing")])
        print(number, flush=True)
"""


def test_a_killed_writer_loses_nothing_that_it_acknowledged(store: PostgresStore, tmp_path: Path) -> None:
    moments, acknowledged = random.Random(3), -1
    for _ in range(2):
        with child(WRITER, server().url(schema_for(tmp_path)), str(acknowledged + 1)) as writer:
            acknowledged = int(writer.output.readline())
            with pytest.raises(IndexLocked, match=rf"by process {writer.process.pid} on .*, since 20"):
                commit(store, [])
            time.sleep(moments.uniform(0, 0.3))
            writer.process.kill()
            acknowledged = max([acknowledged, *map(int, writer.output.read().split())])
            assert writer.process.wait() == -signal.SIGKILL
        _wait_until_free(store)
        last = len(store.reader().documents(OWNER)) - 2
        assert last in (acknowledged, acknowledged + 1)
        acknowledged = last
        expected = [*(numbered(number) for number in range(last + 1)), numbered(last, "changing")]
        reader = store.reader()
        for one in expected:
            assert reader.document(one.document.id, OWNER) == one.document
            assert reader.dense(one.vectors[1], 1, OWNER)[0].entry_id == one.entries[1].entry.id
        texts = {item.entry.id: item.tokens for one in expected for item in one.entries}
        found = {match.entry_id: match.score for match in reader.keyword(["w1"], 999, OWNER)}
        assert found == pytest.approx(bm25(texts, ["w1"]), rel=1e-5)


def _wait_until_free(store: PostgresStore) -> None:
    """The server notices a killed client at its next word to it."""
    for _ in range(200):
        try:
            with store.writing():
                return
        except IndexLocked:
            time.sleep(0.02)
    pytest.fail("the lock was not let go")
