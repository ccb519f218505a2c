"""Which values of declared fields a base really holds.

A document that was put before its field was declared keeps its value among its `fields`, and the base does not search
by it. An engine that did would leave out what it should not under a negated condition, and nobody would notice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date

from citewell.filters import Contains, FieldType, Filter, Or, Range
from citewell.stores.store import IndexedDocument, Reader, Scope, VersionKey
from citewell.types import Version


def what_the_base_holds(reader: Reader, versions: Iterable[Version]) -> Callable[[IndexedDocument], IndexedDocument]:
    """A function that takes from a searchable version the values of fields that a search in the base does not see."""
    days = {None, *(_day_in_force(version) for version in versions if version.searchable and not version.current)}
    holders = {
        name: {
            VersionKey(document.id, document.number)
            for day in days
            for document in reader.documents(Scope(groups=None, on=day, where=_has(name, kind)))
        }
        for name, kind in reader.fields.items()
    }

    def held(indexed: IndexedDocument) -> IndexedDocument:
        fields = indexed.document.fields
        seen = {name: value for name, value in fields.items() if indexed.key in holders.get(name, ())}
        return replace(indexed, document=replace(indexed.document, fields=seen))

    return held


def _day_in_force(version: Version) -> date:
    return version.in_force_from or version.in_force_to or date.min


def _has(field: str, kind: FieldType) -> Filter:
    """The document has a value of the field: it lies on one side of any."""
    match kind:
        case FieldType.NUMBER:
            return Or((Range(field, least=0.0), Range(field, most=0.0)))
        case FieldType.DATE:
            return Range(field, least=date.min)
        case _:
            return Contains(field, "")
