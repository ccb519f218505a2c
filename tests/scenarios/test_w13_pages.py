"""W13, where it came from: pages, labels, columns, a footnote and a figure-only page of a 40-page PDF.

The PDF is drawn here, so that what stands where is known and not read back from the loader.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, Table, TableStyle

from citewell.loading.parsed import Parsed
from citewell.loading.pdf import load_pdf
from citewell.settings import Loading
from citewell.types import ElementKind, PageState

FRONT = ("i", "ii", "iii", "iv")
FIGURE_PAGE = 12
TABLE_PAGE = 15
FOOTNOTE_PAGE = 20
WIDTH, HEIGHT = A4
MARGIN, GUTTER = 60, 24
COLUMN = (WIDTH - 2 * MARGIN - GUTTER) / 2

BODY = ParagraphStyle("body", fontName="Helvetica", fontSize=10, leading=13, spaceAfter=6)
CHAPTER = ParagraphStyle("chapter", fontName="Helvetica-Bold", fontSize=16, leading=20, spaceAfter=10)
SECTION = ParagraphStyle("section", fontName="Helvetica-Bold", fontSize=12, leading=15, spaceAfter=6)
NOTE = ParagraphStyle("note", fontName="Helvetica", fontSize=8, leading=10)


@dataclass
class Manual:
    """The file, and what was drawn: paragraphs in reading order as (page number, heading path, text)."""

    data: bytes = b""
    paragraphs: list[tuple[int, tuple[str, ...], str]] = field(default_factory=list)


def label_of(number: int) -> str:
    return FRONT[number - 1] if number <= len(FRONT) else str(number - len(FRONT))


def sentence(chapter: int, section: int, n: int) -> str:
    return (
        f"Rule {chapter}.{section}.{n} asks the officer on duty to write down what the customer said, at which hour it "
        f"was said, and which of the {n + 2} papers named in the annex were shown, before anything else is done."
    )


def draw_down(canvas: Canvas, x: float, top: float, width: float, flowables: list[Paragraph]) -> float:
    for flowable in flowables:
        _, height = flowable.wrap(width, HEIGHT)
        flowable.drawOn(canvas, x, top - height)
        top -= height + flowable.style.spaceAfter
    assert top > MARGIN, "the page is too full"
    return top


def draw_front(canvas: Canvas, manual: Manual) -> None:
    for number, title in enumerate(("Manual of the night desk", "Preface", "Contents", "Notation"), 1):
        canvas.bookmarkPage(title)
        canvas.addOutlineEntry(title, title, level=0)
        text = f"The page called {title.lower()} belongs to the front matter."
        draw_down(canvas, MARGIN, HEIGHT - 90, WIDTH - 2 * MARGIN, [Paragraph(title, CHAPTER), Paragraph(text, BODY)])
        manual.paragraphs.append((number, (title,), text))
        if title == "Contents":
            for row in range(1, 7):
                canvas.setFont("Helvetica", 10)
                canvas.drawString(MARGIN, HEIGHT - 150 - 14 * row, f"{row} Duties of watch {row}")
                canvas.drawRightString(WIDTH - MARGIN, HEIGHT - 150 - 14 * row, str(6 * row - 5))
        finish(canvas, number)


def finish(canvas: Canvas, number: int) -> None:
    canvas.setFont("Helvetica", 8)
    canvas.drawString(MARGIN, HEIGHT - 40, "Manual of the night desk")
    canvas.line(MARGIN, HEIGHT - 44, WIDTH - MARGIN, HEIGHT - 44)
    canvas.drawCentredString(WIDTH / 2, 30, f"Page {label_of(number)}")
    canvas.showPage()


def draw_figure(canvas: Canvas) -> None:
    from PIL import Image

    picture = io.BytesIO()
    Image.linear_gradient("L").save(picture, "PNG")
    picture.seek(0)
    canvas.drawImage(ImageReader(picture), MARGIN, 200, WIDTH - 2 * MARGIN, 400)


def draw_table(canvas: Canvas, top: float) -> None:
    rows = [
        ["Watch", "Begins", "Officers on duty"],
        ["First", "22:00", Paragraph("Two, and a third one on the nights before a holiday", BODY)],
        ["Second", "02:00", "One"],
    ]
    table = Table(rows, colWidths=[80, 80, COLUMN * 2 + GUTTER - 160])
    table.setStyle(TableStyle([("GRID", (0, 0), (-1, -1), 0.5, "black"), ("FONTSIZE", (0, 0), (-1, -1), 10)]))
    _, height = table.wrap(WIDTH, HEIGHT)
    top = draw_down(canvas, MARGIN, top, WIDTH, [Paragraph("Table 1: Watches of the night", BODY)])
    table.drawOn(canvas, MARGIN, top - height)


def draw_body_page(canvas: Canvas, manual: Manual, number: int) -> None:
    """Six pages a chapter, two a section: headings on a section's first page, three paragraphs a column."""
    at = number - len(FRONT) - 1
    chapter, section, second = at // 6 + 1, at % 6 // 2 + 1, at % 2
    titles = (f"{chapter} Duties of watch {chapter}", f"{chapter}.{section} What is done at hour {section}")
    left: list[Paragraph] = []
    top = HEIGHT - 80
    if at % 6 == 0:
        canvas.bookmarkPage(titles[0])
        canvas.addOutlineEntry(titles[0], titles[0], level=0)
        top = draw_down(canvas, MARGIN, top, WIDTH - 2 * MARGIN, [Paragraph(titles[0], CHAPTER)])
    if not second:
        canvas.bookmarkPage(titles[1])
        canvas.addOutlineEntry(titles[1], titles[1], level=1)
        left.append(Paragraph(titles[1], SECTION))
    texts = [sentence(chapter, section, n + 6 * second) for n in range(1, 7)]
    manual.paragraphs += [(number, titles, text) for text in texts]
    left += [Paragraph(text, BODY) for text in texts[:3]]
    right = [Paragraph(text, BODY) for text in texts[3:]]
    bottom = draw_down(canvas, MARGIN, top, COLUMN, left)
    bottom = min(bottom, draw_down(canvas, MARGIN + COLUMN + GUTTER, top, COLUMN, right))
    if number == TABLE_PAGE:
        draw_table(canvas, bottom - 20)
    if number == FOOTNOTE_PAGE:
        canvas.line(MARGIN, 98, MARGIN + 100, 98)
        draw_down(canvas, MARGIN, 95, COLUMN, [Paragraph("1 Hours are those of the clock in the hall.", NOTE)])
    finish(canvas, number)


