"""What lies beside an index: the generation that is kept to go back to, and those that a run left unfinished."""

from __future__ import annotations

from dataclasses import dataclass

from citewell.errors import IndexFormatError
from citewell.stores.home import Home, Pointer
from citewell.stores.store import Store
from citewell.types import Removed


@dataclass(frozen=True, slots=True)
class Beside:
    """A generation beside the index: `kept` to go back to, or unfinished. `embedder` is "" where it does not open."""

    generation: int
    kept: bool
    embedder: str
    versions: int
    bytes_on_disk: int


def beside(home: Home) -> list[Beside]:
    """What lies beside the index, for `citewell doctor`. Writes nothing."""
    pointer = home.pointer()
    found = []
    for number in others(home, pointer):
        store = opened(home, number)
        name, versions = (store.made_with.embedder.name, len(store.versions())) if store is not None else ("", 0)
        found.append(Beside(number, number == pointer.previous, name, versions, home.bytes_on_disk(number)))
    return found


def stores_beside(home: Home) -> list[Store]:
    """The stores of all generations but the index itself: what is purged is to be dropped and erased there too.

    Only inside `home.writing`. What died while it was made or removed, and may still hold texts, is removed here.

    Raises:
        IndexFormatError: the generation that is kept to go back to is damaged.
    """
    pointer = home.pointer()
    stores = []
    for number in others(home, pointer):
        store = opened(home, number)
        if store is not None:
            stores.append(store)
        elif number == pointer.previous:
            home.open(number)  # for its error: it is not ours to remove
        else:
            home.drop(number)
    return stores


def tidy(home: Home) -> list[int]:
    """Remove the generations that are neither the index nor kept to go back to; returns which.

    Raises:
        IndexLocked: another process is writing.
    """
    with home.writing():
        pointer = home.pointer()
        gone = [number for number in others(home, pointer) if number != pointer.previous]
        for number in gone:
            home.drop(number)
    return gone


def erasing(home: Home) -> dict[int, tuple[Removed, ...]]:
    """What a purge that was cut short has taken out of a generation, while files of it may still hold it."""
    stores = ((number, opened(home, number)) for number in home.generations())
    return {number: store.erasing for number, store in stores if store is not None and store.erasing is not None}


def end_erasing(home: Home) -> dict[int, tuple[Removed, ...]]:
    """Remove the files of which `erasing` tells; returns what it told.

    Raises:
        IndexLocked: another process is writing.
    """
    with home.writing():
        found = erasing(home)
        for number in found:
            with home.open(number).writing():
                pass  # which begins by it
    return found


def others(home: Home, pointer: Pointer) -> list[int]:
    """The generations that are there beside the index."""
    return [number for number in home.generations() if number != pointer.current]


def opened(home: Home, number: int) -> Store | None:
    """The store of a generation; None where it died while it was made or removed."""
    try:
        return home.open(number)
    except IndexFormatError:
        return None
