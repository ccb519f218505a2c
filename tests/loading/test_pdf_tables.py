"""PDF tables: ruled and unruled ones, merged cells, captions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, Table, TableStyle

from citewell.loading.parsed import Parsed
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


def header_of(*args: Any, **options: Any) -> int:
    found = load(lambda canvas: draw_table(canvas, *args, **options)).elements
    return next(element.header_rows for element in found if element.kind is ElementKind.TABLE)


WORDS = [["Code", "Meaning", "Deed"], ["A", "fraud", "block"], ["B", "theft", "call"], ["C", "loss", "send"]]
BOLD = ("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold")


@pytest.mark.parametrize(
    ("rows", "styles", "count"),
    [
        (WORDS, [GRID], 0),
        (WORDS, [GRID, BOLD], 1),
        (WORDS, [BOLD], 1),
        (WORDS, [GRID, BOLD, ("FONTNAME", (0, 3), (-1, 3), "Helvetica-Bold")], 0),  # two of four rows are bold
        ([*WORDS, *WORDS[1:]], [GRID, BOLD, ("FONTNAME", (0, -1), (-1, -1), "Helvetica-Bold")], 1),  # a row of sums
        (WORDS, [GRID, ("FONTNAME", (0, 0), (-1, 1), "Helvetica-Bold")], 2),
        (WORDS, [GRID, ("BACKGROUND", (0, 0), (-1, 0), "lightgrey")], 1),
        (WORDS, [("BACKGROUND", (0, 0), (-1, 0), "lightgrey")], 1),
        (WORDS, [GRID, ("ROWBACKGROUNDS", (0, 0), (-1, -1), ["lightgrey", "white"])], 0),
        (WORDS, [GRID, ("BACKGROUND", (0, 0), (-1, -1), "lightgrey")], 0),
        (FEES, [GRID], 1),
        ([["Step", "2025", "2026"], *FEES[1:]], [GRID], 1),
        ([["Step", "Until 1 May 2025", "2026"], *FEES[1:], ["Third", "none", "none"]], [GRID], 1),
        (FEES[1:], [GRID], 0),
        ([["First", "1", "2"], ["Second", "3", "4"], ["Third", "5", "6"]], [], 0),
    ],
)
def test_header_rows_are_told_by_their_looks_or_by_figures_below_them(
    rows: list[list[str]], styles: list[tuple[Any, ...]], count: int
) -> None:
    assert header_of(rows, *styles) == count


def test_two_header_rows_of_which_one_names_groups_are_one() -> None:
    rows = [["Kind", "Fee", ""], ["", "Debit", "Credit"], ["Abroad", "none", "some"], ["Here", "none", "none"]]
    assert header_of(rows, GRID, ("SPAN", (1, 0), (2, 0)), ("SPAN", (0, 0), (0, 1))) == 1


LEDGER = [["Day", "Fee", "Note"], *([f"Day {n}", f"£{n}.00", f"note {n}"] for n in range(1, 61))]


def over_pages(
    rows: list[list[str]], parts: Sequence[int], *, repeat: bool, head: str = "", foot: str = "", unlike: bool = False
) -> Parsed:
    """A table of which each page has a part; `head` stands above all parts but the first, `foot` on the first page."""

    def page(at: int) -> Callable[[Canvas], None]:
        begin = 1 + sum(parts[:at])
        part = rows[begin : begin + parts[at]]
        own = [rows[0], *part] if repeat or at == 0 else part

        def drawn(canvas: Canvas) -> None:
            table = Table(own, colWidths=[80, 120, 150] if unlike and at else [100] * 3)
            table.setStyle(TableStyle([GRID]))
            _, height = table.wrap(500, HEIGHT)
            if at == 0:
                write(canvas, 70, 790, "These are the fees of the year, day by day:")
            elif head:
                write(canvas, 70, 790, head)
            table.drawOn(canvas, 70, 770 - height)
            if foot and at == 0:
                write(canvas, 70, 60, foot, size=7)
            if at + 1 == len(parts):
                write(canvas, 70, 90, "Text after the table.")

        return drawn

    return load(*map(page, range(len(parts))))


@pytest.mark.parametrize("repeat", [True, False])
@pytest.mark.parametrize("head", ["", "Table 1: Fees (continued)"])
def test_a_table_over_pages_is_one_element_whose_pages_stay_right(repeat: bool, head: str) -> None:
    parsed = over_pages(LEDGER, (35, 20, 5), repeat=repeat, head=head)
    assert pieces(parsed)[1] == (ElementKind.TABLE, "\n".join(" | ".join(row) for row in LEDGER))
    table = parsed.elements[1]
    assert (table.header_rows, table.page, table.preamble) == (1, 1, "")
    on_pages = [
        [f"Day {n}" for n in range(61) if f"Day {n} " in parsed.text[page.start : page.end]] for page in parsed.pages
    ]
    assert on_pages == [[f"Day {n}" for n in range(*span)] for span in ((1, 36), (36, 56), (56, 61))]
    for before, after in pairwise(parsed.pages):
        assert before.end < after.start
    assert parsed.text[parsed.pages[2].start :].startswith("Day 56 | ")


def test_a_table_parted_by_a_footnote_has_two_elements_and_the_second_its_header() -> None:
    note = "1 All fees are in pounds."
    again = over_pages(LEDGER, (35, 25), repeat=True, foot=note).elements[3]
    assert (again.header_rows, again.preamble) == (1, "")
    parsed = over_pages(LEDGER, (35, 25), repeat=False, foot=note)
    assert [kind for kind, _ in pieces(parsed)][1:4] == [ElementKind.TABLE, ElementKind.FOOTNOTE, ElementKind.TABLE]
    rest = parsed.elements[3]
    assert (rest.header_rows, rest.preamble) == (0, "Day | Fee | Note")
    assert parsed.text[rest.start : rest.end].startswith("Day 36 | £36.00 | note 36\n")


@pytest.mark.parametrize(
    "options",
    [
        {"repeat": False, "unlike": True},
        {"repeat": True, "unlike": True},
        {"repeat": True, "head": "Table 2: Other fees"},
        {"repeat": False, "head": "The fees of the next year are these:"},
    ],
)
def test_two_tables_on_pages_that_follow_each_other_stay_two(options: dict[str, Any]) -> None:
    assert len(of_kind(over_pages(LEDGER, (35, 25), **options), ElementKind.TABLE)) == 2


def test_a_table_that_ends_high_on_its_page_does_not_go_on_without_its_header() -> None:
    assert len(of_kind(over_pages(LEDGER, (5, 25), repeat=False), ElementKind.TABLE)) == 2
    assert len(of_kind(over_pages(LEDGER, (5, 25), repeat=True), ElementKind.TABLE)) == 1


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
