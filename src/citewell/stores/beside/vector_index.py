"""What a vector engine must do to stand beside a store: hold points, and find the nearest of those allowed.

A point is an entry's vector with what a scope is compared with, and holds no text: groups and metadata are *tags*,
digests of what they name, so that neither names nor values leave the store, and no name can be taken for syntax.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from citewell.models.embedder import Vectors

Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True)
class Point:
    """One entry. `id` and `version` are 32 hexadecimal digits made from the entry's id and its version's key; it is in
    force from the day `first` to the day `last`, both included, as ordinals of the calendar."""

    id: str
    entry_id: str
    chunk_id: str
    version: str
    tags: tuple[str, ...]
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Points:
    """`vectors` has shape (len(points), dimensions), float32, rows of length 1."""

    points: tuple[Point, ...]
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class Tagged:
    """The point has one of these tags; with none given, no point does."""

    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Every:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Either:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Without:
    part: Condition


Condition = Tagged | Every | Either | Without


@dataclass(frozen=True, slots=True)
class Allowed:
    """The points of a scope: they meet the condition and are in force on the day, or one of the two where only one is
    given."""

    condition: Condition | None
    day: int | None = None


@dataclass(frozen=True, slots=True)
class Found:
    entry_id: str
    chunk_id: str


class VectorIndex(Protocol):
    """Implementations are in this folder. Only the holder of the store's lock calls `apply` and `reset`; any thread and
    process may search meanwhile.

    Raises, in any method of an engine that is a service:
        ServiceUnreachable: it cannot be reached.
        ServiceRefused: it answered, and the answer is no.
    """

    def state(self) -> str:
        """The name that the last `apply` gave; "" where it was cut short, nothing is held, or it cannot be read or
        opened."""
        ...

    def apply(self, put: Points, drop: Collection[str], state: str) -> None:
        """Remove the points of the versions `drop`, then add `put`, durably, and take the name `state`.

        A kill in the middle leaves the state before, or "". Where `put` is of a version held already, `drop` names it.
        """
        ...

    def search(self, vector: Vectors, k: int, allowed: Allowed, *, exact: bool) -> list[Found]:
        """The k allowed points nearest to `vector` by cosine, in any order; all of them compared where `exact`."""
        ...

    def reset(self) -> None:
        """Forget everything, and remove it from disk as far as the engine can.

        Raises:
            IndexLocked: another process has its files open.
        """
        ...

    def close(self) -> None: ...


def in_parts(things: Sequence[Thing], size: int) -> Iterator[Sequence[Thing]]:
    """The things in order, at most `size` at a time."""
    return (things[start : start + size] for start in range(0, len(things), size))
