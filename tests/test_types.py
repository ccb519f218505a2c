"""Rights, principals, pages and the trace."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.types import EVERYONE, Document, Page, Principal, Rights, Trace

NAMES = st.frozensets(st.sampled_from(["a", "b", "c", EVERYONE]))


def test_a_principal_takes_any_iterable_of_groups_but_not_one_string() -> None:
    assert Principal(groups={"a", "b"}).groups == frozenset({"a", "b"})  # type: ignore[arg-type]  # as users write it
    with pytest.raises(TypeError, match="not the string 'fraud_team'"):
        Principal(groups="fraud_team")  # type: ignore[arg-type]  # the mistake under test


def test_everyone_may_read_what_is_everyones() -> None:
    assert Rights(frozenset({EVERYONE})).allows(Principal())
    assert not Rights(frozenset({"a"})).allows(Principal())
    assert not Rights(frozenset()).allows(Principal(groups=frozenset({"a", EVERYONE})))


@given(st.lists(NAMES, min_size=1), NAMES)
def test_who_may_read_a_derived_text_may_read_each_of_its_sources(
    sources: list[frozenset[str]], who: frozenset[str]
) -> None:
    principal = Principal(groups=who)
    derived = Rights.intersection(Rights(groups) for groups in sources)
    if derived.allows(principal):
        assert all(Rights(groups).allows(principal) for groups in sources)


def test_a_text_derived_from_nothing_has_no_rights_to_inherit() -> None:
    with pytest.raises(ValueError, match="at least one source"):
        Rights.intersection([])


def test_no_document_passes_for_a_page_of_the_web() -> None:
    with pytest.raises(ValueError, match="begins with 'web:'"):
        replace(document("abcd", ()), id="web:0:0")


def document(text: str, pages: tuple[Page, ...]) -> Document:
    return Document("id", "hash", "title", "file:///x", "v", text, (), Rights(frozenset({EVERYONE})), pages)


def test_pages_of_a_span() -> None:
    pages = (Page(1, "i", 0, 4), Page(2, "ii", 6, 6), Page(3, "1", 6, 10))
    made = document("abcd\n\nefgh", pages)
    assert [page.label for page in made.pages_of(0, 2)] == ["i"]
    assert [page.label for page in made.pages_of(2, 8)] == ["i", "1"]
    assert [page.label for page in made.pages_of(6, 10)] == ["1"]
    assert [page.label for page in made.pages_of(4, 6)] == ["i"]
    assert document("abc", ()).pages_of(0, 3) == ()


def test_a_step_that_fails_still_leaves_its_line() -> None:
    trace = Trace()
    with pytest.raises(RuntimeError), trace.step("dense", 3):
        raise RuntimeError
    with trace.step("fuse", 2) as running:
        running.out = 1
    assert [(step.name, step.count_in, step.count_out) for step in trace.steps] == [("dense", 3, 0), ("fuse", 2, 1)]
    assert all(step.ms >= 0 for step in trace.steps)
