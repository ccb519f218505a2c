"""Taking away and bringing back, by the owner of an index: delete, purge, roll back, name a state."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from urllib.parse import urldefrag

from citewell import clock
from citewell.errors import UnknownId, UsageError
from citewell.generations import end_erasing, stores_beside
from citewell.history import Changes, History
from citewell.intake import NO_FILE
from citewell.loading import document_id, inner_source, source_at
from citewell.models.encoding import Encoders
from citewell.settings import Storage
from citewell.stores.home import Home, Pointer
from citewell.stores.store import OWNER, IndexedDocument, LedgerLine, Store, VersionKey
from citewell.types import BETWEEN_SOURCES, Ending, FileReport, FileState, Receipt, Removed, Version

MAX_STATES = 1_000


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What may be done to an index beside adding to it. Names are ids, source URIs or paths of documents."""

    home: Home
    encoders: Encoders
    storage: Storage

    def delete(self, name: str) -> Receipt:
        """See `Index.delete`."""
        with self.writing() as store:
            lines = named(name, store)
            if not lines:
                raise unknown(name)
            history = self.history_of(store)
            versions = [version for version in store.versions(lines.keys()) if version.searchable]
            removed = _counted(store, versions)
            changes = history.removed(lines.keys(), Ending.DELETED)
            store.commit(changes.put, changes.drop)
            days = self.storage.keep_deleted_days
            return Receipt(removed, history.today + timedelta(days=days) if days else None, purged=False)

    def purge(self, name: str) -> Receipt:
        """See `Index.purge`."""
        with self.home.writing():
            index = self.home.open(self.home.pointer().current)
            # The index comes last: what is found in it no more is in no generation.
            stores = (*stores_beside(self.home), index)
            cut_short = [_cut_short(name, store) for store in stores]
            purged = [*cut_short, *(_purged(name, store) for store in stores)]
            removed = {one.document_id: one for every in purged for one in every}
            if not removed:
                raise unknown(name)
            return Receipt(tuple(sorted(removed.values(), key=lambda one: one.source)), None, purged=True)

    def versions(self, name: str) -> tuple[Version, ...]:
        """See `Index.history`."""
        found = _versions_of(name, self.home.open(self.home.pointer().current))
        if not found:
            raise unknown(name)
        return tuple(found)

    def deleted(self) -> tuple[Version, ...]:
        """See `Index.deleted`."""
        every = _by_document(self.home.open(self.home.pointer().current).versions())
        return tuple(versions[-1] for versions in every if not any(version.current for version in versions))

    def kept_until(self, version: Version) -> date | None:
        """See `Index.kept_until`."""
        if version.searchable or version.ended_at is None:
            return None
        return version.ended_at.date() + timedelta(days=self.storage.keep_deleted_days)

    def roll_back(self, name: str, number: int | None) -> tuple[Version, ...]:
        """See `Index.rollback`."""
        with self.writing() as store:
            versions = _versions_of(name, store)
            current = next((version for version in versions if version.current), None)
            back = {version.document_id: version for version in _coming_back(name, store)} if current is None else {}
            if versions:
                back[versions[0].document_id] = _earlier(name, versions, number)
            if not back or (number is not None and not versions):
                raise unknown(name)
            changes = self._restored(store, [(version, current) for version in back.values()])
            store.commit(changes.put, changes.drop)
            return tuple(version for version in store.versions(back.keys()) if version.current)

    def roll_all_back(self, state: str) -> tuple[FileReport, ...]:
        """See `Index.rollback_to`."""
        with self.writing() as store:
            moment = _moment(state, self.home.pointer())
            back: list[tuple[Version, Version | None]] = []
            gone: list[Version] = []
            reports: list[FileReport] = []
            for versions in _by_document(store.versions()):
                current = next((version for version in versions if version.current), None)
                then = _current_at(versions, moment)
                if then is None and current is not None and versions[0].number > 1:
                    reports.append(FileReport(current.source, FileState.UNCHANGED, "Its version of then is not kept."))
                elif then is None and current is not None:
                    gone.append(current)
                    reports.append(FileReport(current.source, FileState.REMOVED, "It came later."))
                elif then is not None and (current is None or current.content_hash != then.content_hash):
                    back.append((then, current))
                    reports.append(FileReport(then.source, FileState.UPDATED, f"It is as in version {then.number}."))
            changes = self._restored(store, back)
            changes += self.history_of(store).removed([version.document_id for version in gone], Ending.DELETED)
            store.commit(changes.put, changes.drop)
            return tuple(sorted(reports, key=lambda report: report.source))

    def name_state(self, state: str) -> datetime:
        """See `Index.name_state`."""
        with self.home.writing():
            pointer = self.home.pointer()
            if not state.strip() or len(state) > 200 or len(pointer.states) >= MAX_STATES:
                raise UsageError(f"{state[:50]!r} cannot name a state.", remedy="Use a short name, or drop old ones.")
            if state in pointer.states:
                raise UsageError(f"There is a state {state!r} already.", remedy="Choose another name.")
            now = clock.now()
            self.home.switch(replace(pointer, states={**pointer.states, state: now}))
            return now

    def drop_state(self, state: str) -> datetime:
        """See `Index.drop_state`."""
        with self.home.writing():
            pointer = self.home.pointer()
            moment = _moment(state, pointer)
            left = {name: when for name, when in pointer.states.items() if name != state}
            self.home.switch(replace(pointer, states=left))
            return moment

    @contextmanager
    def writing(self) -> Iterator[Store]:
        """The newest generation, held against other writers, when what a purge left unfinished in any is finished."""
        with self.home.writing():
            end_erasing(self.home)
            store = self.home.open(self.home.pointer().current)
            with store.writing():
                yield store

    def history_of(self, store: Store) -> History:
        return History(store, self.storage, clock.now())

    def _restored(self, store: Store, wanted: Sequence[tuple[Version, Version | None]]) -> Changes:
        """The versions as current ones. What a file holds now is set aside until it changes."""
        history, changes = self.history_of(store), Changes()
        lines = store.ledger() if wanted else {}
        for version, current in wanted:
            line = lines.get(version.document_id)
            set_aside = NO_FILE if current is None or line is None else line.set_aside or current.content_hash
            changes += history.restored(version, set_aside)
        return Changes(tuple(self._embedded(store, one) for one in changes.put), changes.drop)

    def _embedded(self, store: Store, one: IndexedDocument) -> IndexedDocument:
        """With vectors, where it comes from a generation whose vectors were of another model."""
        if len(one.vectors) == len(one.entries) or not one.standing.searchable:
            return one
        known = store.embedded([item.text_hash for item in one.entries])
        missing = {item.text_hash: item.entry.text for item in one.entries if item.text_hash not in known}
        self.encoders.require_same_sparse(store.made_with.sparse)
        made = self.encoders.encode(list(missing.values()), store.made_with.token_codec)
        return one.with_vectors(known | dict(zip(missing, made, strict=True)))


