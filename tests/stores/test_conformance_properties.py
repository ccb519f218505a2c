"""Properties that hold for any documents and any rights."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citewell.stores.store import OWNER, IndexedDocument, Scope, Store
from citewell.types import Document, Element, ElementKind, Page, PageState, Rights, Trust
from tests.stores.conftest import Engine
from tests.stores.corpus import indexed, unit_vectors, zipf_texts

FEW = settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
texts = st.text(max_size=60)
spots = st.integers(0, 2**40)
days = st.none() | st.dates()

elements = st.builds(
    Element,
    kind=st.sampled_from(ElementKind),
    start=spots,
    end=spots,
    heading_path=st.lists(texts, max_size=3).map(tuple),
    page=st.none() | spots,
    box=st.none() | st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 4),
)
pages = st.builds(
    Page, number=spots, label=texts, start=spots, end=spots, state=st.sampled_from(PageState), reason=texts
)
values = texts | st.floats(allow_nan=False, allow_infinity=False) | st.dates() | st.lists(texts, max_size=2).map(tuple)
documents = st.builds(
    Document,
    id=names,
    content_hash=texts,
    title=texts,
    source=texts,
    version=texts,
    text=texts,
    elements=st.lists(elements, max_size=4).map(tuple),
    rights=st.frozensets(names, max_size=3).map(Rights),
    pages=st.lists(pages, max_size=3).map(tuple),
    valid_from=days,
    valid_to=days,
    language=texts,
    trust=st.sampled_from(Trust),
    number=st.integers(1, 2**40),
    indexed_at=st.datetimes(timezones=st.just(UTC)),
    own_title=texts,
    expires=days,
    fields=st.dictionaries(
        names,
        st.text(max_size=9) | st.floats(allow_nan=False) | st.dates() | st.lists(texts, max_size=2).map(tuple),
        max_size=3,
    ),
)


@contextmanager
def stored(engine: Engine, contents: list[IndexedDocument]) -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as folder:
        store = engine.filled(Path(folder), contents)
        yield store
        store.close()


@FEW
@given(st.lists(documents, max_size=8, unique_by=lambda document: document.id))
def test_any_document_comes_back_equal(engine: Engine, contents: list[Document]) -> None:
    with stored(engine, [replace(indexed(d.id, []), document=d) for d in contents]) as store:
        reader = store.reader()
        assert {d.id: reader.document(d.id, OWNER) for d in contents} == {d.id: d for d in contents}
        assert len(reader.documents(OWNER)) == len(contents)


GROUPS = ("everyone", "a", "b'", '"c"')
rights = st.frozensets(st.sampled_from(GROUPS))
periods = st.tuples(*[st.none() | st.dates(date(2026, 1, 1), date(2026, 1, 5))] * 2)
scopes = st.builds(Scope, groups=rights, on=st.none() | st.dates(date(2026, 1, 1), date(2026, 1, 5)))


def allowed(scope: Scope, document: Document) -> bool:
    assert scope.groups is not None
    return not document.rights.groups.isdisjoint(scope.groups) and (
        scope.on is None
        or ((document.valid_from or date.min) <= scope.on and (document.valid_to or date.max) >= scope.on)
    )


@FEW
@given(st.lists(st.tuples(rights, periods), min_size=12, max_size=25), scopes)
def test_a_scope_sees_what_a_store_of_only_its_documents_has(
    engine: Engine, given_rights: list[tuple[frozenset[str], tuple[date | None, date | None]]], scope: Scope
) -> None:
    everything = [
        indexed(f"d{n:02d}", zipf_texts(2, n, 20), groups=groups, valid_from=period[0], valid_to=period[1])
        for n, (groups, period) in enumerate(given_rights)
    ]
    readable = [item for item in everything if allowed(scope, item.document)]
    vector = unit_vectors(1, 0)[0]
    with stored(engine, everything) as all_of_it, stored(engine, readable) as part_of_it:
        whole, part = all_of_it.reader(), part_of_it.reader()
        assert whole.dense(vector, 7, scope) == part.dense(vector, 7, OWNER)
        assert whole.documents(scope) == part.documents(OWNER)
        assert whole.counts(scope) == part.counts(OWNER)
        # Only the sets: the inverse document frequency counts all rows, also those that the scope leaves out.
        found, expected = whole.keyword(["w1", "w2"], 99, scope), part.keyword(["w1", "w2"], 99, OWNER)
        assert {match.entry_id for match in found} == {match.entry_id for match in expected}
