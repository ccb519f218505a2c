"""The lists of several queries made one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

T = TypeVar("T")


def joined(lists: Sequence[Sequence[T]], key: Callable[[T], Hashable]) -> tuple[T, ...]:
    """The best of each list in turn, then the second of each, and so on: each thing once, where it comes first.

    `key` tells what is the same thing: of a hit, its chunk's id.
    """
    depth = max(map(len, lists), default=0)
    turns = (each[rank] for rank in range(depth) for each in lists if rank < len(each))
    first: dict[Hashable, T] = {}
    for thing in turns:
        first.setdefault(key(thing), thing)
    return tuple(first.values())
