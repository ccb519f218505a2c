"""The second lock: the server itself leaves out the rows that the session's groups may not read.

Every query has its own condition on the rights besides; this is for the day when one of them is wrong. Where the user
may create roles, reading goes through the role `citewell_reader`, whom the policies bind. Otherwise they are forced on
the owner of the tables, who must then say when he means to read everything. The setting `citewell.groups` holds the
groups; where it is not set, there are no rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import Connection, errors, sql

READER = "citewell_reader"


CREATE = sql.SQL("CREATE ROLE {role} NOLOGIN")
GRANT = sql.SQL("GRANT {role} TO CURRENT_USER")
BECOME = sql.SQL("SET LOCAL ROLE {role}")
BOUND = "SELECT 1 FROM pg_roles WHERE rolname = %s AND NOT rolsuper AND NOT rolbypassrls"

BY_GROUPS = sql.SQL("""
    CREATE POLICY by_groups ON rights FOR SELECT TO {bound}
    USING (groups && nullif(current_setting('citewell.groups', true), '')::text[])
""")
BY_RIGHTS = sql.SQL("""
    CREATE POLICY by_groups ON {table} FOR SELECT TO {bound} USING (rights IN (SELECT r.id FROM rights r))
""")
ENABLE = sql.SQL("ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
FORCE = sql.SQL("ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
WHOLE = sql.SQL("CREATE POLICY whole ON {table} TO {bound} USING (current_setting('citewell.whole', true) = 'on')")

SAY_WHOLE = sql.SQL("SET citewell.whole TO 'on'")
"""What a forced owner says who means to read and write everything."""


REFUSALS = (
    errors.DuplicateObject,
    errors.UniqueViolation,
    errors.InsufficientPrivilege,
    errors.UndefinedObject,
    errors.InvalidParameterValue,  # what SET ROLE says of a role that does not exist
)


def reader_role(connection: Connection) -> str | None:
    """The role to read through, made where it is missing; None where the user may not make or take it."""
    _works(connection, CREATE)
    taken = _works(connection, BECOME) or (_works(connection, GRANT) and _works(connection, BECOME))
    return READER if taken and connection.execute(BOUND, [READER]).fetchone() else None


def lock(connection: Connection, tables: Sequence[str], reader: str | None) -> None:
    """Put the policies on tables of the schema in the search path: on `rights`, and on those whose rows have the
    number of a set of groups in it."""
    bound = sql.SQL("CURRENT_USER") if reader is None else sql.Identifier(reader)
    for name in tables:
        table = sql.Identifier(name)
        connection.execute(ENABLE.format(table=table))
        connection.execute((BY_GROUPS if name == "rights" else BY_RIGHTS).format(table=table, bound=bound))
        if reader is None:
            connection.execute(FORCE.format(table=table))
            connection.execute(WHOLE.format(table=table, bound=bound))


def grant(connection: Connection, schema: str, tables: Sequence[str], reader: str | None) -> None:
    """Let the role read these tables of a schema."""
    if reader is not None:
        role, name = sql.Identifier(reader), sql.Identifier(schema)
        listed = sql.SQL(", ").join(sql.Identifier(schema, table) for table in tables)
        connection.execute(sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(name, role))
        connection.execute(sql.SQL("GRANT SELECT ON {} TO {}").format(listed, role))


def assume(connection: Connection, groups: list[str] | None, reader: str | None) -> None:
    """Bind the transaction to what these groups may read, or to nothing where they are None."""
    if groups is not None:
        if reader is not None:
            connection.execute(BECOME.format(role=sql.Identifier(reader)))
        connection.execute("SELECT set_config('citewell.groups', %s::text[]::text, true)", [groups])
    elif reader is None:
        connection.execute("SET LOCAL citewell.whole TO 'on'")
    else:
        # Whoever is bound by policies and has no groups is refused, and is not shown an empty index.
        connection.execute("SET LOCAL row_security TO off")


def _works(connection: Connection, statement: sql.SQL) -> bool:
    """Whether the statement does not fail; becoming somebody is undone at once."""
    try:
        with connection.transaction(force_rollback=statement is BECOME):
            connection.execute(statement.format(role=sql.Identifier(READER)))
    except REFUSALS:
        return False
    return True
