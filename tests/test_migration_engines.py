"""Every kind of home moves to another embedder and back alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from citewell.migration import migrate, roll_back
from citewell.models import configured
from citewell.models.encoding import Encoders
from citewell.models.fingerprint import canaries
from citewell.settings import Models, Storage
from citewell.stores.folder import FolderHome
from citewell.stores.home import Home
from citewell.stores.store import MadeWith
from citewell.synchronise import Synchronised, changes
from tests.test_migration_kill import ALIVE, add, assert_whole, current_of, document, scripted


def _postgres(path: Path) -> Home:
    from citewell.stores.postgres.home import PostgresHome
    from tests.stores.postgres_engine import schema_for, server

    return PostgresHome(server().url(schema_for(path)), Storage())


HOMES: dict[str, Callable[[Path], Home]] = {
    "folder": lambda path: FolderHome(path / "index", Storage()),
    "faiss": lambda path: FolderHome(path / "index", Storage(vectors="faiss", exact_up_to=4)),
    "postgres": _postgres,
}


@pytest.fixture(params=HOMES)
def home(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    monkeypatch.setattr(configured, "embedder", scripted)
    home = HOMES[request.param](tmp_path)
    embedder = scripted(Models())
    home.create(MadeWith(embedder.identity, canaries(embedder), "1"))
    with home.writing():
        store = current_of(home)
        with store.writing():
            store.commit([document(number, store) for number in range(ALIVE)])
    yield home
    home.close()


def test_it_moves_there_and_back_and_on(home: Home) -> None:
    short = Models(dimensions=24)
    there = migrate(home, Encoders(scripted(short)), short)
    assert there.carried == Synchronised(put=ALIVE, embedded=3 * ALIVE + 1)
    assert_whole(current_of(home), ALIVE - 1)

    add(home, ALIVE)
    back = roll_back(home, short)
    assert (back.generation, back.previous) == (1, 2)
    assert back.carried == Synchronised(put=1, dropped=1, embedded=3)
    assert_whole(current_of(home), ALIVE)
    assert changes(home.open(2), home.open(1)) == []

    shorter = Models(dimensions=16)
    on = migrate(home, Encoders(scripted(shorter)), shorter)
    assert (on.generation, on.previous, home.generations()) == (3, 1, [1, 3])
    assert_whole(current_of(home), ALIVE)
