"""Real PDFs: the shared documents, whose manifest says what must be found in them, and the bank's manuals."""

from __future__ import annotations

import os
from pathlib import Path

import pypdfium2
import pytest

from citewell.errors import EmptyFile, PasswordNeeded
from citewell.loading.parsed import Parsed
from citewell.loading.pdf import load_pdf
from citewell.types import ElementKind, PageState
from tests.loading.checks import check_spans, of_kind, path_of
from tests.loading.pdfs import LIMITS

ROOT = Path(__file__).parents[2]
FILES = Path(os.environ.get("CITEWELL_SHARED", ROOT / ".." / "shared")).resolve() / "data" / "documents" / "files"
MANUAL = ROOT / "examples" / "bank" / "documents" / "manual" / "fraud-policy-manual-2026.pdf"

shared = pytest.mark.skipif(not FILES.is_dir(), reason="the shared documents are not there (CITEWELL_SHARED)")


def read(name: str) -> Parsed:
    parsed = load_pdf((FILES / name).read_bytes(), name, LIMITS)
    check_spans(parsed)
    return parsed


@shared
def test_two_columns_with_footnotes_and_a_note_along_the_margin() -> None:
    parsed = read("multi-column-2p.pdf")
    assert parsed.title == "Dense Passage Retrieval for Open-Domain Question Answering"
    assert of_kind(parsed, ElementKind.HEADING) == [
        "Dense Passage Retrieval for Open-Domain Question Answering",
        "Abstract",
        "1 Introduction",
        "2 Background",
        "3 Dense Passage Retriever (DPR)",
        "3.1 Overview",
    ]
    order = [
        "Open-domain question answering relies on efficient passage retrieval to select candidate contexts, where",
        "traditional sparse vector space models, such as TF-IDF or BM25, are the de facto method.",
        "of improving retrieval.\n\nRetrieval in open-domain QA is usually implemented using TF-IDF",
        "setting new state-of-the-art results on multiple open-domain",
        "∗Equal contribution",
        "arXiv:2004.04906v3 [cs.CL] 30 Sep 2020",
        "QA datasets, it also suffers from two weaknesses.",
    ]
    places = [parsed.text.index(text) for text in order]
    assert places == sorted(places)
    assert path_of(parsed, "Our dense passage retriever (DPR) uses") == (
        "3 Dense Passage Retriever (DPR)",
        "3.1 Overview",
    )
    assert len(of_kind(parsed, ElementKind.FOOTNOTE)) == 5


@shared
def test_a_dense_table_whose_rows_are_hardly_ruled() -> None:
    parsed = read("nics-background-checks-2015-11.pdf")
    (table,) = of_kind(parsed, ElementKind.TABLE)
    rows = [row.split(" | ") for row in table.split("\n")]
    assert {len(row) for row in rows} == {25}
    assert len(rows) == 57
    by_state = {row[0]: dict(zip(rows[0], row, strict=True)) for row in rows}
    assert by_state["Alabama"]["Totals"] == "71,137"
    assert by_state["Hawaii"]["Permit"] == "1,248"
    assert by_state["Guam"]["**Multiple"] == "3"
    assert by_state["Totals"]["Totals"] == "2,236,457"


@shared
def test_arabic_is_in_logical_order_with_its_ligatures_and_marks_mended() -> None:
    parsed = read("right_to_left_01.pdf")
    assert parsed.text.startswith("تحسين الإنتاجية وحل المشكلات من خلال البرمجة بلغة R وPython\n\nتعتبر البرمجة")
    assert "يمكن أن يؤدي أيضًا إلى اتخاذ قرارات أكثر دقة بناءً على استنتاجات" in parsed.text
    assert "استخدام مكتبة pandas في Python لإدارة البيانات" in parsed.text
    assert len(of_kind(parsed, ElementKind.PARAGRAPH)) == 4


