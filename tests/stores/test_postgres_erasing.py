"""What is erased is in no file, and who reads meanwhile sees whole states."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from citewell.errors import IndexFormatError, IndexLocked, ServiceUnreachable
from citewell.filters import FieldType
from citewell.models.embedder import Embedded
from citewell.models.sparse import SparseVector
from citewell.settings import Storage
from citewell.stores.postgres import writing
from citewell.stores.postgres.store import PostgresStore
from citewell.stores.store import OWNER, Counts, Scope
from citewell.types import Removed
from tests.stores.child import child
from tests.stores.corpus import (
    commit,
    declare,
    indexed,
    key,
    unit_vectors,
)
from tests.stores.postgres_engine import create, schema_for, server

STORAGE = Storage()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[PostgresStore]:
    store = create(tmp_path, STORAGE)
    yield store
    store.close()


def test_what_was_dropped_and_erased_is_in_no_file_of_the_tables(store: PostgresStore) -> None:
    secret = indexed(
        "verschollen",
        ["Xylophonzwerg geheim", "Quarzuhr"],
        fields={"note": "Brombeerschloss"},
        groups=["kept", "Nurhier"],
        replies={"ab" * 32: "Holunderteich"},
    )
    declare(store, {"note": FieldType.TEXT})
    commit(store, [indexed("stays", ["bleibt hier"], groups=["kept"]), secret])
    with store.writing():
        last = secret.entries[1]
        store.stash({"00" * 32: Embedded(secret.vectors[1], last.token_vectors, last.sparse)})
        store.stash_replies({"cd" * 32: "Nebelkrug"})
        _flush("ANALYZE")
        words = [b"Xylophonzwerg", b"Quarzuhr", b"Brombeerschloss", b"Title of verschollen", b"Nurhier", b"bleibt"]
        words += [b"Holunderteich", b"Nebelkrug"]
        needles = [*words, *(row.tobytes() for row in secret.vectors), *(each.token_vectors for each in secret.entries)]
        for vector in (SparseVector.unpack(each.sparse) for each in secret.entries):
            needles.append(vector.terms.tobytes() + vector.weights.tobytes())
        assert [_holding(needle) > 0 for needle in needles] == [True] * len(needles)
        before = store.reader()
        store.commit([], [key("verschollen")])
        store.declare({})
        store.erase()
    _flush("ANALYZE")
    assert [_holding(needle) > 0 for needle in needles] == [needle == b"bleibt" for needle in needles]
    with pytest.raises(IndexFormatError, match="Begin again"):
        before.documents(OWNER)
    assert store.reader().counts(OWNER) == Counts(1, 1, 1)
    assert [match.chunk_id for match in store.reader().keyword(["bleibt"], 9, OWNER)] == ["stays/0000"]
    assert [document.id for document in store.reader().documents(Scope(frozenset({"kept"})))] == ["stays"]
    commit(store, [secret])
    assert store.reader().document("verschollen", OWNER) == secret.document


def test_a_connection_cut_while_erasing_leaves_the_state_before(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = indexed("secret", ["Wolpertinger nachts"], vectors=unit_vectors(1, 2_000))  # in no other test
    commit(store, [indexed("stays", ["bleibt hier"]), secret])
    gone = [Removed("secret", secret.document.source, (1,), {})]
    needles = [b"Wolpertinger", secret.vectors[0].tobytes()]
    for place in ("FORGET_STATES", "EMPTY_STASH"):
        with monkeypatch.context() as patch:
            patch.setattr(writing, place, "SELECT pg_terminate_backend(pg_backend_pid())" + CUT[place])
            with pytest.raises(ServiceUnreachable), store.writing():
                store.erase(gone)
        assert store.erasing is None
        assert store.reader().document("secret", OWNER) == secret.document
        assert store.reader().counts(OWNER) == Counts(2, 2, 2)
    with store.writing():
        store.erase(gone)
    _flush("ANALYZE")
    assert [_holding(needle) for needle in needles] == [0, 0]
    assert [version.document_id for version in store.versions()] == ["stays"]


CUT = {"FORGET_STATES": ", %s", "EMPTY_STASH": ""}
"""What the statement in whose place the connection is cut takes."""

KILLED = """
import sys
from citewell.settings import Storage
from citewell.stores.postgres.connection import Address
from citewell.stores.postgres.store import PostgresStore
from citewell.types import Removed

address = Address.parse(sys.argv[1])
store = PostgresStore(address, address.schema + "_g1", Storage())
with store.writing():
    print("in", flush=True)
    store.erase([Removed("secret", "file:///secret", (1,), {})])
    print("erased", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("hundredths", [0, 2, 5, 10, 30])
def test_a_killed_writer_has_erased_all_or_nothing(store: PostgresStore, tmp_path: Path, hundredths: int) -> None:
    vectors = unit_vectors(200, 1_000 + hundredths)  # in no other test: the server is the same
    secret = indexed("secret", [f"w{number}" for number in range(200)], vectors=vectors)
    commit(store, [indexed("stays", ["bleibt hier"]), secret])
    with child(KILLED, server().url(schema_for(tmp_path))) as writer:
        assert writer.output.readline() == "in\n"
        time.sleep(hundredths / 100)
        writer.process.kill()
        said = writer.output.read()
    stop_waiting = time.monotonic() + 20
    while True:  # the server notices a killed client at its next word to it, and may end the transaction meanwhile
        with suppress(IndexLocked), store.writing():
            break
        assert time.monotonic() < stop_waiting, "the lock was not let go"
        time.sleep(0.02)
    erased = store.reader().document("secret", OWNER) is None
    assert erased or said == ""
    _flush("ANALYZE")
    assert (_holding(vectors[7].tobytes()) > 0) is not erased
    assert store.reader().counts(OWNER) == (Counts(1, 1, 1) if erased else Counts(2, 201, 201))


def _flush(statement: str) -> None:
    with server().connect() as connection:
        connection.execute(statement)
        connection.execute("CHECKPOINT")


def _holding(needle: bytes) -> int:
    """How many of the server's files hold these bytes; not its log of writes."""
    folder = server().folder / "data"
    files = [path for part in ("base", "global") for path in (folder / part).rglob("*") if path.is_file()]
    return sum(needle in path.read_bytes() for path in files)


def test_readers_in_the_middle_of_erasing_see_whole_states(store: PostgresStore) -> None:
    commit(store, [indexed("a", ["0"]), indexed("b", ["0"])])
    stop, seen, trouble = threading.Event(), set[str](), list[Exception]()

    def read() -> None:
        while not stop.is_set():
            try:
                reader = store.reader()
                documents = [reader.document(name, OWNER) for name in "ab"]
                texts = {document.text if document else "none" for document in documents}
                assert len(texts) == 1, texts
                assert len(reader.keyword([*texts], 9, OWNER)) == len(store.ledger()) == 2
                seen.update(texts)
            except IndexFormatError as gone:
                assert "Begin again" in str(gone)  # noqa: PT017  # erasing ended this state; the next is read
            except Exception as error:  # noqa: BLE001  # a thread's failure is told by the test
                trouble.append(error)
                return

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(1, 9):
        with store.writing():
            store.commit([indexed("a", [str(number)]), indexed("b", [str(number)])])
            store.erase()
    stop.set()
    for thread in threads:
        thread.join()
    assert trouble == []
    assert len(seen) > 2
