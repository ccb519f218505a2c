"""A page of the example's scanned fee schedule: read by OCR, its table recovered, a cell found as a row."""

import io
from pathlib import Path

import pypdfium2
import pytest

from citewell import Index, Settings
from citewell.types import ElementKind, FileState, PageState

SCAN = Path(__file__).parents[1] / "examples" / "bank" / "documents" / "fees" / "card-fee-schedule-2026.pdf"
ROW = "Business, cross-border | £38.50 | £43.70 | £79.00 | £374.00"
pytest.importorskip("rapidocr", reason="the extra `ocr` is not installed")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Page 6 alone: the others would cost six seconds each."""
    target = io.BytesIO()
    with pypdfium2.PdfDocument(SCAN) as whole, pypdfium2.PdfDocument.new() as one:
        one.import_pages(whole, [5])
        one.save(target)
    path = tmp_path_factory.mktemp("scan") / "fees.pdf"
    path.write_bytes(target.getvalue())
    return path


def test_a_cell_of_a_scanned_table_is_found_as_a_row_of_it(page: Path, tmp_path: Path) -> None:
    settings = Settings.model_validate({"chunking": {"table_rows": True}})
    with Index.create(tmp_path / "index", settings=settings) as index:
        (file,) = index.add(page).files
        # The other table of the page has a column of that name: it may come first.
        hits = index.search("chargeback fee for Business, cross-border", k=2)
        answer = index.ask("What is the arbitration filing fee for a business, cross-border chargeback?")
        (document,) = index.documents()
    assert (file.state, dict(file.pages)) == (FileState.ADDED, {PageState.TEXT: 1})
    assert document.pages[0].confidence is not None
    assert document.pages[0].confidence > 0.9
    (found,) = [hit for hit in hits if hit.chunk.text == ROW]
    assert found.chunk.kind is ElementKind.TABLE
    assert found.chunk.preamble.endswith(
        "Card and payment | First chargeback | Representment | Pre-arbitration | Arbitration"
    )
    assert ROW in found.passage.text
    assert "Credit, domestic" in found.passage.text
    assert answer.citations[0].quote == ROW
    assert answer.citations[0].link.endswith("fees.pdf#page=1")
    assert "£374.00" in answer.text


def test_without_ocr_the_document_is_known_and_the_answer_says_what_is_lost(page: Path, tmp_path: Path) -> None:
    off = Settings.model_validate({"loading": {"ocr": "off"}})
    with Index.create(tmp_path / "index", settings=off) as index:
        (file,) = index.add(page).files
        answer = index.ask("What is the fee for a business, cross-border chargeback?")
    assert (file.state, file.chunks, dict(file.pages)) == (FileState.PARTLY, 0, {PageState.NEEDS_OCR: 1})
    assert answer.abstained
    assert answer.warnings[0].startswith("What could not be read of fees may hold the answer (page 1: it has no text")
    with Index.open(tmp_path / "index") as index:
        assert index.add(page).files[0].state is FileState.UPDATED
        assert not index.ask("What is the fee for a business, cross-border chargeback?").abstained
