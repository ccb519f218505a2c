from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from citewell.loading.parsed import TextBuilder
from citewell.settings import Loading
from citewell.types import ElementKind
from tests.loading.checks import check_spans

ADDITIONS = st.lists(st.tuples(st.sampled_from(ElementKind), st.text(), st.integers(1, 6)), max_size=20)


@given(ADDITIONS)
def test_spans_hold_whatever_is_added(additions: list[tuple[ElementKind, str, int]]) -> None:
    builder = TextBuilder(Loading())
    for kind, text, level in additions:
        builder.add(kind, text, level=level)
    parsed = builder.build("title")
    check_spans(parsed)
    kept = [text.replace("\x00", "") for _, text, _ in additions if text.replace("\x00", "").strip()]
    assert len(parsed.elements) == len(kept)
    for element, text in zip(parsed.elements, kept, strict=True):
        assert parsed.text[element.start : element.end].split() == text.split()


def test_a_heading_closes_those_of_its_level_and_below() -> None:
    builder = TextBuilder(Loading())
    for text, level in (("A", 1), ("B", 2), ("C", 3), ("D", 2)):
        builder.add(ElementKind.HEADING, text, level=level)
    builder.add(ElementKind.PARAGRAPH, "below D")
    assert [element.heading_path for element in builder.build("").elements] == [
        ("A",),
        ("A", "B"),
        ("A", "B", "C"),
        ("A", "D"),
        ("A", "D"),
    ]


def test_a_given_path_replaces_the_headings() -> None:
    builder = TextBuilder(Loading())
    builder.add(ElementKind.HEADING, "A")
    builder.add(ElementKind.CODE, "def f(): ...", path=("f",))
    builder.add(ElementKind.CODE, "x = 1", path=())
    assert [element.heading_path for element in builder.build("").elements] == [("A",), ("f",), ()]


def test_empty_pages_at_the_end_lie_in_the_text() -> None:
    builder = TextBuilder(Loading())
    builder.start_page(1, "1")
    builder.add(ElementKind.PARAGRAPH, "Text.")
    builder.start_page(2, "2")
    builder.start_page(3, "3")
    assert [(page.start, page.end) for page in builder.build("").pages] == [(0, 5), (5, 5), (5, 5)]
