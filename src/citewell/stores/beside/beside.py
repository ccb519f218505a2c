"""A store with a vector engine at its side: everything is the base store's, but for who finds the nearest vectors.

The base is the truth. Each of its commits has a name, and the engine takes that name when it has followed:

| what happened                                  | the engine's name | a search is answered by | mended by            |
|------------------------------------------------|-------------------|-------------------------|----------------------|
| a commit, then the engine followed             | the base's        | the engine              |                      |
| the writer died between the two                | an older one      | the base                | the next run's end   |
| the writer died while the engine followed      | none, or an older | the base                | the next run's end   |
| someone wrote to the base without the engine   | an older one      | the base                | the next run's end   |
| the engine was emptied, or lost                | none              | the base                | the next run's end   |
| the engine follows while a search is under way | changes           | the base                |                      |

So an engine can be slow or behind, and no answer is wrong. What it finds is looked up in the base within the scope, and
scored there: an entry that may not be seen, or too few of them, and the base answers as well.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date, datetime
from typing import Protocol

from citewell.errors import IndexLocked
from citewell.filters import FieldType
from citewell.models.embedder import Embedded
from citewell.stores.beside.held import what_the_base_holds
from citewell.stores.beside.points import to_points, version_name
from citewell.stores.beside.reader import BesideReader, NamedReader, follows
from citewell.stores.beside.vector_index import VectorIndex
from citewell.stores.store import IndexedDocument, LedgerLine, MadeWith, Store, VersionKey
from citewell.types import Removed, Version

VERSIONS_AT_ONCE = 64


class Base(Store, Protocol):
    """A store that an engine can stand beside."""

    def reader(self) -> NamedReader: ...


class VectorsBeside:
    """A `Store` over a base and an engine. `stale` tells whether the engine has yet to catch up."""

    def __init__(self, base: Base, engine: VectorIndex, *, exact_up_to: int) -> None:
        self._base = base
        self._engine = engine
        self._exact_up_to = exact_up_to
        self._newest: BesideReader | None = None

    @property
    def base(self) -> Base:
        return self._base

    @property
    def made_with(self) -> MadeWith:
        return self._base.made_with

    @property
    def stale(self) -> bool:
        """Whether searches are answered by the base, because the engine does not hold what the base does.

        Raises:
            ServiceUnreachable, ServiceRefused: the engine cannot be asked.
        """
        return not self._agrees()

    def reader(self) -> BesideReader:
        base, newest = self._base.reader(), self._newest
        if newest is None or newest.base is not base:
            newest = self._newest = BesideReader(base, self._engine, self._exact_up_to)
        return newest

    @contextmanager
    def writing(self) -> Iterator[None]:
        """See `Store.writing`. The end brings the engine up to date, if it is behind.

        Raises:
            ServiceUnreachable, ServiceRefused: the engine cannot be asked; nothing was written.
        """
        with self._base.writing():
            # Asked before anything is embedded and written in vain. Beside an empty base it has nothing to catch up
            # with, and can follow from the first commit on.
            if not self._agrees() and not self._base.versions():
                self._catch_up()
            yield
            if not self._agrees():
                self._catch_up()

    def commit(self, put: Sequence[IndexedDocument], drop: Collection[VersionKey] = ()) -> None:
        agreed = self._agrees()
        self._base.commit(put, drop)
        if agreed:
            gone = {version_name(key) for key in (*drop, *(indexed.key for indexed in put))}
            points = to_points(put, self._base.reader().fields, self._dimensions)
            self._engine.apply(points, gone, self._name())

    def fetch(self, keys: Collection[VersionKey]) -> list[IndexedDocument]:
        return self._base.fetch(keys)

    def ledger(self, roots: Collection[str] | None = None) -> dict[str, LedgerLine]:
        return self._base.ledger(roots)

    def versions(self, document_ids: Collection[str] | None = None) -> list[Version]:
        return self._base.versions(document_ids)

    def expired(self, on: date) -> dict[str, LedgerLine]:
        return self._base.expired(on)

    def ended_before(self, moment: datetime) -> list[VersionKey]:
        return self._base.ended_before(moment)

    def embedded(self, text_hashes: Collection[str]) -> dict[str, Embedded]:
        return self._base.embedded(text_hashes)

    def stash(self, made: Mapping[str, Embedded]) -> None:
        self._base.stash(made)

    def replies(self, document_ids: Collection[str]) -> dict[str, str]:
        return self._base.replies(document_ids)

    def stash_replies(self, replies: Mapping[str, str]) -> None:
        self._base.stash_replies(replies)

    def declare(self, fields: Mapping[str, FieldType]) -> None:
        agreed, before = self._agrees(), self._base.reader().fields
        self._base.declare(fields)
        # A new field has no values yet. One that goes leaves tags, which would count again if it came back: the end of
        # the run makes the engine anew.
        if agreed and all(fields.get(name) == kind for name, kind in before.items()):
            self._engine.apply(to_points([], (), self._dimensions), (), self._name())

    def analysed_by(self, version: str) -> None:
        self._base.analysed_by(version)

    @property
    def erasing(self) -> tuple[Removed, ...] | None:
        return self._base.erasing

    def erase(self, gone: Sequence[Removed] = ()) -> None:
        """See `Store.erase`. Engines only mark what they drop, so the engine is made anew.

        It is emptied first: once the base has dropped anything, the base alone may still hold it, and can tell.
        """
        self._engine.reset()
        self._base.erase(gone)
        self.rebuild()

    def rebuild(self) -> None:
        """Make the engine anew from the base. Takes the writer's lock, if it is not held.

        Raises:
            IndexLocked: another process writes to the base, or has the files of a local engine open.
            ServiceUnreachable, ServiceRefused: the engine cannot be asked.
        """
        with self._base.writing():
            reader, versions = self._base.reader(), self._base.versions()
            held = what_the_base_holds(reader, versions)
            keys = [VersionKey(version.document_id, version.number) for version in versions if version.searchable]
            self._engine.reset()
            for start in range(0, len(keys), VERSIONS_AT_ONCE):
                fetched = [held(indexed) for indexed in self._base.fetch(keys[start : start + VERSIONS_AT_ONCE])]
                self._engine.apply(to_points(fetched, reader.fields, self._dimensions), (), "")
            self._engine.apply(to_points([], (), self._dimensions), (), self._name())

    def discard(self) -> None:
        """Remove all that the engine holds, also on a server: before the base is removed.

        Raises:
            IndexLocked: another process has the files of a local engine open.
            ServiceUnreachable, ServiceRefused: the engine cannot be asked.
        """
        self._engine.reset()

    def close(self) -> None:
        self._engine.close()
        self._base.close()

    @property
    def _dimensions(self) -> int:
        return self._base.made_with.embedder.dimensions

    def _catch_up(self) -> None:
        # A local engine whose files another process has open stays behind; `stale` and `rebuild` tell.
        with suppress(IndexLocked):
            self.rebuild()

    def _agrees(self) -> bool:
        return follows(self._engine.state(), self._base.reader())

    def _name(self) -> str:
        """The base's state, and something that is never the same again: a search can tell that the engine changed."""
        return f"{self._base.reader().state}/{uuid.uuid4().hex}"
