"""Rows of the three Lance tables, from and to the dataclasses. What is never searched for is kept as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from citewell.filters import FieldType
from citewell.models.embedder import Embedded
from citewell.stores.records import (
    dump_attributes,
    dump_elements,
    dump_fields,
    dump_pages,
    dump_replies,
    load_attributes,
    load_elements,
    load_fields,
    load_pages,
    load_replies,
)
from citewell.stores.store import IndexedDocument, IndexedEntry, LedgerLine, Standing, VersionKey
from citewell.types import Chunk, Document, ElementKind, Ending, Entry, EntryKind, FieldValue, Rights, Trust, Version

if TYPE_CHECKING:
    import pyarrow as pa


Row = Mapping[str, Any]
Fields = Mapping[str, FieldType]

PYTHON_TYPES: Mapping[FieldType, type] = {
    FieldType.TEXT: str,
    FieldType.NUMBER: float,
    FieldType.DATE: date,
    FieldType.LIST: tuple,
}

DOCUMENTS, CHUNKS, ENTRIES = TABLES = ("documents", "chunks", "entries")

CHUNK_COLUMNS = [
    "id", "document_id", "title", "source", "version", "text", "start", "end", "heading_path", "pages", "kind",
    "groups", "trust", "parent_id", "preamble", "place",
]  # fmt: skip
ENTRY_COLUMNS = [
    "id", "chunk_id", "document_id", "kind", "text", "derived_from", "tokens", "text_hash", "groups", "place", "vector",
    "token_vectors", "sparse",
]  # fmt: skip
LEDGER_COLUMNS = [
    "document_id", "source", "content_hash", "recipe", "groups", "lost", "number", "expires", "set_aside",
]  # fmt: skip
VERSION_COLUMNS = [
    "document_id", "number", "source", "title", "version", "content_hash", "groups", "indexed_at", "said_from",
    "said_to", "valid_from", "valid_to", "current", "searchable", "ended_at", "ending",
]  # fmt: skip
SUMMARY_COLUMNS = [
    "document_id", "number", "content_hash", "title", "own_title", "source", "version", "language", "trust", "pages",
    "groups", "said_from", "said_to", "parent_id", "metadata", "declared", "lost", "indexed_at", "expires", "fields",
]  # fmt: skip
DOCUMENT_COLUMNS = [*SUMMARY_COLUMNS, "text", "elements"]
WHOLE_COLUMNS = [*DOCUMENT_COLUMNS, "recipe", "set_aside", "replies", *VERSION_COLUMNS[-6:], "parts"]


def field_column(name: str) -> str:
    """The column of a declared field."""
    return f"f_{name}"


def field_columns(fields: Fields) -> list[pa.Field[Any]]:
    """A column for each declared field, on all three tables."""
    import pyarrow as pa

    kinds: dict[FieldType, pa.DataType] = {
        FieldType.TEXT: pa.string(),
        FieldType.NUMBER: pa.float64(),
        FieldType.DATE: pa.date32(),
        FieldType.LIST: pa.list_(pa.string()),
    }
    return [pa.field(field_column(name), kinds[kind]) for name, kind in sorted(fields.items())]


def schemas(dimensions: int, fields: Fields) -> dict[str, pa.Schema]:
    """The schema of each table. What a scope's condition may name is on all three.

    `valid_from` and `valid_to` are the days on which a version is found, `said_from` and `said_to` those said of it.
    """
    import pyarrow as pa

    text, number, day, moment = pa.string(), pa.int64(), pa.date32(), pa.timestamp("us", "UTC")

    def columns(kind: pa.DataType, names: str) -> list[pa.Field[Any]]:
        return [pa.field(name, kind) for name in names.split()]

    key = [pa.field("id", text, nullable=False)]
    scope = [
        *columns(text, "document_id title source version language trust"),
        pa.field("groups", pa.list_(text)),
        *columns(day, "valid_from valid_to"),
        pa.field("current", pa.bool_()),
        *field_columns(fields),
    ]
    part = [*columns(text, "version_id kind text"), pa.field("place", number)]
    # A batch of documents may hold more text than the 2 GB of a plain string column.
    return {
        DOCUMENTS: pa.schema(
            key
            + scope
            + columns(text, "own_title content_hash recipe parent_id metadata declared lost fields ending set_aside")
            + columns(pa.large_string(), "text elements pages replies")
            + columns(day, "said_from said_to expires")
            + columns(moment, "indexed_at ended_at")
            + [pa.field("number", number), pa.field("searchable", pa.bool_()), pa.field("parts", pa.large_binary())]
        ),
        CHUNKS: pa.schema(
            key + scope + part + columns(text, "heading_path pages parent_id preamble") + columns(number, "start end")
        ),
        ENTRIES: pa.schema(
            key
            + scope
            + part
            + columns(text, "chunk_id derived_from tokens text_hash")
            + columns(pa.list_(pa.float32(), dimensions), "vector")
            + columns(pa.large_binary(), "token_vectors sparse")
        ),
    }


def version_id(key: VersionKey) -> str:
    """The id of a version's row. A number has no `@`, so no two keys have the same."""
    return f"{key.document_id}@{key.number}"


