"""What a filter finds in PostgreSQL is what `citewell.filters` says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citewell.filters import BUILT_IN, And, Contains, Equal, FieldType, Filter, In, Not, Or, Range, check, matches
from citewell.settings import Storage
from citewell.stores.postgres.store import PostgresStore
from citewell.stores.store import IndexedDocument, Scope
from citewell.types import FieldValue
from tests.stores.corpus import (
    commit,
    declare,
    indexed,
    key,
    unit_vectors,
)
from tests.stores.postgres_engine import create

STORAGE = Storage()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[PostgresStore]:
    store = create(tmp_path, STORAGE)
    yield store
    store.close()


FIELDS = {
    "department": FieldType.TEXT,
    "amount": FieldType.NUMBER,
    "signed": FieldType.DATE,
    "tags": FieldType.LIST,
}
TEXTS = [
    "",
    "a",
    "b",
    "ab",
    "A",
    "'",
    '"',
    "%",
    "_",
    "\\",
    "\1",
    "\2",
    "a\1b",
    "é",
    "\U0001f642",
    "\uffff",
    "{}",
    "null",
]
POOLS: dict[FieldType, Sequence[str | float | date]] = {
    FieldType.TEXT: TEXTS,
    FieldType.NUMBER: [0.0, 1.0, -1.5, 1e300, 5e-324, 0.1],
    FieldType.DATE: [date.min, date(2026, 1, 1), date(2026, 1, 2), date.max],
    FieldType.LIST: TEXTS,
}


def _values() -> st.SearchStrategy[dict[str, FieldValue]]:
    shapes = {
        name: st.lists(st.sampled_from(TEXTS), max_size=3).map(tuple) if kind is FieldType.LIST else _value(kind)
        for name, kind in FIELDS.items()
    }
    return st.fixed_dictionaries({}, optional=shapes)


def _value(kind: FieldType) -> st.SearchStrategy[str | float | date]:
    return st.sampled_from([*POOLS[kind]])


def _leaf(name: str, kind: FieldType) -> st.SearchStrategy[Filter]:
    value = _value(kind)
    shapes: list[st.SearchStrategy[Filter]] = [
        value.map(lambda one: Equal(name, one)),
        st.lists(value, min_size=1, max_size=3).map(lambda some: In(name, tuple(some))),
    ]
    if kind in (FieldType.TEXT, FieldType.LIST):
        shapes.append(st.sampled_from(TEXTS[1:]).map(lambda text: Contains(name, text)))
    if kind is not FieldType.LIST:
        shapes.append(value.map(lambda one: Range(name, least=one)))
        shapes.append(value.map(lambda one: Range(name, most=one)))
    return st.one_of(shapes)


def _filters() -> st.SearchStrategy[Filter]:
    leaves = st.sampled_from([*FIELDS.items(), ("title", FieldType.TEXT)]).flatmap(lambda field: _leaf(*field))
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: And(tuple(parts)))
            | st.lists(inner, min_size=1, max_size=3).map(lambda parts: Or(tuple(parts)))
            | inner.map(Not)
        ),
        max_leaves=5,
    )


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(_values(), st.sampled_from(TEXTS)), min_size=4, max_size=8),
    asked=st.lists(_filters(), min_size=8, max_size=8),
)
def test_what_a_filter_finds_is_what_the_reference_says(
    store: PostgresStore, rows: list[tuple[dict[str, FieldValue], str]], asked: list[Filter]
) -> None:
    documents = []
    for place, (values, title) in enumerate(rows):
        item = indexed(f"d{place}", ["word"], fields=values)
        documents.append(replace(item, document=replace(item.document, title=title)))
    declare(store, FIELDS)
    commit(store, documents, [line.key for line in store.fetch([key(f"d{n}") for n in range(len(rows), 9)])])
    reader, vector = store.reader(), unit_vectors(1, 0)[0]
    for condition in asked:
        checked = check(condition, FIELDS)
        scope = Scope(groups=None, where=checked)
        known = {d.document.id: {**d.document.fields, **_built_in(d)} for d in documents}
        expected = {name for name, values in known.items() if matches(checked, values)}
        assert {document.id for document in reader.documents(scope)} == expected
        assert {match.chunk_id.split("/")[0] for match in reader.dense(vector, 9, scope)} == expected
        assert {match.chunk_id.split("/")[0] for match in reader.keyword(["word"], 9, scope)} == expected


def _built_in(item: IndexedDocument) -> dict[str, FieldValue]:
    return {name: str(getattr(item.document, name)) for name in BUILT_IN}
