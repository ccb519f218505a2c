"""Addresses, and what is said when the server is not there, lets nobody in, or goes away."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.errors import CitewellError, IndexFormatError, PathError, ServiceRefused, ServiceUnreachable
from citewell.settings import Storage
from citewell.stores.postgres.connection import Address, Database
from citewell.stores.postgres.home import PostgresHome
from citewell.stores.store import OWNER
from tests.stores.corpus import commit, indexed, made_with
from tests.stores.postgres_engine import create, schema_for, server

STORAGE = Storage()


@pytest.mark.parametrize(
    ("url", "location", "schema", "user"),
    [
        ("postgresql://u:p%40ss@h:5/db?schema=docs", "postgresql://u@h:5/db?schema=docs", "docs", "u"),
        ("postgres://u@h/db", "postgres://u@h/db", "citewell", "u"),
        ("postgresql:///db?host=/run/x&password=p@ss", "postgresql:///db?host=/run/x", "citewell", None),
        ("postgresql://a%40b:p:ss@h1:1,h2:2/db", "postgresql://a%40b@h1:1,h2:2/db", "citewell", "a@b"),
    ],
)
def test_an_address_shows_no_password(url: str, location: str, schema: str, user: str | None) -> None:
    address = Address.parse(url)
    assert (address.location, address.schema, address.parameters.get("user")) == (location, schema, user)
    assert address.parameters.get("password", "") in ("p@ss", "p:ss", "")
    assert "ss" not in repr(address).replace("password", "").replace("Address", "")
    assert PostgresHome(url, STORAGE).location == location


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:secret@h/db?schema=Docs",
        "postgresql://u:secret@h/db?schema=",
        "postgresql://u:secret@h/db?schema=a_g1",
        "postgresql://u:secret@h/db?schema=pg_x",
        f"postgresql://u:secret@h/db?schema={'x' * 41}",
        "postgresql://u:secret@h/db?schema=x;drop",
        "postgresql://u:secret@h/db?bogus=1",
        "postgresql://u:%zzsecret@h/db",
    ],
)
def test_what_is_no_address_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(PathError) as refused:
        Database(Address.parse(url), "x").connect()
    assert "secret" not in str(refused.value)


def test_no_server_is_said_to_be_none() -> None:
    home = PostgresHome("postgresql://u:secret@127.0.0.1:1/db", STORAGE)
    for act in (home.pointer, lambda: home.create(made_with()), home.generations, home.writing().__enter__):
        with pytest.raises(ServiceUnreachable, match=r"postgresql://u@127\.0\.0\.1:1/db.*refused") as caught:
            act()
        assert "secret" not in str(caught.value)
    home.close()


def test_a_wrong_password_name_or_database_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    with server().connect() as connection:
        connection.execute("DROP ROLE IF EXISTS locked")
        connection.execute("CREATE ROLE locked LOGIN PASSWORD 'right'")

    def refusal(url: str) -> str:
        with pytest.raises(ServiceRefused) as caught:
            PostgresHome(url, STORAGE).pointer()
        return str(caught.value)

    plain = server().url("x", "locked")
    assert "password" in refusal(plain)
    wrong = refusal(plain.replace("locked@", "locked:wrong@"))
    assert "password authentication failed" in wrong
    assert ":wrong" not in wrong
    assert "nobody_here" in refusal(server().url("x", "nobody_here"))
    assert "nowhere" in refusal(server().url("x").replace("/postgres?", "/nowhere?"))
    for given in (plain.replace("locked@", "locked:right@"), plain + "&password=right"):
        assert PostgresHome(given, STORAGE).generations() == []
    monkeypatch.setenv("PGPASSWORD", "right")
    assert PostgresHome(plain, STORAGE).generations() == []


def test_connections_that_the_server_closed_are_replaced(tmp_path: Path) -> None:
    store = create(tmp_path, STORAGE)
    commit(store, [indexed("a", ["word"])])
    reader = store.reader()
    for _ in range(3):
        with server().connect() as connection:
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name <> ''")
        assert reader.counts(OWNER).documents == 1
        assert len(reader.documents(OWNER)) == 1
    store.close()
    assert len(store.reader().documents(OWNER)) == 1, "it opens again"
    store.close()


def test_a_server_that_goes_away_in_a_call_is_unreachable(tmp_path: Path) -> None:
    store = create(tmp_path, STORAGE)
    with pytest.raises(ServiceUnreachable, match="terminat"), store._database.reading() as connection:
        connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    store.close()


def test_an_error_of_the_servers_is_not_shown_with_its_rows(tmp_path: Path) -> None:
    store = create(tmp_path, STORAGE)
    with pytest.raises(CitewellError) as caught, store._database.reading() as connection:
        connection.execute("SELECT * FROM none_such WHERE 'of the text' <> ''")
    assert "of the text" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert isinstance(caught.value, CitewellError)
    store.close()


def test_a_generation_that_is_not_there_is_damage(tmp_path: Path) -> None:
    store = create(tmp_path, STORAGE)
    store.close()
    home = PostgresHome(server().url(schema_for(tmp_path)), STORAGE)
    with pytest.raises(IndexFormatError, match=r"Generation 7 of .* is not there"):
        home.open(7)
    home.close()
