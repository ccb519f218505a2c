"""A citation quotes the document at its offsets, names the page where the quote starts, and opens it there."""

from citewell.generation.citations import Citations, link
from citewell.generation.units import units
from citewell.types import Chunk
from tests.generation.conftest import CODES, TIME_LIMITS


def page_of(passage: Chunk, offset: int) -> tuple[int, str]:
    """Pages of 500 characters with labels four behind: i to iv stand before page 1."""
    assert passage.document_id == "manual-2026"
    assert passage.start <= offset < passage.end
    return offset // 500 + 1, str(offset // 500 - 3)


def test_what_a_citation_holds() -> None:
    citations = Citations(page_of)
    unit = units(CODES.chunk)[1]
    assert citations.cite(CODES, unit) == 1
    (citation,) = citations.made
    assert citation.quote == "Code R-71 means that the card has expired."
    assert CODES.chunk.text[citation.start - 9000 : citation.end - 9000] == citation.quote
    assert (citation.chunk_id, citation.document_id) == ("manual-2026:9000", "manual-2026")
    assert (citation.title, citation.section) == ("Fraud Policy Manual 2026", "7 Authorisation > 7.1 Decline codes")
    assert (citation.page_number, citation.page) == (19, "15")
    assert citation.link == "file:///docs/manual-2026.pdf#page=19"


def test_numbers_follow_first_use_and_one_quote_has_one_number() -> None:
    citations = Citations(page_of)
    first, second = units(CODES.chunk)[:2]
    assert [citations.cite(CODES, unit) for unit in (second, first, second)] == [1, 2, 1]
    assert citations.cite(TIME_LIMITS, units(TIME_LIMITS.chunk)[1]) == 3
    assert [citation.n for citation in citations.made] == [1, 2, 3]


def test_a_document_without_pages() -> None:
    citations = Citations(lambda _document, _offset: None)
    citations.cite(CODES, units(CODES.chunk)[0])
    (citation,) = citations.made
    assert (citation.page, citation.page_number, citation.link) == ("", None, "file:///docs/manual-2026.pdf")


def test_links() -> None:
    assert link("file:///a%20b/m.PDF#old", 7, "x") == "file:///a%20b/m.PDF#page=7"
    assert link("file:///m.docx", None, "x") == "file:///m.docx"
    assert link("https://bank.example/hours.html?lang=en#top", None, "Open 9-17,\nMon & Tue") == (
        "https://bank.example/hours.html?lang=en#:~:text=Open%209%2D17%2C%20Mon%20%26%20Tue"
    )
    long = " ".join(f"word{n}" for n in range(30))
    assert link("file:///hours.htm", None, long) == (
        "file:///hours.htm#:~:text=word0%20word1%20word2%20word3%20word4,word25%20word26%20word27%20word28%20word29"
    )
