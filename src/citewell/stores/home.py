"""Where an index lives: its generations, each a store, and the pointer that says which of them is the index.

A generation is made with one embedder. A change of models builds the next one beside it; what makes that the index is
one atomic change of the pointer. See `citewell.migration`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Protocol, runtime_checkable

from citewell.models.embedder import ModelIdentity
from citewell.stores.store import MadeWith, Store

FORMAT = 5


@dataclass(frozen=True, slots=True)
class Calibration:
    """The floor that was fitted to questions about an index. `least` is None where no floor tells those that it answers
    from the others.

    Its figures are those on held-out questions, at the share of unanswerable ones that it was fitted for; a precision
    is None where nothing was refused.
    """

    least: float | None
    generation: int
    embedder: ModelIdentity
    answerable: int
    unanswerable: int
    refusal_precision: float | None
    refusal_recall: float
    made: date

    def fits(self, generation: int, embedder: ModelIdentity) -> bool:
        """Whether it was made with these vectors: an endpoint may give one name to two models, a generation has one."""
        return (self.generation, self.embedder) == (generation, embedder)


@dataclass(frozen=True, slots=True)
class Pointer:
    """`current` is the generation that is the index, `previous` one that is kept to go back to. `states` are moments
    that the index can be rolled back to, by the names that a user gave them. `calibration` is the last one, whichever
    generation it is of."""

    current: int
    created: str
    previous: int | None = None
    states: Mapping[str, datetime] = field(default_factory=dict)
    calibration: Calibration | None = None
    format: int = FORMAT


class Home(Protocol):
    """A directory, or a schema of a database."""

    @property
    def location(self) -> str:
        """What the user gave: a path, or a URL without its password."""
        ...

    def create(self, made_with: MadeWith) -> None:
        """Make generation 1, empty, and point at it.

        Raises:
            PathError: there is something already, an index or not.
            IndexLocked: another process is just making it.
            PermissionRefused: it cannot be made or written to.
        """
        ...

    def pointer(self) -> Pointer:
        """Read anew, cheaply, at each call.

        Raises:
            IndexNotFound: there is no index.
            IndexFormatError: another version made it, or it is damaged.
            PermissionRefused: it may not be read.
        """
        ...

    def generations(self) -> list[int]:
        """Those that are there, finished or not, in order."""
        ...

    def open(self, generation: int) -> Store:
        """The store of a generation; the same object at each call. Writes nothing."""
        ...

    def build(self, generation: int, made_with: MadeWith) -> Store:
        """An empty store for a generation that the pointer does not name. What was there is removed first."""
        ...

    def drop(self, generation: int) -> None:
        """Remove a generation that the pointer does not name, and all its files."""
        ...

    def writing(self) -> AbstractContextManager[None]:
        """Hold the lock of the whole index; may be entered again by who holds it.

        Raises:
            IndexLocked: another writer holds it; the message names the holder.
            PermissionRefused: the index cannot be written to.
        """
        ...

    def switch(self, pointer: Pointer) -> None:
        """Replace the pointer in one atomic, durable step. Only inside `writing`."""
        ...

    def bytes_on_disk(self, generation: int | None = None) -> int:
        """Of the whole index, or of one generation."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class Upgradable(Protocol):
    """A home that can bring what an older version of Citewell made up to date where it lies."""

    def outdated(self) -> list[int]:
        """The generations that an older version made, and `upgrade` would change; one cut short leaves some."""
        ...

    def upgrade(self) -> dict[int, list[int]]:
        """The numbers of the steps taken, by generation. Takes the lock of each.

        Raises:
            IndexLocked: another process writes to it.
            PermissionRefused: it cannot be changed.
        """
        ...
