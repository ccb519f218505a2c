"""Rows of the tables, from and to the dataclasses. What is not searched for is in one column of each row, as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import cast
from uuid import UUID

import numpy as np
from pydantic import TypeAdapter

from citewell.filters import FieldType
from citewell.models.embedder import Vectors
from citewell.models.sparse import SparseVector
from citewell.stores.postgres.texts import escaped, fingerprint
from citewell.stores.records import dump_fields, dump_replies, load_fields, load_replies
from citewell.stores.store import IndexedDocument, IndexedEntry, LedgerLine, Standing
from citewell.types import Chunk, Document, Element, FieldValue, Rights, Version

Row = tuple[object, ...]

DOCUMENT_COLUMNS: Mapping[str, str] = {
    "document_id": "text", "number": "int8", "body": "int8", "rights": "int4", "began": "int8", "current": "bool",
    "searchable": "bool", "in_force_from": "date", "in_force_to": "date", "expires": "date",
    "ended_at": "timestamptz", "source": "text", "title": "text",
    "version": "text", "language": "text", "trust": "text", "lossy": "bool", "entries": "int8", "tokens": "int8",
    "record": "text",
}  # fmt: skip
BODY_COLUMNS = {"id": "int8", "rights": "int4", "text": "text", "elements": "text", "replies": "text"}
CHUNK_COLUMNS = {"body": "int8", "place": "int4", "id": "text", "rights": "int4", "record": "text"}
ENTRY_COLUMNS = {
    "key": "int8", "body": "int8", "place": "int4", "id": "text", "chunk_id": "text", "rights": "int4",
    "searchable": "bool", "text_hash": "text", "record": "text", "vector": "vector",
    "token_vectors": "bytea",
}  # fmt: skip
SPARSE_COLUMNS = {"entry": "int8", "body": "int8", "rights": "int4", "vector": "sparsevec"}
POSTING_COLUMNS = {
    "term": "uuid", "entry": "int8", "body": "int8", "rights": "int4", "times": "int4", "length": "int4",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """A declared field's column in `documents`. Its name holds the state that it began in: a field of another type, or
    declared anew, has another column, and older readers keep theirs."""

    name: str
    type: FieldType


COPY_TYPES = {FieldType.TEXT: "text", FieldType.NUMBER: "float8", FieldType.DATE: "date", FieldType.LIST: "text[]"}


@dataclass(frozen=True, slots=True)
class Record:
    """What the row of a document holds beside what is searched for. `document` is without text, elements and fields:
    these are in `fields`, where a day is told from a text."""

    document: Document
    fields: str
    recipe: str
    standing: Standing
    set_aside: str


_RECORD = TypeAdapter(Record)
_ELEMENTS = TypeAdapter(tuple[Element, ...])
_CHUNK = TypeAdapter(Chunk)
_ENTRY = TypeAdapter(IndexedEntry)


def document_row(item: IndexedDocument, body: int, rights: int, began: int, fields: Mapping[str, Column]) -> Row:
    """In the order of DOCUMENT_COLUMNS, then of `fields`."""
    document, standing = item.document, item.standing
    bare = replace(document, text="", elements=(), fields={})
    record = Record(bare, dump_fields(document.fields), item.recipe, standing, item.set_aside)
    searched = (document.source, document.title, document.version, document.language, document.trust.value)
    return (
        document.id,
        document.number,
        body,
        rights,
        began,
        standing.current,
        standing.searchable,
        standing.in_force_from,
        standing.in_force_to,
        document.expires,
        standing.ended_at,
        *map(escaped, searched),
        bool(document.lost),
        len(item.entries),
        length_of(item),
        _RECORD.dump_json(record).decode(),
        *(_field_value(document.fields.get(name), column.type) for name, column in fields.items()),
    )


def body_row(item: IndexedDocument, body: int, rights: int) -> Row:
    text = json.dumps(item.document.text, ensure_ascii=False)
    return body, rights, text, _ELEMENTS.dump_json(item.document.elements).decode(), dump_replies(item.replies)


def chunk_rows(item: IndexedDocument, body: int, rights: Mapping[Rights, int]) -> Iterator[Row]:
    for place, chunk in enumerate(item.chunks):
        yield body, place, chunk.id, rights[chunk.rights], _CHUNK.dump_json(chunk).decode()


def entry_rows(item: IndexedDocument, keys: Sequence[int], body: int, rights: Mapping[Rights, int]) -> Iterator[Row]:
    for place, (key, each) in enumerate(zip(keys, item.entries, strict=True)):
        entry = each.entry
        vector = item.vectors[place] if len(item.vectors) else None
        yield (
            key,
            body,
            place,
            entry.id,
            entry.chunk_id,
            rights[entry.rights],
            item.standing.searchable,
            each.text_hash,
            _ENTRY.dump_json(replace(each, token_vectors=b"", sparse=b"")).decode(),
            vector,
            each.token_vectors,
        )


def sparse_rows(item: IndexedDocument, keys: Sequence[int], body: int, rights: Mapping[Rights, int]) -> Iterator[Row]:
    """One for each entry that has a sparse vector."""
    for key, each in zip(keys, item.entries, strict=True):
        if each.sparse:
            yield key, body, rights[each.entry.rights], unpacked(each.sparse)


def unpacked(sparse: bytes) -> SparseVector | None:
    """As a column holds it; `packed` is the way back."""
    return SparseVector.unpack(sparse) if sparse else None


def packed(sparse: SparseVector | None) -> bytes:
    return sparse.pack() if sparse else b""


def posting_rows(item: IndexedDocument, keys: Sequence[int], body: int, rights: Mapping[Rights, int]) -> Iterator[Row]:
    """One for each token of each entry; none of a version that is only kept."""
    if not item.standing.searchable:
        return
    terms: dict[str, UUID] = {}
    for key, each in zip(keys, item.entries, strict=True):
        tokens = tokens_of(each)
        for token, times in Counter(tokens).items():
            term = terms.get(token) or terms.setdefault(token, fingerprint(token))
            yield term, key, body, rights[each.entry.rights], times, len(tokens)


def tokens_of(entry: IndexedEntry) -> list[str]:
    return [token for token in entry.tokens.split(" ") if token]


def length_of(item: IndexedDocument) -> int:
    """In tokens, of all its entries."""
    return sum(len(tokens_of(entry)) for entry in item.entries)


def to_record(text: str) -> Record:
    record = _RECORD.validate_json(text)
    return replace(record, document=replace(record.document, fields=load_fields(record.fields)))


def to_chunk(text: str) -> Chunk:
    return _CHUNK.validate_json(text)


def to_indexed(
    record: Record,
    body: tuple[str, str, str],
    chunks: Sequence[str],
    entries: Sequence[tuple[str, Vectors | None, bytes, SparseVector | None]],
    dimensions: int,
) -> IndexedDocument:
    """All of a version. `body` is its text, its elements and its replies; an only kept one may have no vectors."""
    text, elements, replies = body
    vectors = [vector for _, vector, *_ in entries if vector is not None]
    return IndexedDocument(
        document=with_text(record.document, text, elements),
        recipe=record.recipe,
        chunks=tuple(map(to_chunk, chunks)),
        entries=tuple(
            replace(_ENTRY.validate_json(entry), token_vectors=tokens, sparse=packed(sparse))
            for entry, _, tokens, sparse in entries
        ),
        vectors=np.stack(vectors) if vectors else np.zeros((0, dimensions), np.float32),
        standing=record.standing,
        set_aside=record.set_aside,
        replies=load_replies(replies),
    )


def with_text(document: Document, text: str, elements: str) -> Document:
    return replace(document, text=json.loads(text), elements=_ELEMENTS.validate_json(elements))


def to_ledger_line(record: Record) -> LedgerLine:
    document = record.document
    return LedgerLine(
        document.id,
        document.source,
        document.content_hash,
        record.recipe,
        document.rights,
        document.lost,
        document.number,
        document.expires,
        record.set_aside,
    )


def to_version(record: Record) -> Version:
    document, standing = record.document, record.standing
    return Version(
        document_id=document.id,
        number=document.number,
        source=document.source,
        title=document.title,
        label=document.version,
        content_hash=document.content_hash,
        rights=document.rights,
        indexed_at=cast(datetime, document.indexed_at),  # no batch without it is taken
        valid_from=document.valid_from,
        valid_to=document.valid_to,
        in_force_from=standing.in_force_from,
        in_force_to=standing.in_force_to,
        current=standing.current,
        searchable=standing.searchable,
        ended_at=standing.ended_at,
        ending=standing.ending,
    )


def _field_value(value: FieldValue | None, kind: FieldType) -> object:
    """As its column holds it; None for what is not of the column's type."""
    match kind, value:
        case FieldType.TEXT, str():
            return escaped(value)
        case FieldType.NUMBER, int() | float():
            return float(value)
        case FieldType.DATE, date():
            return value
        case FieldType.LIST, tuple():
            return [escaped(one) for one in value]
    return None
