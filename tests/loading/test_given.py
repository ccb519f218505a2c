"""Documents from the caller's own texts."""

from citewell.loading.given import from_text
from citewell.types import Rights


def test_blank_lines_divide_paragraphs_and_the_source_names_the_document() -> None:
    made = from_text("One.\r\n\r\nTwo.\n\n\n \n\nThree.", source="row:7", title="Rows", groups=["a"])
    assert [made.text[element.start : element.end] for element in made.elements] == ["One.", "Two.", "Three."]
    assert made.id == from_text("Other.", source="row:7").id != from_text("Other.", source="row:8").id
    assert made.rights == Rights(frozenset({"a"}))
    assert made.version == made.content_hash[:8]


def test_a_title_is_part_of_the_content() -> None:
    assert from_text("x", source="s", title="a").content_hash != from_text("x", source="s", title="b").content_hash


def test_lone_surrogates_do_not_get_in() -> None:
    made = from_text("a \ud800 b", source="s", title="\udcff")
    assert (made.text, made.title) == ("a ? b", "?")