def to_tables(put: Sequence[IndexedDocument], dimensions: int, fields: Fields) -> dict[str, pa.Table]:
    """All rows of a batch, by table. The parts of what is not searchable are in the row of its document."""
    import pyarrow as pa

    shapes = schemas(dimensions, fields)
    searchable = [indexed for indexed in put if indexed.standing.searchable]
    documents = [_document_row(indexed, dimensions, fields) for indexed in put]
    return {
        DOCUMENTS: pa.Table.from_pylist(documents, schema=shapes[DOCUMENTS]),
        CHUNKS: _chunk_table(searchable, shapes[CHUNKS], fields),
        ENTRIES: _entry_table(searchable, shapes[ENTRIES], fields),
    }


def to_indexed(row: Row, chunks: Iterable[Row], entries: Iterable[Row], dimensions: int) -> IndexedDocument:
    """A version from its document's row (`WHOLE_COLUMNS`) and the rows of its parts, in any order."""
    if row["parts"] is not None:
        chunks, entries = _unpacked(row["parts"])
    made = [to_chunk(one) for one in _in_place(chunks)]
    ordered = _in_place(entries)
    vectors = [one["vector"] for one in ordered if one["vector"] is not None]
    return IndexedDocument(
        document=to_document(row),
        recipe=row["recipe"],
        chunks=tuple(made),
        entries=tuple(
            IndexedEntry(_entry(one), one["tokens"], one["text_hash"], one["token_vectors"], one["sparse"])
            for one in ordered
        ),
        vectors=np.asarray(vectors, dtype=np.float32).reshape(len(vectors), dimensions),
        standing=_standing(row),
        set_aside=row["set_aside"],
        replies=load_replies(row["replies"]),
    )


def to_document(row: Row) -> Document:
    """A document; without text and elements where the row was read without them."""
    return Document(
        id=row["document_id"],
        content_hash=row["content_hash"],
        title=row["title"],
        source=row["source"],
        version=row["version"],
        text=row.get("text", ""),
        elements=load_elements(row.get("elements", "[]")),
        rights=_rights(row),
        pages=load_pages(row["pages"]),
        valid_from=row["said_from"],
        valid_to=row["said_to"],
        language=row["language"],
        trust=Trust(row["trust"]),
        parent_id=row["parent_id"],
        metadata=json.loads(row["metadata"]),
        declared=load_attributes(row["declared"]),
        lost=row["lost"],
        number=row["number"],
        indexed_at=row["indexed_at"],
        own_title=row["own_title"],
        expires=row["expires"],
        fields=load_fields(row["fields"]),
    )