def ids_of(name: str) -> tuple[str, ...]:
    """The ids that a name may stand for: it is one itself, a source URI, a link to a place in it, or a path."""
    if not name.strip():
        raise unknown(name)  # as a path it would be the current folder
    itself = name.encode("utf-8", "replace").decode()  # a path need not be UTF-8, an id is
    place = urldefrag(name).url if name.startswith("file://") else name
    return itself, document_id(place), document_id(source_at(name))


def named(name: str, store: Store) -> dict[str, LedgerLine]:
    """The documents that a name stands for: one and those inside it, or those below a folder."""
    reader = store.reader()
    found = next((one for each in ids_of(name) if (one := reader.document(each, OWNER)) is not None), None)
    return store.ledger([found.source if found is not None else source_at(name)])


def unknown(name: str) -> UnknownId:
    return UnknownId(f"There is no document or chunk {name!r}.", remedy="`citewell documents` lists what there is.")


def _versions_of(name: str, store: Store, *, inside: bool = False) -> list[Version]:
    """Those of the document of that name; with `inside`, also of what lies in it or below it. Deleted ones too."""
    own = next(filter(None, (store.versions([each]) for each in ids_of(name))), [])
    if not inside:
        return own
    root = own[0].source if own else source_at(name)
    return [one for one in store.versions() if _is_of(root, one.source)]


def _is_of(root: str, source: str) -> bool:
    """Whether a source is that of `root`, or of what lies in it or below it."""
    return source == root or source.startswith((root + "/", inner_source(root)))


