"""Rows of the three Lance tables, from and to the dataclasses. What is never searched for is kept as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import TypeAdapter

from citewell.stores.store import IndexedDocument, LedgerLine
from citewell.types import Attributes, Chunk, Document, Element, ElementKind, Page, PageState, Rights, Trust

if TYPE_CHECKING:
    import pyarrow as pa

    from citewell.models.embedder import Vectors

Row = Mapping[str, Any]

DOCUMENTS, CHUNKS, ENTRIES = TABLES = ("documents", "chunks", "entries")

LEDGER_COLUMNS = ["id", "source", "content_hash", "recipe", "groups", "lost"]
CHUNK_COLUMNS = [
    "id", "document_id", "title", "source", "version", "text", "start", "end", "heading_path", "pages", "kind",
    "groups", "trust", "parent_id", "preamble",
]  # fmt: skip
SUMMARY_COLUMNS = [
    "id", "content_hash", "title", "source", "version", "language", "trust", "pages", "groups", "valid_from",
    "valid_to", "parent_id", "metadata", "declared", "lost",
]  # fmt: skip
DOCUMENT_COLUMNS = [*SUMMARY_COLUMNS, "text", "elements"]


def schemas(dimensions: int) -> dict[str, pa.Schema]:
    """The schema of each table. `groups`, `valid_from` and `valid_to` are on all three, for the scope's condition."""
    import pyarrow as pa

    text, number = pa.string(), pa.int64()
    key = [pa.field("id", text, nullable=False)]
    scope = [pa.field("groups", pa.list_(text)), pa.field("valid_from", pa.date32()), pa.field("valid_to", pa.date32())]

    def fields(kind: pa.DataType, names: str) -> list[pa.Field[Any]]:
        return [pa.field(name, kind) for name in names.split()]

    # A batch of documents may hold more text than the 2 GB of a plain string column.
    return {
        DOCUMENTS: pa.schema(
            key
            + fields(text, "content_hash title source version language trust recipe parent_id metadata declared lost")
            + fields(pa.large_string(), "text elements pages")
            + scope
        ),
        CHUNKS: pa.schema(
            key
            + fields(text, "document_id title source version text heading_path pages kind trust parent_id preamble")
            + fields(number, "start end place")
            + scope
        ),
        ENTRIES: pa.schema(
            key
            + fields(text, "chunk_id document_id kind text derived_from tokens text_hash")
            + fields(pa.list_(pa.float32(), dimensions), "vector")
            + scope
        ),
    }


def to_tables(added: Sequence[IndexedDocument], dimensions: int) -> dict[str, pa.Table]:
    """All rows of a batch, by table."""
    import pyarrow as pa

    shapes = schemas(dimensions)
    documents = [_document_row(indexed) for indexed in added]
    chunks = [
        _chunk_row(chunk, place, indexed.document) for indexed in added for place, chunk in enumerate(indexed.chunks)
    ]
    entries = [row for indexed in added for row in _entry_rows(indexed)]
    unsearchable = shapes[ENTRIES].remove(shapes[ENTRIES].get_field_index("vector"))
    vectors = np.concatenate([np.zeros((0, dimensions), np.float32), *(indexed.vectors for indexed in added)])
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), dimensions)
    return {
        DOCUMENTS: pa.Table.from_pylist(documents, schema=shapes[DOCUMENTS]),
        CHUNKS: pa.Table.from_pylist(chunks, schema=shapes[CHUNKS]),
        ENTRIES: pa.Table.from_pylist(entries, schema=unsearchable)
        .append_column("vector", column)
        .select(shapes[ENTRIES].names),
    }


def to_document(row: Row) -> Document:
    """A document; without text and elements where the row was read without them."""
    return Document(
        id=row["id"],
        content_hash=row["content_hash"],
        title=row["title"],
        source=row["source"],
        version=row["version"],
        text=row.get("text", ""),
        elements=tuple(_element(record) for record in json.loads(row.get("elements", "[]"))),
        rights=Rights(frozenset(row["groups"])),
        pages=tuple(_page(record) for record in json.loads(row["pages"])),
        valid_from=row["valid_from"],
        valid_to=row["valid_to"],
        language=row["language"],
        trust=Trust(row["trust"]),
        parent_id=row["parent_id"],
        metadata=json.loads(row["metadata"]),
        declared=_attributes().validate_json(row["declared"]),
        lost=row["lost"],
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
        rights=Rights(frozenset(row["groups"])),
        trust=Trust(row["trust"]),
        parent_id=row["parent_id"],
        preamble=row["preamble"],
    )


def to_ledger_line(row: Row) -> LedgerLine:
    rights = Rights(frozenset(row["groups"]))
    return LedgerLine(row["id"], row["source"], row["content_hash"], row["recipe"], rights, row["lost"])


def to_vector(row: Row) -> Vectors:
    return np.asarray(row["vector"], dtype=np.float32)


def _document_row(indexed: IndexedDocument) -> Row:
    document = indexed.document
    return {
        "id": document.id,
        "content_hash": document.content_hash,
        "title": document.title,
        "source": document.source,
        "version": document.version,
        "language": document.language,
        "trust": document.trust.value,
        "recipe": indexed.recipe,
        "text": document.text,
        "elements": json.dumps([_element_record(element) for element in document.elements]),
        "pages": json.dumps([_page_record(page) for page in document.pages]),
        "parent_id": document.parent_id,
        "metadata": json.dumps(dict(document.metadata)),
        "declared": _attributes().dump_json(document.declared).decode(),
        "lost": document.lost,
        "groups": sorted(document.rights.groups),
        "valid_from": document.valid_from,
        "valid_to": document.valid_to,
    }


def _chunk_row(chunk: Chunk, place: int, document: Document) -> Row:
    return {
        "id": chunk.id,
        "document_id": chunk.document_id,
        "title": chunk.title,
        "source": chunk.source,
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
        "valid_from": document.valid_from,
        "valid_to": document.valid_to,
    }


def _entry_rows(indexed: IndexedDocument) -> list[Row]:
    return [
        {
            "id": item.entry.id,
            "chunk_id": item.entry.chunk_id,
            "document_id": item.entry.document_id,
            "kind": item.entry.kind.value,
            "text": item.entry.text,
            "derived_from": json.dumps(item.entry.derived_from),
            "tokens": item.tokens,
            "text_hash": item.text_hash,
            "groups": sorted(item.entry.rights.groups),
            "valid_from": item.entry.valid_from,
            "valid_to": item.entry.valid_to,
        }
        for item in indexed.entries
    ]


@cache
def _attributes() -> TypeAdapter[Attributes]:
    return TypeAdapter(Attributes)


def _element_record(element: Element) -> list[Any]:
    place = [element.kind.value, element.start, element.end, element.heading_path, element.page, element.box]
    return [*place, element.header_rows, element.preamble, element.cuts, element.links]


def _element(record: list[Any]) -> Element:
    kind, start, end, path, page, box, header_rows, preamble, cuts, links = record
    at = None if box is None else tuple(box)
    return Element(
        ElementKind(kind), start, end, tuple(path), page, at, header_rows, preamble, tuple(cuts), tuple(links)
    )


def _page_record(page: Page) -> list[Any]:
    return [page.number, page.label, page.start, page.end, page.state.value, page.reason, page.confidence]


def _page(record: list[Any]) -> Page:
    number, label, start, end, state, reason, confidence = record
    return Page(number, label, start, end, PageState(state), reason, confidence)
