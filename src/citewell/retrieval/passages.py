"""Small to big: what matched is small and precise, what is read is the passage around it, each once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from citewell.stores.store import Reader, Scope
from citewell.types import Chunk

DEEPEST = 3
"""A row lies in a table, which lies in a section."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk that matched, and the outermost chunk around it, None where there is none."""

    chunk: Chunk
    parent: Chunk | None


def passages(ranking: Sequence[str], k: int, store: Reader, scope: Scope) -> dict[str, Passage]:
    """The first k chunks of a ranking of ids that lie in different passages, by id and best first."""
    found: dict[str, Passage] = {}
    read: set[str] = set()
    for passage in _in_turn(ranking, k, store, scope):
        place = (passage.parent or passage.chunk).id
        if place not in read:
            read.add(place)
            found[passage.chunk.id] = passage
        if len(found) == k:
            break
    return found


def _in_turn(ranking: Sequence[str], k: int, store: Reader, scope: Scope) -> Iterator[Passage]:
    """The passages of a ranking, fetched some at a time: mostly the first k are enough."""
    for start in range(0, len(ranking), 2 * k):
        ids = ranking[start : start + 2 * k]
        chunks = store.chunks(ids, scope)
        around = _around(list(chunks.values()), store, scope)
        for chunk_id in ids:
            chunk = chunks[chunk_id]
            yield Passage(chunk, around.get(chunk.parent_id))


def _around(chunks: Sequence[Chunk], store: Reader, scope: Scope) -> dict[str | None, Chunk]:
    """The outermost chunk around those with each parent id."""
    known: dict[str, Chunk] = {}
    wanted = {chunk.parent_id for chunk in chunks if chunk.parent_id is not None}
    for _ in range(DEEPEST):
        if not wanted:
            break
        fetched = store.chunks(wanted, scope)
        known |= fetched
        wanted = {chunk.parent_id for chunk in fetched.values() if chunk.parent_id is not None} - known.keys()
    return {chunk_id: _outermost(chunk, known) for chunk_id, chunk in known.items()}


def _outermost(chunk: Chunk, known: dict[str, Chunk]) -> Chunk:
    for _ in range(DEEPEST):
        if chunk.parent_id not in known:
            break
        chunk = known[chunk.parent_id]
    return chunk
