"""The tables of conversations in the state file, and the version of their schema."""

from __future__ import annotations

from citewell.conversations.state import StateFile
from citewell.errors import IndexFormatError

SCHEMA_VERSION = 1

_SCHEMA = (
    # `name` is the title that somebody gave it, "" where its first question is one.
    """
    CREATE TABLE conversations (
        id TEXT PRIMARY KEY, caller TEXT NOT NULL, name TEXT NOT NULL, created TEXT NOT NULL, changed TEXT NOT NULL
    )
    """,
    "CREATE INDEX conversations_of ON conversations (caller, changed)",
    "CREATE INDEX conversations_changed ON conversations (changed)",
    # `answer` is JSON: what `ask --json` prints of it, as far as it is kept. Later turns have larger numbers.
    """
    CREATE TABLE turns (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        conversation TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
        question TEXT NOT NULL, answer TEXT NOT NULL, groups TEXT NOT NULL, as_of TEXT, asked_at TEXT NOT NULL
    )
    """,
    "CREATE INDEX turns_of ON turns (conversation, number)",
    # Every document that a turn has something of, and who might read the version that it had it of.
    """
    CREATE TABLE shown (
        turn INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE, document TEXT NOT NULL, readers TEXT NOT NULL,
        source TEXT NOT NULL,
        PRIMARY KEY (turn, document, readers)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX shown_of ON shown (document)",
    """
    CREATE TABLE feedback (
        turn INTEGER PRIMARY KEY REFERENCES turns ON DELETE CASCADE,
        thumb TEXT, wrong TEXT NOT NULL, comment TEXT NOT NULL, given_at TEXT NOT NULL
    )
    """,
    "CREATE TABLE conversations_schema (version INTEGER NOT NULL)",
)


def prepare(state: StateFile) -> None:
    """Make the tables where there are none. Other rooms keep tables of their own in the same file.

    Raises:
        IndexFormatError: they are of another version.
    """
    with state.writing() as database:
        made = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'conversations_schema'").fetchone()
        if made is None:
            for statement in _SCHEMA:
                database.execute(statement)
            database.execute("INSERT INTO conversations_schema VALUES (?)", (SCHEMA_VERSION,))
        (version,) = database.execute("SELECT version FROM conversations_schema").fetchone()
    if version != SCHEMA_VERSION:
        raise IndexFormatError(
            f"The conversations in {state.path} are of version {version}, and this citewell reads {SCHEMA_VERSION}.",
            remedy="Use the version of citewell that wrote them, or name another `state` folder.",
        )
