"""The second lock: what the server shows by itself, whatever is asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from psycopg import Connection, sql

from citewell.errors import PermissionRefused
from citewell.settings import Storage
from citewell.stores.postgres import conditions
from citewell.stores.postgres.connection import Address
from citewell.stores.postgres.home import PostgresHome
from citewell.stores.postgres.rights import READER
from citewell.stores.postgres.store import PostgresStore
from citewell.stores.store import OWNER, Scope
from tests.stores.corpus import commit, indexed, made_with, sparse_of, unit_vectors
from tests.stores.postgres_engine import create, schema_for, server

STORAGE = Storage()
HOSTILE = 'a,"b"} \'; --\\'


@pytest.fixture
def store(tmp_path: Path) -> Iterator[PostgresStore]:
    store = create(tmp_path, STORAGE)
    commit(store, [indexed("open", ["word"], groups=["g", HOSTILE]), indexed("closed", ["word"], groups=["x"])])
    yield store
    store.close()


WITH_RIGHTS = """
    SELECT DISTINCT c.relname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = %s::text::regnamespace AND c.relkind = 'r'
        AND (a.attname = 'rights' OR c.relname = 'rights')
"""


def rows_seen(connection: Connection, schema: str, groups: list[str] | None) -> dict[str, int]:
    """What a plain SELECT gives, table by table, in a session of these groups."""
    with connection.transaction():
        connection.execute(sql.SQL("SET LOCAL search_path TO {}").format(sql.Identifier(schema)))
        if groups is not None:
            connection.execute("SELECT set_config('citewell.groups', %s::text[]::text, true)", [groups])
        return {
            table: connection.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(table))).rowcount
            for (table,) in connection.execute(WITH_RIGHTS, [schema]).fetchall()
        }


@pytest.mark.usefixtures("store")
def test_the_readers_role_sees_rows_of_its_groups_only(tmp_path: Path) -> None:
    schema = f"{schema_for(tmp_path)}_g1"
    with server().connect() as connection:
        everything = rows_seen(connection, schema, None)
        connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(READER)))
        assert set(rows_seen(connection, schema, ["g"]).values()) == {1}
        assert set(rows_seen(connection, schema, [HOSTILE]).values()) == {1}
        assert set(rows_seen(connection, schema, ["wrong", "g "]).values()) == {0}
        assert set(rows_seen(connection, schema, []).values()) == {0}
        assert set(rows_seen(connection, schema, None).values()) == {0}, "also after a session that had some"
    assert set(everything.values()) == {2}, "its owner is not bound"
    named = ("rights", "documents", "bodies", "chunks", "entries", "postings", "sparse_vectors")
    assert everything.keys() == set(named)


def test_a_condition_that_is_wrong_still_gives_away_nothing(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conditions, "with_rights", lambda *_: conditions.EVERYTHING)
    reader, scope, vector = store.reader(), Scope(frozenset({"g"})), unit_vectors(1, 0)[0]
    assert [match.chunk_id for match in reader.dense(vector, 9, scope)] == ["open/0000"]
    assert [match.chunk_id for match in reader.keyword(["word"], 9, scope)] == ["open/0000"]
    assert [match.chunk_id for match in reader.sparse(sparse_of("word"), 9, scope)] == ["open/0000"]
    assert [document.id for document in reader.documents(scope)] == ["open"]
    assert reader.document("closed", scope) is None
    assert len(reader.documents(OWNER)) == 2


def test_an_index_of_a_user_who_may_make_no_role_is_locked_for_himself(tmp_path: Path) -> None:
    schema = schema_for(tmp_path)
    with server().connect() as connection:
        connection.execute("DROP ROLE IF EXISTS humble")
        connection.execute("CREATE ROLE humble LOGIN")
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute("GRANT CREATE ON DATABASE postgres TO humble")
    home = PostgresHome(server().url(schema, "humble"), STORAGE)
    home.create(made_with())
    store = home.open(1)
    commit(store, [indexed("open", ["word"], groups=["g"]), indexed("closed", ["word"], groups=["x"])])
    assert [document.id for document in store.reader().documents(Scope(frozenset({"g"})))] == ["open"]
    assert [match.chunk_id for match in store.reader().keyword(["word"], 9, Scope(frozenset({"x"})))] == ["closed/0000"]
    assert len(store.reader().documents(OWNER)) == len(store.ledger()) == 2
    with store.writing():
        store.erase()
    assert len(store.reader().documents(OWNER)) == 2
    home.close()
    with server().connect("humble") as connection:
        assert set(rows_seen(connection, f"{schema}_g1", None).values()) == {0}
        assert set(rows_seen(connection, f"{schema}_g1", ["g"]).values()) == {1}
    with server().connect() as connection:
        connection.execute("DROP OWNED BY humble CASCADE")
        connection.execute("DROP ROLE humble")


def test_a_member_of_the_readers_role_reads_by_groups_and_writes_nothing(store: PostgresStore, tmp_path: Path) -> None:
    with server().connect() as connection:
        connection.execute("DROP ROLE IF EXISTS app")
        connection.execute(sql.SQL("CREATE ROLE app LOGIN IN ROLE {}").format(sql.Identifier(READER)))
    address = Address.parse(server().url(schema_for(tmp_path), "app"))
    theirs = PostgresStore(address, f"{address.schema}_g1", STORAGE)
    assert [document.id for document in theirs.reader().documents(Scope(frozenset({"x"})))] == ["closed"]
    for act in (lambda: theirs.reader().documents(OWNER), theirs.ledger, theirs.writing().__enter__):
        with pytest.raises(PermissionRefused, match=r"refuses|only read"):
            act()
    for table in ("stash", "stashed_replies"):
        with pytest.raises(PermissionRefused, match=table), theirs._database.reading() as connection:
            connection.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(table)))
    theirs.close()
