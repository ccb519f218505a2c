"""PDF tables: ruled and unruled ones, merged cells, captions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, Table, TableStyle

from citewell.types import ElementKind
from tests.loading.checks import of_kind, pieces
from tests.loading.pdfs import HEIGHT, fill, load, write

GRID = ("GRID", (0, 0), (-1, -1), 0.5, "black")
CELL = ParagraphStyle("cell", fontName="Helvetica", fontSize=10, leading=12)
FEES = [["Step", "Debit", "Credit"], ["First", "£12.00", "£18.00"], ["Second", "£5.00", "£6.50"]]


def draw_table(canvas: Canvas, rows: Sequence[Sequence[Any]], *styles: tuple[Any, ...], width: float = 100) -> float:
    """A table from y = 600 downwards; returns its lower edge."""
    table = Table(rows, colWidths=[width] * len(rows[0]))
    table.setStyle(TableStyle(styles))
    _, height = table.wrap(500, HEIGHT)
    table.drawOn(canvas, 70, 600 - height)
    return float(600 - height)


def table_of(*args: Any, **options: Any) -> list[str]:
    (text,) = of_kind(load(lambda canvas: draw_table(canvas, *args, **options)), ElementKind.TABLE)
    return text.split("\n")


def test_a_ruled_table_stands_between_its_paragraphs_and_is_not_said_twice() -> None:
    def page(canvas: Canvas) -> None:
        write(canvas, 70, 660, "A paragraph comes before the table.")
        write(canvas, 70, 610, "Table 4-4. Fees by kind of card")
        bottom = draw_table(canvas, FEES, GRID)
        write(canvas, 70, bottom - 30, "Another paragraph comes after the table.")

    assert pieces(load(page)) == [
        (ElementKind.PARAGRAPH, "A paragraph comes before the table."),
        (ElementKind.CAPTION, "Table 4-4. Fees by kind of card"),
        (ElementKind.TABLE, "Step | Debit | Credit\nFirst | £12.00 | £18.00\nSecond | £5.00 | £6.50"),
        (ElementKind.PARAGRAPH, "Another paragraph comes after the table."),
    ]


@pytest.mark.parametrize(
    "styles",
    [
        [("INNERGRID", (0, 0), (-1, -1), 0.5, "black")],  # open at its sides, and at top and bottom
        [("BOX", (0, 0), (-1, -1), 1, "black"), ("INNERGRID", (0, 0), (-1, -1), 0.25, "grey")],
        [GRID, ("BACKGROUND", (0, 0), (-1, 0), "darkgreen"), ("TEXTCOLOR", (0, 0), (-1, 0), "white")],
        [GRID, ("LEFTPADDING", (0, 0), (-1, -1), 1), ("ALIGN", (0, 0), (-1, -1), "RIGHT")],
        [("LINEBELOW", (0, 0), (-1, 0), 1, "black")],  # hardly ruled at all: its cells stand in columns
        [],
    ],
)
def test_ways_of_ruling(styles: list[tuple[Any, ...]]) -> None:
    rows = [*FEES, ["Third", "£7.00", "£9.00"]]
    assert table_of(rows, *styles) == [" | ".join(row) for row in rows]


def test_a_cell_of_several_lines_is_one_cell() -> None:
    rows = [
        ["Code", "Meaning"],
        ["R-17", Paragraph("Suspected fraud; the card is blocked at once", CELL)],
        ["R-71", "x"],
    ]
    assert table_of(rows, GRID) == ["Code | Meaning", "R-17 | Suspected fraud; the card is blocked at once", "R-71 | x"]


def test_a_cell_over_several_rows_is_said_in_each_and_one_over_columns_names_them_in_the_header() -> None:
    rows = [
        ["Kind", "Fee in pounds", ""],
        ["", "Debit", "Credit"],
        ["Abroad", "2", "3"],
        ["", "4", "5"],
    ]
    spans = [("SPAN", (1, 0), (2, 0)), ("SPAN", (0, 0), (0, 1)), ("SPAN", (0, 2), (0, 3))]
    assert table_of(rows, GRID, *spans) == [
        "Kind | Fee in pounds Debit | Fee in pounds Credit",
        "Abroad | 2 | 3",
        "Abroad | 4 | 5",
    ]


def test_a_first_row_over_the_whole_width_is_the_caption() -> None:
    def page(canvas: Canvas) -> None:
        draw_table(canvas, [["Fees of the year", "", ""], *FEES], GRID, ("SPAN", (0, 0), (-1, 0)))

    assert pieces(load(page)) == [
        (ElementKind.CAPTION, "Fees of the year"),
        (ElementKind.TABLE, "\n".join(" | ".join(row) for row in FEES)),
    ]


def test_rows_without_lines_between_ruled_columns() -> None:
    rows = [["a", "1", "x"], ["b", "2", "y"], ["c", "3", "z"], ["d", "4", "w"]]
    styles = [("BOX", (0, 0), (-1, -1), 1, "black"), ("LINEAFTER", (0, 0), (-1, -1), 1, "black")]
    head = ("LINEBELOW", (0, 0), (-1, 0), 1, "black")
    assert table_of([["p", "q", "r"], *rows], *styles, head) == ["p | q | r", *(" | ".join(row) for row in rows)]


def test_an_empty_cell_keeps_its_column() -> None:
    rows = [["Step", "Debit", "Credit"], ["First", "", "£18.00"], ["Second", "£5.00", ""]]
    assert table_of(rows, GRID) == ["Step | Debit | Credit", "First |  | £18.00", "Second | £5.00"]


def test_a_frame_around_text_is_no_table() -> None:
    def page(canvas: Canvas) -> None:
        canvas.rect(60, 500, 400, 220)
        write(canvas, 70, 700, *fill(4))

    assert [kind for kind, _ in pieces(load(page))] == [ElementKind.PARAGRAPH]


def test_a_table_drawn_upwards_on_the_page_is_read_as_one() -> None:
    def page(canvas: Canvas) -> None:
        canvas.rotate(90)
        canvas.translate(100, -700)
        draw_table(canvas, FEES, GRID)

    assert of_kind(load(page), ElementKind.TABLE) == ["\n".join(" | ".join(row) for row in FEES)]


def test_a_page_with_a_hundred_thousand_lines_is_read_without_tables() -> None:
    def page(canvas: Canvas) -> None:
        path = canvas.beginPath()
        for n in range(25_000):
            path.rect(70 + n % 400, 100 + n // 400, 5, 5)
        canvas.drawPath(path)
        for n in range(11_000):
            canvas.line(70, 100 + n / 20, 400, 100 + n / 20)
        write(canvas, 70, 750, *fill(2))

    assert pieces(load(page)) == [(ElementKind.PARAGRAPH, " ".join(fill(2)))]
