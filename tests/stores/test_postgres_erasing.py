"""What is erased is in no file, and who reads meanwhile sees whole states."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from citewell.errors import IndexFormatError
from citewell.filters import FieldType
from citewell.settings import Storage
from citewell.stores.postgres.store import PostgresStore
from citewell.stores.store import OWNER, Counts, Scope
from tests.stores.corpus import (
    commit,
    declare,
    indexed,
    key,
)
from tests.stores.postgres_engine import create, server

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
    )
    declare(store, {"note": FieldType.TEXT})
    commit(store, [indexed("stays", ["bleibt hier"], groups=["kept"]), secret])
    with store.writing():
        store.stash({"00" * 32: secret.vectors[1]})
        _flush("ANALYZE")
        words = [b"Xylophonzwerg", b"Quarzuhr", b"Brombeerschloss", b"Title of verschollen", b"Nurhier", b"bleibt"]
        needles = [*words, secret.vectors[0].tobytes(), secret.vectors[1].tobytes()]
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