def to_chunk(row: Row) -> Chunk:
    return Chunk(
        id=row["id"],
        document_id=row["document_id"],
        title=row["title"],
        source=row["source"],
        version=row["version"],
        text=row["text"],
        start=row["start"],
        end=row["end"],
        heading_path=tuple(json.loads(row["heading_path"])),
        pages=tuple((number, label) for number, label in json.loads(row["pages"])),
        kind=ElementKind(row["kind"]),
        rights=_rights(row),
        trust=Trust(row["trust"]),
        parent_id=row["parent_id"],
        preamble=row["preamble"],
    )


def to_ledger_line(row: Row) -> LedgerLine:
    return LedgerLine(
        document_id=row["document_id"],
        source=row["source"],
        content_hash=row["content_hash"],
        recipe=row["recipe"],
        rights=_rights(row),
        lost=row["lost"],
        number=row["number"],
        expires=row["expires"],
        set_aside=row["set_aside"],
    )


def to_version(row: Row) -> Version:
    standing = _standing(row)
    return Version(
        document_id=row["document_id"],
        number=row["number"],
        source=row["source"],
        title=row["title"],
        label=row["version"],
        content_hash=row["content_hash"],
        rights=_rights(row),
        indexed_at=row["indexed_at"],
        valid_from=row["said_from"],
        valid_to=row["said_to"],
        in_force_from=standing.in_force_from,
        in_force_to=standing.in_force_to,
        current=standing.current,
        searchable=standing.searchable,
        ended_at=standing.ended_at,
        ending=standing.ending,
    )


def to_embedded(row: Row) -> Embedded:
    return Embedded(np.asarray(row["vector"], dtype=np.float32), row["token_vectors"], row["sparse"])


def _document_row(indexed: IndexedDocument, dimensions: int, fields: Fields) -> Row:
    document, standing = indexed.document, indexed.standing
    return {
        "id": version_id(indexed.key),
        **_scope(indexed, fields),
        "groups": sorted(document.rights.groups),
        "number": document.number,
        "own_title": document.own_title,
        "content_hash": document.content_hash,
        "recipe": indexed.recipe,
        "text": document.text,
        "elements": dump_elements(document.elements),
        "pages": dump_pages(document.pages),
        "parent_id": document.parent_id,
        "metadata": json.dumps(dict(document.metadata)),
        "declared": dump_attributes(document.declared),
        "lost": document.lost,
        "fields": dump_fields(document.fields),
        "said_from": document.valid_from,
        "said_to": document.valid_to,
        "expires": document.expires,
        "indexed_at": document.indexed_at,
        "searchable": standing.searchable,
        "ended_at": standing.ended_at,
        "ending": standing.ending.value if standing.ending else None,
        "set_aside": indexed.set_aside,
        "replies": dump_replies(indexed.replies),
        "parts": None if standing.searchable else _packed(indexed, dimensions, fields),
    }


def _scope(indexed: IndexedDocument, fields: Fields) -> Row:
    """What a scope's condition may name, but for the groups, which each part has of its own."""
    document, standing = indexed.document, indexed.standing
    values = {field_column(name): _as_stored(document.fields.get(name), kind) for name, kind in fields.items()}
    return {
        "document_id": document.id,
        "title": document.title,
        "source": document.source,
        "version": document.version,
        "language": document.language,
        "trust": document.trust.value,
        "valid_from": standing.in_force_from,
        "valid_to": standing.in_force_to,
        "current": standing.current,
        **values,
    }


def _chunk_table(put: Sequence[IndexedDocument], schema: pa.Schema, fields: Fields) -> pa.Table:
    import pyarrow as pa

    rows = [
        {
            **scope,
            "id": chunk.id,
            "version_id": version_id(indexed.key),
            "title": chunk.title,
            "version": chunk.version,
            "text": chunk.text,
            "start": chunk.start,
            "end": chunk.end,
            "place": place,
            "heading_path": json.dumps(chunk.heading_path),
            "pages": json.dumps(chunk.pages),
            "kind": chunk.kind.value,
            "trust": chunk.trust.value,
            "parent_id": chunk.parent_id,
            "preamble": chunk.preamble,
            "groups": sorted(chunk.rights.groups),
        }
        for indexed in put
        for scope in (_scope(indexed, fields),)
        for place, chunk in enumerate(indexed.chunks)
    ]
    return pa.Table.from_pylist(rows, schema=schema)


