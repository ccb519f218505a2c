"""The conversations of one caller, as they may see them now. Those of others look like those that do not exist."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from itertools import chain

from citewell import clock
from citewell.conversations.budget import HISTORY_TOKENS, within
from citewell.conversations.rights import Access
from citewell.conversations.rows import conversation_of, conversations_of, groups_text, turn_of, turns_of
from citewell.conversations.state import StateFile
from citewell.conversations.turns import Conversation, Feedback, History, Shown, StoredTurn, kept_of, shown_in
from citewell.errors import UsageError
from citewell.question import readable
from citewell.types import Answer

MAX_NAME_CHARS = 200
MAX_COMMENT_CHARS = 2_000
MAX_TURNS = 500
MAX_CONVERSATIONS = 10_000
PAGE = 100


@dataclass(frozen=True, slots=True)
class CallersConversations:
    """See `ConversationStore.of`. Every id that is none of the caller's raises UnknownId."""

    state: StateFile
    caller: str
    access: Access

    def start(self) -> Conversation:
        """A new conversation, without a turn.

        Raises:
            UsageError: the caller has `MAX_CONVERSATIONS`.
        """
        made, now = secrets.token_hex(16), clock.now().isoformat()
        with self.state.writing() as database:
            (count,) = database.execute(
                "SELECT count(*) FROM conversations WHERE caller = ?", (self.caller,)
            ).fetchone()
            if count >= MAX_CONVERSATIONS:
                raise UsageError(f"There are {count:,} conversations of this caller.", remedy="Delete old ones.")
            database.execute("INSERT INTO conversations VALUES (?, ?, '', ?, ?)", (made, self.caller, now, now))
            return conversation_of(database, made)

    def listed(self, limit: int = PAGE, offset: int = 0) -> tuple[Conversation, ...]:
        """Conversations, the last changed first; all that follow where `limit` is -1."""
        with self.state.reading() as database:
            found = conversations_of(database, self.caller, limit, offset)
            turns = {each.id: turns_of(database, each.id) for each in found if each.name}
        # The index is asked once, for all of them.
        withheld = {turn.id for turn in self.access.seen([*chain(*turns.values())]) if turn.withheld}
        unnamed = {name for name, every in turns.items() if any(turn.id in withheld for turn in every)}
        return tuple(replace(each, name="") if each.id in unnamed else each for each in found)

    def read(self, conversation: str) -> tuple[Conversation, tuple[StoredTurn, ...]]:
        """A conversation with its turns, oldest first; those withheld of which the caller may not read all any more.

        Raises:
            UnknownId: the caller has no such conversation.
        """
        with self.state.reading() as database:
            found = conversation_of(database, conversation, self.caller)
            turns = turns_of(database, conversation)
        seen = self.access.seen(turns)
        return _named(found, seen), seen

    def history(self, conversation: str, tokens: int = HISTORY_TOKENS) -> History:
        """What a follow-up is asked with: the last turns that fit, at 4 characters a token. None that is withheld.

        Raises:
            UnknownId: the caller has no such conversation.
        """
        _, turns = self.read(conversation)
        seen = [turn for turn in turns if not turn.withheld]
        fitting = within([turn.turn for turn in seen], tokens)
        used = seen[len(seen) - len(fitting) :]
        return History(fitting, frozenset(shown for turn in used for shown in turn.shown))

    def add(
        self,
        conversation: str,
        answer: Answer,
        *,
        groups: Iterable[str] = (),
        as_of: date | None = None,
        history: History = History(),  # noqa: B008 - frozen
    ) -> StoredTurn | None:
        """Keep an answer as the conversation's next turn; `groups`, `as_of` and `history` are what it was asked with.

        What a turn of `history` has something of, its answer may have, too. None, and nothing is kept, where the caller
        may not read all of that any more: rights were narrowed, or a document was purged while the question ran.

        Raises:
            UnknownId: the caller has no such conversation.
            UsageError: it has `MAX_TURNS`.
        """
        shown, made, now = shown_in(answer) | history.shown, secrets.token_hex(16), clock.now().isoformat()
        with self.state.writing() as database:
            if conversation_of(database, conversation, self.caller).turns >= MAX_TURNS:
                raise UsageError(f"The conversation has {MAX_TURNS} turns.", remedy="Start a new one.")
            number = database.execute(
                "INSERT INTO turns (id, conversation, question, answer, groups, as_of, asked_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    made,
                    conversation,
                    readable(answer.question),
                    json.dumps(kept_of(answer)),
                    groups_text(groups),
                    as_of.isoformat() if as_of is not None else None,
                    now,
                ),
            ).lastrowid
            _show(database, number, shown)
            database.execute("UPDATE conversations SET changed = ? WHERE id = ?", (now, conversation))
            # Last, and while no purge can erase turns: it finds this one, or this is not kept.
            (turn,) = self.access.seen([turn_of(database, made, self.caller)])
            if turn.withheld:
                database.execute("DELETE FROM turns WHERE id = ?", (made,))
        return None if turn.withheld else turn

    def rename(self, conversation: str, name: str) -> Conversation:
        """Call it otherwise; by its first question again where `name` is empty.

        Raises:
            UnknownId: the caller has no such conversation.
            UsageError: the name is too long.
        """
        called = " ".join(readable(name).split())
        if len(called) > MAX_NAME_CHARS:
            raise UsageError("The name is too long.", remedy=f"Shorten it to {MAX_NAME_CHARS} characters.")
        with self.state.writing() as database:
            conversation_of(database, conversation, self.caller)
            database.execute("UPDATE conversations SET name = ? WHERE id = ?", (called, conversation))
        found, _ = self.read(conversation)
        return found

    def delete(self, conversation: str) -> None:
        """Remove a conversation with its turns and their feedback; it cannot be brought back.

        Raises:
            UnknownId: the caller has no such conversation.
        """
        with self.state.writing() as database:
            conversation_of(database, conversation, self.caller)
            database.execute("DELETE FROM conversations WHERE id = ?", (conversation,))

    def judge(self, turn: str, feedback: Feedback) -> StoredTurn:
        """Say what the caller thinks of an answer, in the place of what they said before; nothing takes it back.

        Raises:
            UnknownId: the caller has no such turn.
            UsageError: it has no such citation, or the comment is too long.
        """
        if len(feedback.comment) > MAX_COMMENT_CHARS:
            raise UsageError("The comment is too long.", remedy=f"Shorten it to {MAX_COMMENT_CHARS:,} characters.")
        given = replace(feedback, wrong=tuple(sorted(set(feedback.wrong))), comment=readable(feedback.comment).strip())
        with self.state.writing() as database:
            stored = turn_of(database, turn, self.caller)
            (seen,) = self.access.seen([stored])
            missing = set(given.wrong).difference(citation["n"] for citation in seen.answer["citations"])
            if missing:
                raise UsageError(f"The answer has no citation {min(missing)}.", remedy="Name one that it has.")
            _keep(database, turn, given)
        return seen if seen.withheld else replace(seen, feedback=None if given.says_nothing else given)


def _named(conversation: Conversation, seen: Iterable[StoredTurn]) -> Conversation:
    """By its first question where some turn is withheld: its name may say what was read there."""
    return replace(conversation, name="") if any(turn.withheld for turn in seen) else conversation


def _show(database: sqlite3.Connection, turn: int | None, shown: Iterable[Shown]) -> None:
    rows = [(turn, each.document, each.source, groups_text(each.rights.groups)) for each in shown]
    database.executemany("INSERT OR IGNORE INTO shown (turn, document, source, readers) VALUES (?, ?, ?, ?)", rows)


def _keep(database: sqlite3.Connection, turn: str, given: Feedback) -> None:
    database.execute("DELETE FROM feedback WHERE turn = (SELECT number FROM turns WHERE id = ?)", (turn,))
    if given.says_nothing:
        return
    database.execute(
        "INSERT INTO feedback SELECT number, ?, ?, ?, ? FROM turns WHERE id = ?",
        (given.thumb, json.dumps(given.wrong), given.comment, clock.now().isoformat(), turn),
    )
