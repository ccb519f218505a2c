"""The state file: for its owner alone, one schema, and many processes at once."""

from __future__ import annotations

import random
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from citewell.conversations import Access, ConversationStore
from citewell.conversations.state import StateFile
from citewell.errors import IndexFormatError, PathError, Refused, UsageError
from citewell.types import Principal

ANYTHING = Access(Principal(), lambda documents: documents)

STARTING = """
import sys
from pathlib import Path
from citewell.conversations import Access, ConversationStore
from citewell.types import Principal
store = ConversationStore.at(Path(sys.argv[1]))
for _ in range(10):
    store.of("key:" + sys.argv[2], Access(Principal(), lambda documents: documents)).start()
"""


def modes(folder: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def test_only_its_owner_may_look_into_it(folder: Path) -> None:
    store = ConversationStore.at(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    with store.state.writing() as database:
        database.execute("UPDATE conversations SET name = ''")
        assert (folder / "service.sqlite3-wal").exists()
        assert modes(folder) == {0o600}


def test_a_file_that_others_could_read_is_closed_to_them(folder: Path) -> None:
    folder.mkdir()
    (folder / "service.sqlite3").touch(mode=0o644)
    ConversationStore.at(folder)
    assert modes(folder) == {0o600}


def test_tables_of_others_stay_in_it(folder: Path) -> None:
    folder.mkdir()
    with closing(sqlite3.connect(folder / "service.sqlite3")) as other, other:
        other.execute("CREATE TABLE keys (id TEXT)")
        other.execute("INSERT INTO keys VALUES ('k')")
    store = ConversationStore.at(folder)
    store.forget(["nothing"])
    with store.state.reading() as database:
        assert [row["id"] for row in database.execute("SELECT id FROM keys")] == ["k"]


def test_processes_and_threads_that_open_and_write_at_once(folder: Path) -> None:
    running = [subprocess.Popen([sys.executable, "-c", STARTING, folder, name]) for name in ("a", "b", "c")]

    def start() -> None:
        mine = ConversationStore.at(folder).of("key:d", ANYTHING)
        for _ in range(10):
            mine.start()

    threads = [threading.Thread(target=start) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [process.wait(timeout=60) for process in running] == [0, 0, 0]
    store = ConversationStore.at(folder)
    counts = {name: len(store.of(name, ANYTHING).listed()) for name in store.callers()}
    assert counts == {"key:a": 10, "key:b": 10, "key:c": 10, "key:d": 30}


def test_what_fails_halfway_changes_nothing(store: ConversationStore) -> None:
    mine = store.of("key:a", ANYTHING)
    mine.start()

    def fail_halfway() -> None:
        with store.state.writing() as database:
            database.execute("DELETE FROM conversations")
            raise UsageError("no", remedy="")

    with pytest.raises(UsageError, match="no"):
        fail_halfway()
    assert len(mine.listed()) == 1


def test_another_schema_is_refused(folder: Path, store: ConversationStore) -> None:
    with store.state.writing() as database:
        database.execute("UPDATE conversations_schema SET version = 2")
    with pytest.raises(IndexFormatError, match="version 2, and this citewell reads 1"):
        ConversationStore.at(folder)


def test_what_is_no_database_is_refused(folder: Path) -> None:
    folder.mkdir()
    (folder / "service.sqlite3").write_bytes(b"not a database at all, and longer than a header of one is" * 20)
    with pytest.raises(IndexFormatError, match="damaged"):
        ConversationStore.at(folder)


def test_a_file_in_the_place_of_the_folder_is_refused(folder: Path) -> None:
    folder.write_text("x")
    with pytest.raises(PathError):
        ConversationStore.at(folder)


def test_where_there_is_none_none_is_made(folder: Path) -> None:
    assert ConversationStore.existing(folder) is None
    assert not folder.exists()


@pytest.mark.parametrize("seed", [4, 8])
def test_no_byte_stays_where_rows_have_moved(store: ConversationStore, seed: int) -> None:
    """With these seeds and SQLite 3.40, overwriting what is deleted and emptying the -wal file leave some."""
    by_chance = random.Random(seed)
    with store.state.writing() as database:
        for number in range(400):
            word = "told" if by_chance.random() < 0.3 else "else"
            turn, text = by_chance.randbytes(8).hex(), word * by_chance.choice([1, 3, 10, 50, 300, 900])
            database.execute("INSERT INTO conversations VALUES (?, 'a', '', '', '')", (str(number),))
            database.execute(
                "INSERT INTO turns (id, conversation, question, answer, groups, asked_at) VALUES (?, ?, ?, '', '', '')",
                (turn, str(number), text),
            )
            name = word * by_chance.choice([1, 10, 50])
            database.execute("UPDATE conversations SET name = ? WHERE id = ?", (name, str(number)))
    with store.state.writing() as database:
        database.execute("DELETE FROM conversations WHERE name LIKE 'told%'")
    store.state.scrub()
    files = list(store.state.path.parent.iterdir())
    assert not any(b"told" in path.read_bytes() for path in files)
    assert any(b"else" in path.read_bytes() for path in files)


def test_a_reader_that_stays_is_named_when_bytes_may_be_left(
    store: ConversationStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("citewell.conversations.state.BUSY_S", 0.2)
    store.of("key:a", ANYTHING).start()
    with store.state.reading() as database:
        database.execute("SELECT count(*) FROM conversations").fetchone()
        with pytest.raises(Refused, match="may still be in its -wal file"):
            StateFile(store.state.path).scrub()
    store.forget(["nothing"])
