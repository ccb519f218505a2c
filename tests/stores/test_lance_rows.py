"""Documents to rows and back, without an engine between: many examples are cheap here."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings

from citewell.stores.lance_rows import CHUNKS, DOCUMENTS, ENTRIES, schemas, to_chunk, to_document, to_tables
from citewell.types import Document
from tests.stores.corpus import DIMENSIONS, indexed
from tests.stores.test_conformance_properties import documents


@settings(max_examples=60, deadline=None)
@given(documents)
def test_a_document_comes_back_equal(document: Document) -> None:
    (row,) = to_tables([replace(indexed(document.id, []), document=document)], DIMENSIONS, {})[DOCUMENTS].to_pylist()
    assert to_document(row) == document


def test_chunks_and_vectors_come_back_equal() -> None:
    batch = [indexed("a", ["one", "two"]), indexed("b", []), indexed("c", ["three"], groups=[])]
    tables = to_tables(batch, DIMENSIONS, {})
    assert [to_chunk(row) for row in tables[CHUNKS].to_pylist()] == [chunk for item in batch for chunk in item.chunks]
    vectors = tables[ENTRIES]["vector"].to_pylist()
    assert vectors == [vector.tolist() for item in batch for vector in item.vectors]


def test_tables_have_their_schemas() -> None:
    for batch in ([], [indexed("a", ["one"])]):
        tables = to_tables(batch, DIMENSIONS, {})
        assert {name: table.schema for name, table in tables.items()} == schemas(DIMENSIONS, {})