def draw_manual() -> Manual:
    """Four pages of front matter and 36 of six chapters."""
    manual = Manual()
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, pageCompression=1)
    canvas.setTitle("Manual of the night desk")
    canvas.addPageLabel(0, style="ROMAN_LOWER")
    canvas.addPageLabel(len(FRONT), style="ARABIC")
    draw_front(canvas, manual)
    for number in range(len(FRONT) + 1, 41):
        if number == FIGURE_PAGE:
            draw_figure(canvas)
            finish(canvas, number)
        else:
            draw_body_page(canvas, manual, number)
    canvas.save()
    manual.data = buffer.getvalue()
    return manual


@pytest.fixture(scope="module")
def manual() -> Manual:
    return draw_manual()


@pytest.fixture(scope="module")
def parsed(manual: Manual) -> Parsed:
    return load_pdf(manual.data, "manual.pdf", Loading(ocr="off"))


def test_every_page_has_its_number_label_and_state(parsed: Parsed) -> None:
    assert [page.number for page in parsed.pages] == list(range(1, 41))
    assert [page.label for page in parsed.pages] == [label_of(number) for number in range(1, 41)]
    states = {page.number: page.state for page in parsed.pages if page.state is not PageState.TEXT}
    assert states == {FIGURE_PAGE: PageState.NEEDS_OCR}
    figure = parsed.pages[FIGURE_PAGE - 1]
    assert figure.start == figure.end
    assert figure.reason.startswith("it has no text, and a picture or drawing covers 38% of it; ")


def test_every_paragraph_is_whole_in_order_and_on_its_page_under_its_headings(manual: Manual, parsed: Parsed) -> None:
    read = [
        (element.page, element.heading_path, parsed.text[element.start : element.end])
        for element in parsed.elements
        if element.kind is ElementKind.PARAGRAPH
    ]
    assert read == manual.paragraphs


def test_headings_are_those_of_the_outline(parsed: Parsed) -> None:
    headings = [parsed.text[e.start : e.end] for e in parsed.elements if e.kind is ElementKind.HEADING]
    front = ["Manual of the night desk", "Preface", "Contents", "Notation"]
    chapters = [
        title
        for chapter in range(1, 7)
        for title in (
            f"{chapter} Duties of watch {chapter}",
            *(f"{chapter}.{section} What is done at hour {section}" for section in range(1, 4)),
        )
    ]
    assert headings == front + chapters


def test_running_headers_and_footers_are_gone(parsed: Parsed) -> None:
    assert parsed.text.count("Manual of the night desk") == 1
    assert "Page " not in parsed.text


def test_the_footnote_ends_its_page(parsed: Parsed) -> None:
    notes = [element for element in parsed.elements if element.kind is ElementKind.FOOTNOTE]
    assert [(parsed.text[note.start : note.end], note.page) for note in notes] == [
        ("1 Hours are those of the clock in the hall.", FOOTNOTE_PAGE)
    ]
    assert notes[0].end == parsed.pages[FOOTNOTE_PAGE - 1].end


def test_the_table_has_a_row_a_line_and_a_caption(parsed: Parsed) -> None:
    at = next(at for at, element in enumerate(parsed.elements) if element.kind is ElementKind.TABLE)
    table, caption = parsed.elements[at], parsed.elements[at - 1]
    assert table.page == TABLE_PAGE
    assert parsed.text[table.start : table.end].split("\n") == [
        "Watch | Begins | Officers on duty",
        "First | 22:00 | Two, and a third one on the nights before a holiday",
        "Second | 02:00 | One",
    ]
    assert caption.kind is ElementKind.CAPTION
    assert parsed.text[caption.start : caption.end] == "Table 1: Watches of the night"
    assert parsed.text.count("Two, and a third one") == 1


def test_the_contents_page_makes_a_list_and_no_headings(parsed: Parsed) -> None:
    lists = [element for element in parsed.elements if element.kind is ElementKind.LIST]
    assert [(e.page, parsed.text[e.start : e.end].split("\n")[0]) for e in lists] == [(3, "1 Duties of watch 1 1")]


def test_pages_cover_the_text_in_order(parsed: Parsed) -> None:
    for element in parsed.elements:
        page = parsed.pages[(element.page or 0) - 1]
        assert page.start <= element.start < element.end <= page.end
    for before, after in zip(parsed.pages, parsed.pages[1:], strict=False):
        assert before.end <= after.start
