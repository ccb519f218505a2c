"""A picture of a page becomes words and rules where the page has them, however it lies."""

from __future__ import annotations

import csv

import numpy as np
import pypdfium2
import pytest
from numpy.typing import NDArray
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from citewell.loading.pdf.document import build_pages
from citewell.loading.pdf.file import PdfFile
from citewell.loading.pdf.sheet import Sheet, View
from citewell.loading.scan.picture import Scan, read_picture
from citewell.types import ElementKind
from tests.loading.checks import of_kind
from tests.loading.pdfs import LIMITS, write
from tests.loading.pictures import HEIGHT, LETTER, WIDTH, letter, render
from tests.loading.test_pdf_files import FILES, shared

DPI = 200
SAID = " ".join(LETTER)


def read(pixels: NDArray[np.uint8], dpi: float = DPI) -> Scan:
    return read_picture(np.ascontiguousarray(pixels), dpi)


def said(scan: Scan) -> str:
    return " ".join(word.text for word in scan.words)


def tables(scan: Scan) -> list[list[list[str]]]:
    """The cells of each table on the page."""
    sheet = Sheet(1, "1", scan.frame.turned(0), (View(scan.frame, scan.words),), scan.rules, looked_at=True)
    parsed = build_pages(PdfFile("", (sheet,)), LIMITS, "test")
    return [[row.split(" | ") for row in text.splitlines()] for text in of_kind(parsed, ElementKind.TABLE)]


@pytest.fixture(scope="module")
def page() -> NDArray[np.uint8]:
    return render(letter, DPI)


def test_words_are_where_they_stand_and_as_large(page: NDArray[np.uint8]) -> None:
    scan = read(page)
    assert said(scan) == SAID
    assert scan.turn == 0
    assert scan.confidence > 0.95
    assert scan.illegible == 0
    assert (scan.frame.width, scan.frame.height) == pytest.approx((WIDTH, HEIGHT), abs=1)
    assert {word.style.size for word in scan.words} <= {13.5, 14.0, 14.5, 15.0}
    first, last = scan.words[0], scan.words[-1]
    assert (first.text, last.text) == ("The", "payment.")
    assert first.x0 == pytest.approx(40, abs=3)
    assert first.x1 == pytest.approx(40 + 24, abs=4)  # as wide as Helvetica makes it
    assert first.baseline == pytest.approx(60, abs=1)
    assert last.baseline == pytest.approx(60 + 1.2 * 14, abs=1)


def test_a_grey_picture_reads_as_a_coloured_one(page: NDArray[np.uint8]) -> None:
    assert said(read(page[:, :, 0])) == SAID


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_a_turned_picture_is_read_as_it_is_upright(page: NDArray[np.uint8], quarters: int) -> None:
    scan = read(np.rot90(page, quarters))  # counterclockwise
    assert scan.turn == quarters
    assert said(scan) == SAID
    assert (scan.frame.width, scan.frame.height) == pytest.approx((WIDTH, HEIGHT), abs=1)
    assert scan.words[0].x0 == pytest.approx(40, abs=4)
    assert scan.words[0].baseline == pytest.approx(60, abs=1)


@pytest.mark.parametrize("degrees", [-3.0, 1.3])
def test_a_picture_askew_has_level_lines(page: NDArray[np.uint8], degrees: float) -> None:
    askew = Image.fromarray(page).rotate(degrees, Image.Resampling.BICUBIC, fillcolor="white")
    scan = read(np.asarray(askew))
    assert said(scan) == SAID
    assert {word.baseline for word in scan.words} == {scan.words[0].baseline, scan.words[-1].baseline}
    assert scan.words[-1].baseline - scan.words[0].baseline == pytest.approx(1.2 * 14, abs=1)
    assert {word.style.size for word in scan.words} <= {13.5, 14.0, 14.5, 15.0}


def test_more_dots_an_inch_than_needed_change_nothing() -> None:
    scan = read(render(letter, 500), 500)
    assert said(scan) == SAID
    assert scan.words[0].baseline == pytest.approx(60, abs=1)


def test_a_line_over_several_cells_is_divided_at_their_rules() -> None:
    def ruled(canvas: Canvas) -> None:
        canvas.setPageSize((WIDTH, HEIGHT))
        canvas.grid([20, 126, 190, 280], [20, 50, 80, 110, 140])
        for row, cells in enumerate(
            (("Kind of payment", "Least fee", "Most"), ("In this country", "EUR 1.20", "4.50"))
        ):
            # So close together that they are found as one line.
            for x, cell in zip((30, 130, 194), cells, strict=True):
                write(canvas, x, 120 - 30 * row, cell, size=13)
        write(canvas, 30, 60, "Abroad")
        write(canvas, 30, 30, "Elsewhere")

    (table,) = tables(read(render(ruled, DPI)))
    assert table[:2] == [["Kind of payment", "Least fee", "Most"], ["In this country", "EUR 1.20", "4.50"]]


def test_text_that_runs_up_beside_the_page_stands_apart() -> None:
    def stamped(canvas: Canvas) -> None:
        letter(canvas)
        canvas.rotate(90)
        write(canvas, 40, -20, "Copy for files", size=12)

    scan = read(render(stamped, DPI))
    assert " ".join(word.text for word in scan.words if not word.style.skewed) == SAID
    aside = [word for word in scan.words if word.style.skewed]
    assert [word.text for word in aside] == ["Copy", "for", "files"]
    assert all(8 < word.x0 < word.x1 < 30 for word in aside)


def test_an_empty_page_has_nothing() -> None:
    scan = read(np.full((300, 200, 3), 255, np.uint8))
    assert (scan.words, scan.rules, scan.confidence, scan.turn, scan.illegible) == ((), (), 0.0, 0, 0)


@shared
def test_merged_cells_of_a_shared_document() -> None:
    with pypdfium2.PdfDocument(FILES / "table-multi-row-column-cells.pdf") as document:
        # Its type is 30 points high: it needs fewer dots an inch than a page of text.
        pixels = document[0].render(scale=75 / 72, rev_byteorder=True).to_numpy()[:, :, :3].copy()
    with (FILES / "table-multi-row-column-cells-actual.csv").open(newline="") as file:
        names, groups, *expected = csv.reader(file)
    (table,) = tables(read(pixels, 75))
    header, *rows = table
    assert rows == expected
    assert [cell.replace("/ ", "/") for cell in header[:4]] == names[:4]
    assert header[4:] == [f"{names[4]} {group}" for group in groups[4:]]
