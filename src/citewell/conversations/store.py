"""The stored conversations, as whoever runs the service handles them. `of` gives those of one caller."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from citewell import clock
from citewell.conversations.callers import CallersConversations
from citewell.conversations.rights import Access
from citewell.conversations.rows import conversation_of, conversations_judged, turns_of
from citewell.conversations.state import StateFile
from citewell.conversations.tables import prepare
from citewell.conversations.turns import Judged
from citewell.errors import UsageError
from citewell.loading import inner_source, source_at
from citewell.upkeep import ids_of

MAX_CALLER_CHARS = 500


@dataclass(frozen=True, slots=True)
class ConversationStore:
    """Use it from any number of threads and processes. Conversations are kept for `days` after their last turn; 0 keeps
    them until they are deleted."""

    state: StateFile
    days: int = 0

    @classmethod
    def at(cls, folder: Path, days: int = 0) -> ConversationStore:
        """In the state folder of the service, which is made where it is missing. What has expired is removed.

        Raises:
            PathError, PermissionRefused, DiskFull: the file system refuses.
            IndexFormatError: the file is damaged, or its conversations are of another version.
        """
        store = cls(StateFile.at(folder), days)
        prepare(store.state)
        store.expire()
        return store

    @classmethod
    def existing(cls, folder: Path, days: int = 0) -> ConversationStore | None:
        """As `at`; None where there is no service's state yet."""
        return cls.at(folder, days) if StateFile.existing(folder) is not None else None

    def of(self, caller: str, access: Access) -> CallersConversations:
        """The conversations of one caller, who is always called so, and may read this.

        Raises:
            UsageError: that is no name.
        """
        if not caller.strip() or len(caller) > MAX_CALLER_CHARS:
            raise UsageError("A conversation belongs to a caller with a name.", remedy="Say who asks.")
        return CallersConversations(self.state, caller, access)

    # The owner's calls: they are of all callers.

    def caller_of(self, conversation: str) -> str:
        """Whose it is.

        Raises:
            UnknownId: there is no such conversation.
        """
        with self.state.reading() as database:
            return conversation_of(database, conversation).caller

    def callers(self) -> tuple[str, ...]:
        """Everybody who has a conversation, by name."""
        with self.state.reading() as database:
            rows = database.execute("SELECT DISTINCT caller FROM conversations ORDER BY caller")
            return tuple(row["caller"] for row in rows)

    def judged(self) -> tuple[Judged, ...]:
        """The turns that have feedback, as their callers saw them, in the order of asking."""
        with self.state.reading() as database:
            conversations = [turns_of(database, each) for each in conversations_judged(database)]
        found = [
            Judged(turn, tuple(each.turn for each in turns[:number]), turn.feedback)
            for turns in conversations
            for number, turn in enumerate(turns)
            if turn.feedback is not None
        ]
        return tuple(sorted(found, key=lambda each: (each.turn.asked_at, each.turn.id)))

    def expire(self) -> int:
        """Remove the conversations whose time is over; how many these were."""
        if not self.days:
            return 0
        oldest = (clock.now() - timedelta(days=self.days)).isoformat()
        with self.state.writing() as database:
            return database.execute("DELETE FROM conversations WHERE changed < ?", (oldest,)).rowcount

    def named(self, name: str) -> frozenset[str]:
        """The ids of documents shown in some turn that a name stands for: an id, a path or a source URI, with what lies
        in it or below it."""
        with self.state.reading() as database:
            rows = database.execute("SELECT DISTINCT document, source FROM shown").fetchall()
        ids = ids_of(name)
        root = next((row["source"] for row in rows if row["document"] in ids), source_at(name))
        below = (root + "/", inner_source(root))
        return frozenset(row["document"] for row in rows if row["source"] == root or row["source"].startswith(below))

    def forget(self, documents: Collection[str]) -> int:
        """Remove every turn that has something of these documents, with its feedback, for good; how many these were.

        No byte of them is in a file of the state folder afterwards. What their conversations were named goes too, as it
        may say what was read there; one that has no turn left goes whole.

        Raises:
            Refused: the file is being read; the turns are gone, and bytes of them may be left. Call it again.
        """
        with self.state.writing() as database:
            database.execute("CREATE TEMP TABLE gone (document TEXT PRIMARY KEY)")
            database.executemany("INSERT OR IGNORE INTO gone VALUES (?)", [(document,) for document in documents])
            database.execute(
                "CREATE TEMP TABLE gone_turns AS SELECT number, conversation FROM turns"
                " WHERE number IN (SELECT turn FROM shown WHERE document IN (SELECT document FROM gone))"
            )
            count = database.execute("DELETE FROM turns WHERE number IN (SELECT number FROM gone_turns)").rowcount
            database.execute("UPDATE conversations SET name = '' WHERE id IN (SELECT conversation FROM gone_turns)")
            database.execute(
                "DELETE FROM conversations WHERE id IN (SELECT conversation FROM gone_turns)"
                " AND id NOT IN (SELECT conversation FROM turns)"
            )
        self.state.scrub()
        return count