@shared
def test_many_scripts() -> None:
    text = read("multilang.pdf").text
    for part in ("你好世界", "こんにちは世界", "Привет, мир", "مرحبا بالعالم", "สวัสดีชาวโลก"):
        assert part in text


@shared
def test_bookmarks_of_three_depths() -> None:
    parsed = read("bookmark_sample.pdf")
    assert [element.heading_path for element in parsed.elements if element.kind is ElementKind.HEADING] == [
        ("PART I - DEFINITIONS",),
        ("PART I - DEFINITIONS", "1. Interpretation"),
        ("PART I - DEFINITIONS", "2. Construction of Terms"),
        ("PART II - OBLIGATIONS",),
        ("PART II - OBLIGATIONS", "3. Payment Terms"),
        ("PART II - OBLIGATIONS", "3. Payment Terms", "3.1 Payment Schedule"),
        ("PART II - OBLIGATIONS", "4. Termination"),
        ("PART III - MISCELLANEOUS",),
    ]
    assert "Sample Agreement" not in parsed.text


@shared
@pytest.mark.parametrize(
    ("name", "state", "text"),
    [
        ("table-multi-row-column-cells.pdf", PageState.NEEDS_OCR, ""),
        ("ocr_test.pdf", PageState.NEEDS_OCR, ""),
        ("ocr_test_rotated_90.pdf", PageState.NEEDS_OCR, ""),
        ("malformed-from-issue-932.pdf", PageState.NEEDS_OCR, "2021 3 31"),
        ("invisible_text_layer.pdf", PageState.SUSPICIOUS, "Visible heading line"),
        (
            "rotated-page-90.pdf",
            PageState.TEXT,
            "Hello World Test Text\n\nSecond line of text here\n\nRotated page fixture",
        ),
        ("r4-owner-password.pdf", PageState.TEXT, "pdf encryption test password: asdfzxcv"),
    ],
)
def test_states_of_single_pages(name: str, state: PageState, text: str) -> None:
    parsed = read(name)
    assert [page.state for page in parsed.pages] == [state]
    assert parsed.text == text


@shared
def test_a_damaged_cross_reference_is_rebuilt_and_a_page_twice_is_twice() -> None:
    assert read("damaged-xref-toy.pdf").text.startswith("AWAY again1")
    assert read("fake-memo-with-duplicate-page.pdf").text.count("There were 20,000 bottles of water") == 2


@shared
def test_refusals() -> None:
    with pytest.raises(PasswordNeeded):
        read("r6-user-password.pdf")
    with pytest.raises(EmptyFile):
        read("empty.pdf")


def test_the_banks_manual_has_all_its_headings_labels_and_tables() -> None:
    parsed = load_pdf(MANUAL.read_bytes(), MANUAL.name, LIMITS)
    check_spans(parsed)
    with pypdfium2.PdfDocument(MANUAL) as document:
        outline = [(entry.get_title(), entry.level, entry.get_dest().get_index() + 1) for entry in document.get_toc()]
        labels = [document.get_page_label(index) for index in range(len(document))]
    headings = [
        (element.heading_path[-1], len(element.heading_path) - 1, element.page)
        for element in parsed.elements
        if element.kind is ElementKind.HEADING
    ]
    assert [heading for heading in headings if heading in outline] == outline
    assert [page.label for page in parsed.pages] == labels
    assert {page.state for page in parsed.pages} == {PageState.TEXT}
    text = "A customer may dispute a card payment within 120 days of the transaction date."
    assert path_of(parsed, text) == ("4 Disputes and chargebacks", "4.2 Time limits for disputes")
    fees = next(
        text for text in of_kind(parsed, ElementKind.TABLE) if text.startswith("Step | Debit | Credit | Business")
    )
    assert fees.split("\n")[1].startswith("First chargeback | £")
    for table in of_kind(parsed, ElementKind.TABLE):
        assert len({row.count(" | ") for row in table.split("\n")}) == 1
    assert parsed.text.count("Larkfield Bank · Fraud Policy Manual") == 0