def _entry_table(put: Sequence[IndexedDocument], schema: pa.Schema, fields: Fields) -> pa.Table:
    """Vectors are added as one array: as lists of numbers they would be copied one by one."""
    import pyarrow as pa

    rows = [
        {
            **scope,
            "id": item.entry.id,
            "version_id": version_id(indexed.key),
            "chunk_id": item.entry.chunk_id,
            "kind": item.entry.kind.value,
            "text": item.entry.text,
            "derived_from": json.dumps(item.entry.derived_from),
            "tokens": item.tokens,
            "text_hash": item.text_hash,
            "token_vectors": item.token_vectors,
            "sparse": item.sparse,
            "place": place,
            "groups": sorted(item.entry.rights.groups),
        }
        for indexed in put
        for scope in (_scope(indexed, fields),)
        for place, item in enumerate(indexed.entries)
    ]
    dimensions = schema.field("vector").type.list_size
    vectors = np.concatenate([np.zeros((0, dimensions), np.float32), *(indexed.vectors for indexed in put)])
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), dimensions)
    unsearchable = schema.remove(schema.get_field_index("vector"))
    return pa.Table.from_pylist(rows, schema=unsearchable).append_column("vector", column).select(schema.names)


def _packed(indexed: IndexedDocument, dimensions: int, fields: Fields) -> bytes:
    """The parts of a version that is in no leg, as two Arrow streams one after the other."""
    import pyarrow as pa

    shapes = schemas(dimensions, fields)
    sink = pa.BufferOutputStream()
    embedded = len(indexed.vectors) == len(indexed.entries)
    vectors = indexed.vectors if embedded else np.zeros((len(indexed.entries), dimensions), np.float32)
    entries = _entry_table([replace(indexed, vectors=vectors)], shapes[ENTRIES], fields)
    if not embedded:
        missing = pa.nulls(entries.num_rows, shapes[ENTRIES].field("vector").type)
        entries = entries.set_column(entries.schema.get_field_index("vector"), "vector", missing)
    for table in (_chunk_table([indexed], shapes[CHUNKS], fields), entries):
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
    return sink.getvalue().to_pybytes()


def _unpacked(parts: bytes) -> tuple[Sequence[Row], Sequence[Row]]:
    import pyarrow as pa

    source = pa.BufferReader(parts)
    chunks = pa.ipc.open_stream(source).read_all().to_pylist()
    entries = pa.ipc.open_stream(source).read_all().to_pylist()
    return chunks, entries


def _in_place(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: int(row["place"]))


def _entry(row: Row) -> Entry:
    return Entry(
        id=row["id"],
        chunk_id=row["chunk_id"],
        document_id=row["document_id"],
        kind=EntryKind(row["kind"]),
        text=row["text"],
        rights=_rights(row),
        derived_from=tuple(json.loads(row["derived_from"])),
    )


def _standing(row: Row) -> Standing:
    return Standing(
        current=row["current"],
        searchable=row["searchable"],
        in_force_from=row["valid_from"],
        in_force_to=row["valid_to"],
        ended_at=row["ended_at"],
        ending=Ending(row["ending"]) if row["ending"] else None,
    )


def _rights(row: Row) -> Rights:
    return Rights(frozenset(row["groups"]))


def _as_stored(value: FieldValue | None, kind: FieldType) -> object:
    """None for a value of a type that the field had before it was declared anew: the document lacks it now."""
    if not isinstance(value, PYTHON_TYPES[kind]):
        return None
    return list(value) if isinstance(value, tuple) else value
