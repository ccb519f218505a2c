"""From versions of documents to points, and from scopes to conditions on points."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date

import numpy as np

from citewell.filters import BUILT_IN, And, Contains, Equal, FieldType, Filter, In, Not, Or, Range
from citewell.stores.beside.vector_index import Allowed, Condition, Either, Every, Point, Points, Tagged, Without
from citewell.stores.store import IndexedDocument, Scope, VersionKey
from citewell.types import Document, FieldValue

Fields = Mapping[str, FieldType]

CURRENT = "current"


def to_points(put: Iterable[IndexedDocument], fields: Collection[str], dimensions: int) -> Points:
    """The points of all searchable versions; of their metadata what is built in, and the values of `fields`."""
    searchable = [indexed for indexed in put if indexed.standing.searchable]
    vectors = [indexed.vectors for indexed in searchable]
    return Points(
        tuple(point for indexed in searchable for point in _points(indexed, fields)),
        np.concatenate(vectors) if vectors else np.empty((0, dimensions), dtype=np.float32),
    )


def version_name(key: VersionKey) -> str:
    """The name of a version among points."""
    return digest("version", str(key.number), key.document_id)


def to_allowed(scope: Scope) -> Allowed | None:
    """The condition of a scope on points; None where tags cannot tell: of a range, of a part of a text, of nothing.

    Without a day that is the current version of each document.
    """
    parts: list[Condition] = []
    if scope.groups is not None:
        parts.append(Tagged(tuple(sorted(digest("group", group) for group in scope.groups))))
    if scope.on is None:
        parts.append(Tagged((CURRENT,)))
    if scope.where is not None:
        where = _condition(scope.where)
        if where is None:
            return None
        parts.append(where)
    condition = (parts[0] if len(parts) == 1 else Every(tuple(parts))) if parts else None
    return Allowed(condition, scope.on.toordinal() if scope.on else None)


def built_in(document: Document) -> Mapping[str, FieldValue]:
    """The values of the fields that every document has."""
    return {name: str(getattr(document, name)) for name in BUILT_IN}


def digest(*parts: str) -> str:
    """32 hexadecimal digits, others for any other parts."""
    lengths = ",".join(str(len(part)) for part in parts)
    text = "".join((lengths, ":", *parts))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _points(indexed: IndexedDocument, fields: Collection[str]) -> Iterator[Point]:
    document, standing = indexed.document, indexed.standing
    declared = {name: value for name, value in document.fields.items() if name in fields}
    about = {tag for name, value in {**built_in(document), **declared}.items() for tag in _tags(name, value)}
    about |= {CURRENT} if standing.current else set()
    for item in indexed.entries:
        groups = {digest("group", group) for group in item.entry.rights.groups}
        yield Point(
            id=digest("entry", item.entry.id),
            entry_id=item.entry.id,
            chunk_id=item.entry.chunk_id,
            version=version_name(indexed.key),
            tags=tuple(sorted(about | groups)),
            first=(standing.in_force_from or date.min).toordinal(),
            last=(standing.in_force_to or date.max).toordinal(),
        )


def _tags(field: str, value: FieldValue) -> set[str]:
    """A tag for the value; for each text of a list."""
    if isinstance(value, tuple):
        return {_tag(field, one) for one in value}
    return {_tag(field, value)}


def _tag(field: str, value: str | float | date) -> str:
    match value:
        case str():
            return digest("text", field, value)
        case date():
            return digest("date", field, value.isoformat())
        case _:
            # 0.0 is -0.0, and 1 is 1.0.
            return digest("number", field, repr(float(value) + 0.0))


def _condition(where: Filter) -> Condition | None:
    match where:
        case Equal(field, value):
            return Tagged((_tag(field, value),))
        case In(field, values):
            return Tagged(tuple(sorted({_tag(field, value) for value in values})))
        case Contains() | Range():
            return None
        case Not(part):
            inner = _condition(part)
            return None if inner is None else Without(inner)
        case And(parts) | Or(parts):
            known = tuple(known for part in parts if (known := _condition(part)) is not None)
            if not known or len(known) < len(parts):
                return None
            return Every(known) if isinstance(where, And) else Either(known)
