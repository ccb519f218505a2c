"""Rows of the state file as what they mean."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from datetime import date, datetime

from citewell.conversations.turns import Conversation, Feedback, Shown, StoredTurn, Thumb
from citewell.errors import UnknownId
from citewell.types import Rights

_CONVERSATIONS = """
    SELECT conversations.*,
        (SELECT count(*) FROM turns WHERE conversation = conversations.id) AS turns,
        (SELECT question FROM turns WHERE conversation = conversations.id ORDER BY number LIMIT 1) AS first_question
    FROM conversations
"""
_TURNS = """
    SELECT turns.*, thumb, wrong, comment,
        (
            SELECT json_group_array(json_array(document, source, json(readers)))
            FROM shown WHERE turn = turns.number
        ) AS shown
    FROM turns LEFT JOIN feedback ON feedback.turn = turns.number
"""


def conversation_of(database: sqlite3.Connection, conversation: str, caller: str | None = None) -> Conversation:
    """One conversation, of `caller` where one is given.

    Raises:
        UnknownId: there is none, or it is another caller's; the two look the same.
    """
    where = "WHERE id = ? AND caller = coalesce(?, caller)"
    row = database.execute(f"{_CONVERSATIONS} {where}", (conversation, caller)).fetchone()
    if row is None:
        raise UnknownId(f"There is no conversation {conversation!r}.", remedy="List them to see which there are.")
    return _conversation(row)


def conversations_of(
    database: sqlite3.Connection, caller: str, limit: int, offset: int = 0
) -> tuple[Conversation, ...]:
    """Those of a caller, the newest first; all that follow where `limit` is -1."""
    page = "WHERE caller = ? ORDER BY changed DESC, id LIMIT ? OFFSET ?"
    return tuple(map(_conversation, database.execute(f"{_CONVERSATIONS} {page}", (caller, limit, offset))))


def turns_of(database: sqlite3.Connection, conversation: str) -> tuple[StoredTurn, ...]:
    """The turns of a conversation, oldest first, whole."""
    rows = database.execute(f"{_TURNS} WHERE conversation = ? ORDER BY number", (conversation,))
    return tuple(map(_turn, rows))


def turn_of(database: sqlite3.Connection, turn: str, caller: str) -> StoredTurn:
    """One turn of a caller, whole.

    Raises:
        UnknownId: there is none, or it is another caller's; the two look the same.
    """
    where = "WHERE id = ? AND conversation IN (SELECT id FROM conversations WHERE caller = ?)"
    row = database.execute(f"{_TURNS} {where}", (turn, caller)).fetchone()
    if row is None:
        raise UnknownId(f"There is no turn {turn!r}.", remedy="Read its conversation to see which there are.")
    return _turn(row)


def conversations_judged(database: sqlite3.Connection) -> list[str]:
    """The ids of the conversations that have a turn with feedback."""
    rows = database.execute("SELECT DISTINCT conversation FROM turns JOIN feedback ON feedback.turn = turns.number")
    return [row["conversation"] for row in rows]


def groups_text(groups: Iterable[str]) -> str:
    return json.dumps(sorted(groups))


def _conversation(row: sqlite3.Row) -> Conversation:
    return Conversation(
        id=row["id"],
        caller=row["caller"],
        name=row["name"],
        first_question=row["first_question"] or "",
        turns=row["turns"],
        created=datetime.fromisoformat(row["created"]),
        changed=datetime.fromisoformat(row["changed"]),
    )


def _turn(row: sqlite3.Row) -> StoredTurn:
    shown = json.loads(row["shown"])
    return StoredTurn(
        id=row["id"],
        question=row["question"],
        answer=json.loads(row["answer"]),
        shown=frozenset(Shown(document, source, Rights(frozenset(readers))) for document, source, readers in shown),
        groups=tuple(json.loads(row["groups"])),
        as_of=date.fromisoformat(row["as_of"]) if row["as_of"] is not None else None,
        asked_at=datetime.fromisoformat(row["asked_at"]),
        feedback=_feedback(row) if row["wrong"] is not None else None,
    )


def _feedback(row: sqlite3.Row) -> Feedback:
    thumb = Thumb(row["thumb"]) if row["thumb"] is not None else None
    return Feedback(thumb, tuple(json.loads(row["wrong"])), row["comment"])
