"""W13, the index's part: chunks and citations of a paged PDF stay right when saved, reloaded and indexed again."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pypdfium2
import pytest

from citewell import Document, Index, Principal
from citewell.types import Citation

pytestmark = pytest.mark.xdist_group("w13-citations")  # the manual is indexed once, and not by each process

BANK = Path(__file__).parents[2] / "examples" / "bank" / "documents"
MANUAL = BANK / "manual" / "fraud-policy-manual-2026.pdf"
WHO = Principal(groups=frozenset({"fraud_team"}))
QUESTIONS = (
    "How many days does a customer have to dispute a card payment?",
    "What does decline code R-17 mean?",
    "What is the first chargeback fee for a business card?",
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("w13") / "index"
    with Index.create(path) as index:
        index.add(MANUAL)
    return path


@pytest.fixture
def index(path: Path) -> Iterator[Index]:
    with Index.open(path) as index:
        yield index


@pytest.fixture(scope="module")
def pdf() -> Iterator[pypdfium2.PdfDocument]:
    with pypdfium2.PdfDocument(MANUAL) as document:
        yield document


def letters(text: str) -> str:
    return "".join(sign for sign in text if sign.isalnum())


def page_letters(pdf: pypdfium2.PdfDocument, number: int) -> str:
    page = pdf[number - 1]
    text_page = page.get_textpage()
    try:
        return letters(text_page.get_text_range())
    finally:
        text_page.close()
        page.close()


def stored(index: Index) -> Document:
    document = index.show(str(MANUAL), principal=WHO)
    assert isinstance(document, Document)
    return replace(document, indexed_at=None)


def cited(index: Index, question: str) -> Citation:
    return index.ask(question, principal=WHO).citations[0]


def test_every_chunk_is_its_span_of_the_document(index: Index) -> None:
    document = stored(index)
    chunks = index.chunks(document.id, principal=WHO)
    assert len(chunks) > 300
    assert all(chunk.text == document.text[chunk.start : chunk.end] for chunk in chunks)


def test_every_chunk_names_its_pages_by_number_and_label(index: Index, pdf: pypdfium2.PdfDocument) -> None:
    document = stored(index)
    spanning = 0
    for chunk in index.chunks(document.id, principal=WHO):
        for number, label in chunk.pages:
            page = document.pages[number - 1]
            piece = document.text[max(chunk.start, page.start) : min(chunk.end, page.end)]
            assert pdf.get_page_label(number - 1) == label
            # A table's rows and a footnote's mark stand in another order in the file: look for each line.
            whole = page_letters(pdf, number)
            words = [letters(word) for word in piece.split()]
            assert sum(word in whole for word in words) >= 0.95 * len(words)
        spanning += len(chunk.pages) > 1
    assert spanning > 10


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_citation_opens_the_page_that_has_the_sentence(
    index: Index, pdf: pypdfium2.PdfDocument, question: str
) -> None:
    citation = cited(index, question)
    assert citation.quote == stored(index).text[citation.start : citation.end]
    assert citation.page_number is not None
    assert citation.link == f"{MANUAL.as_uri()}#page={citation.page_number}"
    assert pdf.get_page_label(citation.page_number - 1) == citation.page
    assert letters(citation.quote) in page_letters(pdf, citation.page_number)


def test_a_second_ingest_in_another_index_gives_the_same(index: Index, tmp_path: Path) -> None:
    with Index.create(tmp_path / "again") as other:
        other.add(MANUAL)
        assert stored(other) == stored(index)
        assert other.chunks(stored(other).id, principal=WHO) == index.chunks(stored(index).id, principal=WHO)
        assert cited(other, QUESTIONS[0]) == cited(index, QUESTIONS[0])
        assert other.add(MANUAL).embedded == 0
        assert cited(other, QUESTIONS[0]) == cited(index, QUESTIONS[0])