def _purged(name: str, store: Store) -> tuple[Removed, ...]:
    with store.writing():
        removed = _counted(store, _versions_of(name, store, inside=True))
        store.erase(removed)
        return removed


def _cut_short(name: str, store: Store) -> list[Removed]:
    """What a purge that was cut short has removed under that name."""
    gone, ids = store.erasing or (), ids_of(name)
    root = next((one.source for one in gone if one.document_id in ids), source_at(name))
    return [one for one in gone if _is_of(root, one.source)]


def _earlier(name: str, versions: Sequence[Version], number: int | None) -> Version:
    """The last that is not the current one, or that of a number.

    Raises:
        UnknownId: there is none.
    """
    earlier = [version for version in versions if not version.current]
    wanted = [version for version in earlier if number in (None, version.number)]
    if not wanted:
        kept = ", ".join(str(version.number) for version in earlier) or "none"
        raise UnknownId(
            f"{name!r} has no earlier version {number if number is not None else ''}.".replace(" .", "."),
            remedy=f"Versions that can be brought back: {kept}.",
        )
    return wanted[-1]


def _coming_back(name: str, store: Store) -> list[Version]:
    """What was deleted under that name, in it or below it, each as its last version.

    What lies in a file comes back with it, if it went with it: at the same moment, for the same reason.
    """
    groups = _by_document(_versions_of(name, store, inside=True))
    ids, known = ids_of(name), {versions[0].source for versions in groups}
    back: dict[str, Version] = {}
    for last in sorted((versions[-1] for versions in groups), key=lambda version: version.source):
        holder = _holder(last.source, known)
        if holder is None:
            comes = not last.current and (last.ending is Ending.DELETED or last.document_id in ids)
        else:
            comes = holder in back and (back[holder].ended_at, back[holder].ending) == (last.ended_at, last.ending)
        if comes:
            back[last.source] = last
    return list(back.values())


def _holder(source: str, known: Collection[str]) -> str | None:
    """The nearest of the known sources that the file lies inside."""
    while source := source.rpartition(BETWEEN_SOURCES)[0]:
        if source in known:
            return source
    return None


def _moment(state: str, pointer: Pointer) -> datetime:
    """When the state was named.

    Raises:
        UnknownId: there is no such state.
    """
    if state not in pointer.states:
        known = ", ".join(sorted(pointer.states)) or "none"
        raise UnknownId(f"There is no state named {state!r}.", remedy=f"Named states: {known}.")
    return pointer.states[state]


def _by_document(versions: Sequence[Version]) -> list[list[Version]]:
    grouped: dict[str, list[Version]] = {}
    for version in versions:
        grouped.setdefault(version.document_id, []).append(version)
    return list(grouped.values())


def _current_at(versions: Iterable[Version], moment: datetime) -> Version | None:
    """The version that was the current one at that moment."""
    then = [
        version
        for version in versions
        if version.indexed_at <= moment and (version.ended_at is None or version.ended_at > moment)
    ]
    return max(then, key=lambda version: version.number, default=None)


def _counted(store: Store, versions: Sequence[Version]) -> tuple[Removed, ...]:
    """What the versions have in each place, document by document."""
    keys = [VersionKey(version.document_id, version.number) for version in versions]
    parts = {one.key: one for one in store.fetch(keys)}
    return tuple(
        Removed(
            document_id=group[0].document_id,
            source=group[-1].source,
            versions=tuple(version.number for version in group),
            parts=_parts([parts[VersionKey(version.document_id, version.number)] for version in group]),
        )
        for group in _by_document(versions)
    )


def _parts(indexed: Sequence[IndexedDocument]) -> dict[str, int]:
    searchable = [one for one in indexed if one.standing.searchable]
    entries = sum(len(one.entries) for one in searchable)
    by_kind: dict[str, int] = {}
    for one in indexed:
        for item in one.entries:
            by_kind[f"{item.entry.kind} entries"] = by_kind.get(f"{item.entry.kind} entries", 0) + 1
    return {
        "texts": len(indexed),
        "chunks": sum(len(one.chunks) for one in indexed),
        "dense": entries,
        "keyword": entries,
        "kept versions": len(indexed) - len(searchable),
        **by_kind,
    }
