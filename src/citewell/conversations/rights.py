"""Who may still read what a stored turn shows: the index says so, each time it is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from citewell.conversations.turns import StoredTurn
from citewell.index import Index
from citewell.types import Principal

Readable = Callable[[AbstractSet[str]], AbstractSet[str]]
"""Of these ids of documents, those that whoever reads may read now."""


@dataclass(frozen=True, slots=True)
class Access:
    """What whoever reads may read now.

    A version of a document is for who could read it then and may read the document now, as in docs/versions.md.
    """

    principal: Principal
    readable: Readable

    @classmethod
    def to(cls, index: Index, principal: Principal | None = None) -> Access:
        """By the rights in an index, of `principal` or the one of its settings. What is deleted nobody may read."""
        reader = principal or index.settings.security.principal
        return cls(reader, lambda documents: index.readable(documents, principal=reader))

    def seen(self, turns: Sequence[StoredTurn]) -> tuple[StoredTurn, ...]:
        """The turns as this reader sees them: whole, or without their answer."""
        readable = self.readable(frozenset(document for turn in turns for document in turn.documents))
        return tuple(turn if self._allows(turn, readable) else turn.without_answer() for turn in turns)

    def _allows(self, turn: StoredTurn, readable: AbstractSet[str]) -> bool:
        return turn.documents <= readable and all(shown.rights.allows(self.principal) for shown in turn.shown)
