"""The schema of an index as a whole: its pointer, and the schemas of its generations beside it."""

from __future__ import annotations

import json
import re

from psycopg import Connection, errors, sql
from pydantic import TypeAdapter, ValidationError

from citewell.errors import IndexFormatError, IndexNotFound, PathError, ServiceRefused
from citewell.stores.home import FORMAT, Pointer
from citewell.stores.postgres import rights, schema
from citewell.stores.postgres.connection import EXTENSION_SCHEMA, Database
from citewell.stores.postgres.schema import Plan
from citewell.stores.store import MadeWith

EXTENSION = "CREATE EXTENSION IF NOT EXISTS vector SCHEMA public"
VERSION = "SELECT string_to_array(extversion, '.')::int[] FROM pg_extension WHERE extname = 'vector'"
OLDEST_PGVECTOR = [0, 8, 0]

POINTER = "CREATE TABLE pointer (one boolean PRIMARY KEY DEFAULT true CHECK (one), record text NOT NULL)"
SET_POINTER = """
    INSERT INTO pointer (record) VALUES (%s) ON CONFLICT (one) DO UPDATE SET record = excluded.record
"""
THERE = """
    SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = %s ORDER BY c.relname = 'pointer' DESC, c.relname LIMIT 3
"""
SCHEMAS = "SELECT nspname FROM pg_namespace WHERE nspname ^@ %s"
BYTES = """
    SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND n.nspname = ANY(%s)
"""

READ = range(3, FORMAT + 1)
"""Formats of a pointer. They differ in the tables of a folder; those here have versions of their own."""

_POINTER = TypeAdapter(Pointer)


def schema_of(index: str, generation: int) -> str:
    return f"{index}_g{generation}"


def make_room(connection: Connection, database: Database) -> None:
    """Make the index's schema where it is missing, and see that it is empty; then the extension.

    Raises:
        PathError: there is an index, or something else.
        ServiceRefused: the server has no pgvector, or one that is too old.
    """
    there = [name for (name,) in connection.execute(THERE, [database.schema])]
    location = database.address.location
    if "pointer" in there:
        raise PathError(f"There is an index in {location} already.", remedy="Open it, or give another schema.")
    if there:
        raise PathError(
            f"The schema {database.schema} of {location} has tables and no index ({', '.join(there)}).",
            remedy="Give the name of a new or empty schema: ?schema=NAME.",
        )
    connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(database.schema)))
    _require_unicode(connection, location)
    _require_pgvector(connection, location)


def start(connection: Connection, database: Database, pointer: Pointer) -> None:
    """Make the pointer, in the schema of the search path."""
    connection.execute(POINTER)
    rights.grant(connection, database.schema, ["pointer"], rights.reader_role(connection))
    point(connection, pointer)


def point(connection: Connection, pointer: Pointer) -> None:
    connection.execute(SET_POINTER, [_POINTER.dump_json(pointer).decode()])


def pointer(connection: Connection, location: str) -> Pointer:
    """Read the pointer.

    Raises:
        IndexFormatError: another version made it, or it is damaged.
        IndexNotFound: there is none.
    """
    found = connection.execute("SELECT record FROM pointer").fetchone()
    if found is None:
        raise IndexNotFound(f"There is no index in {location}.", remedy="Make one with `citewell index`.")
    try:
        version = json.loads(found[0])["format"]
        if version not in READ:
            raise IndexFormatError(
                f"{location} has format {version}; this version of Citewell reads format {FORMAT}.",
                remedy="Open it with the version that made it, or index the documents again into a new schema.",
            )
        return _POINTER.validate_json(found[0])
    except (ValidationError, ValueError, KeyError, TypeError):
        raise IndexFormatError(
            f"The pointer of {location} is damaged.",
            remedy="Restore it from a backup, or index the documents again into a new schema.",
        ) from None


def build(connection: Connection, index: str, generation: int, made_with: MadeWith) -> None:
    """Make an empty generation, in place of what was there, and stay in its search path."""
    name = schema_of(index, generation)
    remove(connection, index, generation)
    connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
    extension = connection.execute(EXTENSION_SCHEMA).fetchall()
    path = sql.SQL(", ").join([sql.Identifier(part) for part in (name, *(found for (found,) in extension))])
    connection.execute(sql.SQL("SET LOCAL search_path TO {}").format(path))
    plan = Plan(name, made_with.embedder.dimensions, rights.reader_role(connection))
    schema.create(connection, plan, made_with)


def remove(connection: Connection, index: str, generation: int) -> None:
    name = sql.Identifier(schema_of(index, generation))
    connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(name))


def generations(connection: Connection, index: str) -> list[int]:
    """The numbers of those that are there, in order."""
    names = [name for (name,) in connection.execute(SCHEMAS, [f"{index}_g"])]
    return sorted(int(found[1]) for name in names if (found := re.fullmatch(rf"{index}_g([1-9]\d*)", name)))


def bytes_on_disk(connection: Connection, schemas: list[str]) -> int:
    ((size,),) = connection.execute(BYTES, [schemas]).fetchall()
    return int(size)


def _require_unicode(connection: Connection, location: str) -> None:
    ((encoding,),) = connection.execute("SELECT current_setting('server_encoding')").fetchall()
    if encoding != "UTF8":
        raise ServiceRefused(
            f"{location}: the database has the encoding {encoding}, which cannot hold every text.",
            remedy="Make one with CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0.",
        )


def _require_pgvector(connection: Connection, location: str) -> None:
    try:
        with connection.transaction():
            connection.execute(EXTENSION)
    except (errors.FeatureNotSupported, errors.UndefinedFile, errors.UniqueViolation):
        pass  # there is none, or another has just made it: that is looked at now
    version = connection.execute(VERSION).fetchone()
    if version is None or version[0] < OLDEST_PGVECTOR:
        raise ServiceRefused(
            f"{location}: the database server has no pgvector of version 0.8 or newer.",
            remedy="Let an administrator install it; then `ALTER EXTENSION vector UPDATE` if there was an older one.",
        )
