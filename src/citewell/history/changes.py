"""Which versions to put and which to drop, when documents come, go, are renamed or brought back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from citewell.history.parts import agreeing
from citewell.history.periods import DAY, Dated, Period, in_force
from citewell.settings import Storage
from citewell.stores.store import IndexedDocument, Standing, Store, VersionKey
from citewell.types import Document, Ending, Rights, Version

GONE = (Ending.DELETED, Ending.EXPIRED)


@dataclass(frozen=True, slots=True)
class Changes:
    """What one commit puts and drops."""

    put: tuple[IndexedDocument, ...] = ()
    drop: tuple[VersionKey, ...] = ()

    def __add__(self, other: Changes) -> Changes:
        """Both; what is put again later counts."""
        put = {indexed.key: indexed for indexed in (*self.put, *other.put)}
        dropped = {*self.drop, *other.drop}.difference(put)
        return Changes(tuple(put.values()), tuple(sorted(dropped)))


@dataclass(frozen=True, slots=True)
class History:
    """Plans changes of a store as of `now` (aware, UTC). Reads the store, writes nothing."""

    store: Store
    storage: Storage
    now: datetime

    @property
    def today(self) -> date:
        return self.now.date()

    def entered(self, new: Sequence[IndexedDocument], renamed: Mapping[str, str] | None = None) -> Changes:
        """New versions become the current ones of their documents; one with the number of the current takes its place.

        `renamed` maps a new document's id to the id of the one whose file it was: its past versions go along.
        """
        former = renamed or {}
        ids = {one.document.id for one in new}
        known = _by_document(self.store.versions({*ids, *former.values()}))
        changes = Changes()
        for one in new:
            old_id = former.get(one.document.id, one.document.id)
            changes += self._entered(one, old_id, known.get(old_id, []), known.get(one.document.id, []))
        return changes

    def removed(self, document_ids: Collection[str], ending: Ending) -> Changes:
        """Documents leave every leg. They are kept to be brought back for `keep_deleted_days`, if any."""
        versions = self.store.versions(document_ids)
        if not self.storage.keep_deleted_days:
            return Changes(drop=tuple(map(_key, versions)))
        # A deletion is of the whole document: what was only past, or corrected, must not be found by its day when the
        # document comes again.
        leaving = [version for version in versions if version.ending not in GONE]
        kept = self.store.fetch([_key(version) for version in leaving])
        return Changes(tuple(replace(one, standing=self._gone(one.standing, ending)) for one in kept))

    def restored(self, version: Version, set_aside: str) -> Changes:
        """An earlier version becomes the current one again, as a new version with its text and the rights that hold.

        `set_aside` names what in the file is not to be taken in again, see `IndexedDocument`.
        """
        versions = self.store.versions([version.document_id])
        (stored,) = self.store.fetch([_key(version)])
        parent = stored.document.parent_id
        holding = self.store.versions([parent]) if parent else []  # what it lies in may be for fewer by now
        rights = [stored.document.rights, *(one.rights for one in (*versions, *holding) if one.current)]
        document = replace(
            stored.document,
            number=max(one.number for one in versions) + 1,
            indexed_at=self.now,
            rights=Rights.intersection(rights),
        )
        back = replace(agreeing(stored, document), standing=Standing(), set_aside=set_aside)
        return self.entered([back])

    def overdue(self) -> Changes:
        """What was kept for as long as the settings say is dropped for good."""
        limit = self.now - timedelta(days=self.storage.keep_deleted_days)
        return Changes(drop=tuple(self.store.ended_before(limit)))

    def _entered(
        self, one: IndexedDocument, old_id: str, versions: Sequence[Version], there: Sequence[Version]
    ) -> Changes:
        """`versions` are those of the document `old_id`, which it was; `there` are those that have its id now."""
        moved = old_id != one.document.id
        if not moved and there and not any(version.current for version in there):
            # It was deleted: it comes back as the next version, whatever number it was read with.
            one = agreeing(one, replace(one.document, number=_last(there) + 1))
        document = one.document
        same = [version for version in versions if version.number == document.number]
        came = same[0].indexed_at if same else document.indexed_at or self.now
        before = [version for version in versions if version.number < document.number]
        # A version that was deleted stays so: only what was replaced can still be found by its day.
        past = [version for version in before if version.ending not in GONE]
        dated = [Dated(version.indexed_at.date(), version.valid_from, version.valid_to) for version in past]
        *periods, own = in_force([*dated, Dated(came.date(), document.valid_from, _last_day(document))])
        current = replace(
            one,
            document=replace(document, indexed_at=came),
            standing=Standing(in_force_from=own.start, in_force_to=own.end),
        )
        standings = dict(zip(map(_key, past), self._past(past, periods), strict=True))
        if not moved:
            return Changes((current,)) + self._follow(before, standings, current)
        # What was deleted where it is now can still be brought back: its own versions are numbered after those.
        shift = _last(there)
        arrived = agreeing(current, _shifted(current.document, shift))
        dropped = Changes((arrived,), tuple(map(_key, versions)))
        return dropped + self._follow(before, standings, arrived, shift) + self._follow(there, {}, arrived)

    def _past(self, versions: Sequence[Version], periods: Sequence[Period]) -> list[Standing]:
        """How the past versions of a document stand now. Only the newest few can be found."""
        findable = [place for place, period in enumerate(periods) if not period.empty]
        kept = set(findable[max(len(findable) - self.storage.keep_versions, 0) :])
        return [
            Standing(
                current=False,
                searchable=place in kept,
                in_force_from=period.start,
                in_force_to=period.end,
                ended_at=version.ended_at or self.now,
                ending=version.ending or Ending.REPLACED,
            )
            for place, (version, period) in enumerate(zip(versions, periods, strict=True))
        ]

    def _gone(self, standing: Standing, ending: Ending) -> Standing:
        """Of a version whose document goes. One that was in no leg is kept no longer for that."""
        ended_at = self.now if standing.searchable else standing.ended_at
        return Standing(current=False, searchable=False, ended_at=ended_at, ending=ending)

    def _follow(
        self,
        before: Sequence[Version],
        standings: Mapping[VersionKey, Standing],
        current: IndexedDocument,
        shift: int = 0,
    ) -> Changes:
        """The earlier versions, as far as something changes for them: their days, their place, or who may read them."""
        now = current.document.rights
        due = [
            version
            for version in before
            if version.document_id != current.document.id
            or _narrowed(version.rights, now) != version.rights
            or (_key(version) in standings and standings[_key(version)] != _standing(version))
        ]
        put = []
        for stored in self.store.fetch([_key(version) for version in due]) if due else ():
            standing = standings.get(stored.key, stored.standing)
            document = replace(
                _shifted(stored.document, shift),
                id=current.document.id,
                source=current.document.source,
                parent_id=current.document.parent_id,
                rights=_narrowed(stored.document.rights, now),
            )
            put.append(replace(agreeing(stored, document), standing=standing))
        return Changes(tuple(put))


def _last(versions: Iterable[Version]) -> int:
    return max((version.number for version in versions), default=0)


def _shifted(document: Document, by: int) -> Document:
    return replace(document, number=document.number + by)


def _last_day(document: Document) -> date | None:
    """The last day on which it may be found: what expires is withheld at once, and removed by the next run."""
    days = [document.valid_to, document.expires - DAY if document.expires is not None else None]
    return min((day for day in days if day is not None), default=None)


def _narrowed(rights: Rights, now: Rights) -> Rights:
    """The rights of an earlier version: never more than it had, and never more than its document has now."""
    return Rights.intersection([rights, now])


def _standing(version: Version) -> Standing:
    return Standing(
        version.current,
        version.searchable,
        version.in_force_from,
        version.in_force_to,
        version.ended_at,
        version.ending,
    )


def _key(version: Version) -> VersionKey:
    return VersionKey(version.document_id, version.number)


def _by_document(versions: Iterable[Version]) -> dict[str, list[Version]]:
    grouped: dict[str, list[Version]] = {}
    for version in versions:
        grouped.setdefault(version.document_id, []).append(version)
    return grouped
