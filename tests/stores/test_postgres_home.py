"""An index in a database: its pointer, its generations, its lock."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from psycopg import sql

from citewell.errors import IndexFormatError, IndexLocked, IndexNotFound, PathError, PermissionRefused, ServiceRefused
from citewell.settings import Storage
from citewell.stores.home import Calibration, Pointer
from citewell.stores.postgres import catalogue, rights
from citewell.stores.postgres.home import PostgresHome
from citewell.stores.postgres.store import PostgresStore
from citewell.stores.store import OWNER
from tests.stores.corpus import commit, indexed, made_with
from tests.stores.postgres_engine import made_older, schema_for, server

STORAGE = Storage()


class ScriptedDeath(Exception):
    """Stands for the death of the process at the point where it is raised."""


@pytest.fixture
def url(tmp_path: Path) -> str:
    return server().url(schema_for(tmp_path))


@pytest.fixture
def home(url: str) -> Iterator[PostgresHome]:
    home = PostgresHome(url, STORAGE)
    home.create(made_with())
    yield home
    home.close()


def execute(text: str, **names: str) -> None:
    with server().connect() as connection:
        identifiers = {name: sql.Identifier(value) for name, value in names.items()}
        connection.execute(sql.SQL(text).format(**identifiers))


def test_what_is_created_is_empty_and_pointed_at(home: PostgresHome, url: str) -> None:
    pointer = home.pointer()
    assert (pointer.current, pointer.previous, dict(pointer.states)) == (1, None, {})
    assert home.generations() == [1]
    assert home.open(1) is home.open(1)
    assert home.open(1).made_with == made_with()
    assert home.open(1).reader().documents(OWNER) == []
    assert home.location == url
    assert 0 < home.bytes_on_disk(1) < home.bytes_on_disk()


@pytest.mark.parametrize("least", [0.437, None])
def test_a_calibration_is_kept_with_the_pointer(home: PostgresHome, url: str, least: float | None) -> None:
    fitted = Calibration(least, 1, made_with().embedder, 40, 30, None if least is None else 0.9, 0.8, date(2026, 5, 4))
    with home.writing():
        home.switch(replace(home.pointer(), calibration=fitted))
    other = PostgresHome(url, STORAGE)
    assert other.pointer().calibration == fitted
    other.close()


def test_a_pointer_of_before_there_were_calibrations_is_read(home: PostgresHome, tmp_path: Path) -> None:
    execute("UPDATE {schema}.pointer SET record = record::jsonb - 'calibration'", schema=schema_for(tmp_path))
    assert home.pointer().calibration is None
    assert home.pointer().current == 1


def test_there_is_no_index_before_it_is_created(url: str) -> None:
    home = PostgresHome(url, STORAGE)
    with pytest.raises(IndexNotFound, match="citewell index"):
        home.pointer()
    assert home.generations() == []
    home.close()


def test_what_is_there_is_left_alone(home: PostgresHome, url: str, tmp_path: Path) -> None:
    commit(home.open(1), [indexed("d", ["word"])])
    with pytest.raises(PathError, match="There is an index in"):
        PostgresHome(url, STORAGE).create(made_with())
    assert len(home.open(1).reader().documents(OWNER)) == 1

    other = f"{schema_for(tmp_path)}_else"
    execute("CREATE SCHEMA {schema}", schema=other)
    execute("CREATE TABLE {schema}.mine (a int)", schema=other)
    with pytest.raises(PathError, match=r"has tables and no index \(mine\)"):
        PostgresHome(server().url(other), STORAGE).create(made_with())
    execute("DROP TABLE {schema}.mine", schema=other)
    PostgresHome(server().url(other), STORAGE).create(made_with())


def test_a_creation_that_dies_leaves_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(*_: object) -> None:
        raise ScriptedDeath

    home = PostgresHome(url, STORAGE)
    with monkeypatch.context() as patch:
        patch.setattr(rights, "lock", die)
        with pytest.raises(ScriptedDeath):
            home.create(made_with())
    with pytest.raises(IndexNotFound):
        home.pointer()
    home.create(made_with())
    assert home.generations() == [1]
    home.close()


def test_generations_are_built_switched_to_and_dropped(home: PostgresHome, url: str) -> None:
    commit(home.open(1), [indexed("old", ["word"])])
    second = home.build(2, made_with(8))
    assert home.generations() == [1, 2]
    assert second.made_with == made_with(8)
    assert home.pointer().current == 1
    moment = datetime(2026, 3, 4, 5, 6, 7, 8, tzinfo=UTC)
    after = Pointer(2, "2026", previous=1, states={"before 'the' move\0": moment})
    with pytest.raises(RuntimeError, match="inside"):
        home.switch(after)
    with home.writing():
        home.switch(after)
    other = PostgresHome(url, STORAGE)
    assert other.pointer() == home.pointer() == after
    assert [document.id for document in other.open(1).reader().documents(OWNER)] == ["old"]
    for named in (1, 2):
        with pytest.raises(ValueError, match="in use"):
            home.drop(named)
        with pytest.raises(ValueError, match="in use"):
            home.build(named, made_with())
    with home.writing():
        home.switch(replace(after, previous=None))
        home.drop(1)
        home.drop(9)
    assert other.generations() == [2]
    with pytest.raises(IndexFormatError, match="not there"):
        home.open(1)
    home.build(3, made_with())
    assert home.build(3, made_with()).reader().documents(OWNER) == []
    other.close()


def test_one_index_beside_another_has_its_own_generations(home: PostgresHome, tmp_path: Path) -> None:
    longer = PostgresHome(server().url(f"{schema_for(tmp_path)}_gx"), STORAGE)
    longer.create(made_with())
    assert home.generations() == longer.generations() == [1]
    longer.close()


def test_a_second_writer_is_told_who_the_first_is(home: PostgresHome, url: str) -> None:
    other = PostgresHome(url, STORAGE)
    depths = []

    def enter() -> None:
        with home.writing():
            depths.append(home._lock.depth)

    with home.writing():
        enter()
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        with pytest.raises(IndexLocked) as caught, other.writing():
            pytest.fail("a second lock was given")
        assert f"written to by process {os.getpid()} on {socket.gethostname()}, since 20" in caught.value.message
        assert other.pointer().current == 1, "reading goes on"
        with home.open(1).writing():
            home.open(1).commit([indexed("d", ["word"])])
    assert depths == [2, 2]
    with other.writing():
        pass
    other.close()


def test_only_one_of_many_creates_it(url: str) -> None:
    homes = [PostgresHome(url, STORAGE) for _ in range(4)]
    outcomes: list[str] = []

    def create(home: PostgresHome) -> None:
        try:
            home.create(made_with())
            outcomes.append("made")
        except (IndexLocked, PathError) as error:
            outcomes.append(type(error).__name__)

    threads = [threading.Thread(target=create, args=[home]) for home in homes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("made") == 1
    assert set(outcomes) <= {"made", "IndexLocked", "PathError"}
    assert homes[0].pointer().current == 1
    homes[0].close()


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ('{"format": 99}', "has format 99; this version of Citewell reads format 5"),
        ('{"format": 2}', "has format 2; this version of Citewell reads format 5"),
        ('{"format": 5}', "damaged"),
        ("[]", "damaged"),
        ("{", "damaged"),
    ],
)
def test_a_pointer_that_is_not_ours_is_refused(home: PostgresHome, tmp_path: Path, record: str, message: str) -> None:
    with server().connect() as connection:
        statement = sql.SQL("UPDATE {}.pointer SET record = %s").format(sql.Identifier(schema_for(tmp_path)))
        connection.execute(statement, [record])
    with pytest.raises(IndexFormatError, match=message):
        home.pointer()


def test_a_database_or_user_that_will_not_do_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = server().url(schema_for(tmp_path))
    with server().connect() as connection:
        connection.execute("DROP ROLE IF EXISTS plain")
        connection.execute("CREATE ROLE plain LOGIN")
        connection.execute("DROP DATABASE IF EXISTS latin")
        connection.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(PermissionRefused, match="permission denied"):
        PostgresHome(url.replace("postgres@", "plain@"), STORAGE).create(made_with())
    with pytest.raises(ServiceRefused, match="encoding LATIN1"):
        PostgresHome(url.replace("/postgres?", "/latin?"), STORAGE).create(made_with())
    monkeypatch.setattr(catalogue, "OLDEST_PGVECTOR", [99])
    with pytest.raises(ServiceRefused, match="no pgvector of version"):
        PostgresHome(url, STORAGE).create(made_with())


def test_an_upgrade_that_was_cut_short_is_gone_on_with(home: PostgresHome, url: str) -> None:
    """Each generation is a transaction: the newest may be done, and the one kept to go back to not."""
    kept, newest = home.open(1), home.build(2, made_with(8))
    commit(kept, [indexed("d", ["word"], replies={"ab" * 32: "reply"})])
    with home.writing():
        home.switch(Pointer(2, "2026", previous=1))
    made_older(kept, 4)
    home.close()
    half = PostgresHome(url, STORAGE)
    assert half.open(2).made_with == newest.made_with
    assert half.outdated() == [1]
    assert half.upgrade() == {1: [5, 6]}
    assert half.outdated() == []
    assert half.open(1).replies(["d"]) == {}
    half.close()


def test_a_schema_that_only_has_such_a_name_is_no_old_generation(home: PostgresHome, tmp_path: Path) -> None:
    execute("CREATE SCHEMA {schema}", schema=f"{schema_for(tmp_path)}_g7")
    assert home.generations() == [1, 7]
    assert (home.outdated(), home.upgrade()) == ([], {})


def test_a_server_that_may_only_be_read_can_be_searched(home: PostgresHome, url: str) -> None:
    commit(home.open(1), [indexed("d", ["word"])])
    reading = PostgresHome(url + "&options=-cdefault_transaction_read_only%3Don", STORAGE)
    assert len(reading.open(1).reader().keyword(["word"], 9, OWNER)) == 1
    with pytest.raises(PermissionRefused, match="only read"):
        commit(reading.open(1), [indexed("e", ["word"])])
    reading.close()


def test_a_store_that_is_gone_is_said_to_be(home: PostgresHome) -> None:
    store = home.open(1)
    assert isinstance(store, PostgresStore)
    execute("DROP SCHEMA {schema} CASCADE", schema=store._database.schema)
    with pytest.raises(IndexNotFound):
        store.reader()
