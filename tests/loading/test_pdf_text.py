"""PDF text: reading order, paragraphs, divided words, ligatures, directions, rotation."""

from __future__ import annotations

import pytest
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from citewell.types import ElementKind
from tests.loading.checks import of_kind, pieces
from tests.loading.pdfs import HEIGHT, WIDTH, fill, load, write


def test_lines_become_paragraphs_by_gaps_and_by_indents() -> None:
    def page(canvas: Canvas) -> None:
        y = write(canvas, 70, 700, "The first paragraph has a line that is quite full of words", "and a second one.")
        y = write(canvas, 70, y - 8, "After a gap comes another one, which is as wide as all of them,")
        y = write(canvas, 70, y, "and ends here.")
        y = write(canvas, 82, y, "An indent begins the third, which has no gap above it, but has")
        write(canvas, 70, y, "a last line.")

    assert of_kind(load(page), ElementKind.PARAGRAPH) == [
        "The first paragraph has a line that is quite full of words and a second one.",
        "After a gap comes another one, which is as wide as all of them, and ends here.",
        "An indent begins the third, which has no gap above it, but has a last line.",
    ]


@pytest.mark.parametrize(
    ("before", "after", "joined"),
    [
        ("a long para-", "graph of words", "a long paragraph of words"),
        ("decline code R-", "17 is meant", "decline code R-17 is meant"),
        ("within 120-", "day limits it is", "within 120-day limits it is"),
        ("the Anglo-", "Saxon way of it", "the Anglo-Saxon way of it"),
        ("a well-", "known thing, this", "a well-known thing, this"),
        ("one of them -", "the other stays", "one of them - the other stays"),
    ],
)
def test_a_word_divided_at_the_end_of_a_line_is_put_together(before: str, after: str, joined: str) -> None:
    def page(canvas: Canvas) -> None:
        write(canvas, 70, 600, "What is well-known needs no proof.")
        write(canvas, 70, 700, f"Some words stand in front of it, then comes {before}", after)

    assert f"Some words stand in front of it, then comes {joined}" in load(page).text


def test_soft_hyphens_and_ligatures_leave_plain_letters() -> None:
    pdfmetrics.registerFont(TTFont("Vera", "Vera.ttf"))

    def page(canvas: Canvas) -> None:
        write(
            canvas, 70, 700, "The of\ufb01ce \ufb02ows over in\u00adside a word that is di\u00ad", "vided.", font="Vera"
        )

    assert load(page).text == "The office flows over inside a word that is divided."


def test_the_left_column_is_read_before_the_right_and_the_title_first() -> None:
    def page(canvas: Canvas) -> None:
        left = [f"left column line {n} has words enough" for n in range(8)]
        right = [f"right column line {n} has words enough" for n in range(8)]
        write(canvas, 330, 650, *right)
        write(canvas, 70, 650, *left)
        canvas.setFont("Helvetica-Bold", 16)
        canvas.drawCentredString(WIDTH / 2, 700, "A title over both of the columns of this page")

    text = load(page).text
    assert text.startswith("A title over both of the columns of this page\n\nleft column line 0")
    assert text.index("left column line 7") < text.index("right column line 0") < text.index("right column line 7")


def test_a_sentence_goes_on_from_one_column_to_the_next() -> None:
    def page(canvas: Canvas) -> None:
        write(canvas, 70, 650, *[f"left column line {n} has many words" for n in range(6)])
        write(canvas, 330, 650, *[f"right column line {n} has many words" for n in range(6)])

    assert "left column line 5 has many words right column line 0 has many words" in load(page).text


def test_three_columns() -> None:
    def page(canvas: Canvas) -> None:
        for x, name in ((50, "one"), (220, "two"), (390, "three")):
            write(canvas, x, 650, *[f"column {name} with line {n} of it" for n in range(8)])

    text = load(page).text
    assert text.index("one with line 7") < text.index("two with line 0")
    assert text.index("two with line 7") < text.index("three with line 0")


def test_a_page_turned_by_its_rotate_entry_reads_like_an_upright_one() -> None:
    def page(canvas: Canvas) -> None:
        canvas.setPageRotation(90)  # reportlab makes the page 842 points wide and 595 high for it
        write(canvas, 70, 500, "Drawn upright on a page that is shown turned,", "in two lines.")

    parsed = load(page)
    assert pieces(parsed) == [(ElementKind.PARAGRAPH, "Drawn upright on a page that is shown turned, in two lines.")]
    # A reader sees the text run down the page: its first letter is 70 points below the top, 500 from the left.
    assert parsed.elements[0].box == pytest.approx((486, 70, 508, 70 + 204), abs=4)


def test_text_turned_on_the_page_comes_after_the_upright_text() -> None:
    def page(canvas: Canvas) -> None:
        canvas.saveState()
        canvas.rotate(90)
        canvas.drawString(200, -40, "A note along the margin")
        canvas.restoreState()
        write(canvas, 70, 700, *fill(3))

    parsed = load(page)
    assert parsed.text.endswith("\n\nA note along the margin")
    assert parsed.elements[-1].box == pytest.approx((32, HEIGHT - 305, 42, HEIGHT - 200), abs=4)


def test_a_raised_figure_never_becomes_part_of_a_number() -> None:
    def page(canvas: Canvas) -> None:
        text = canvas.beginText(70, 700)
        text.setFont("Helvetica", 10)
        text.textOut("The limit is 120")
        text.setFont("Helvetica", 6)
        text.setRise(4)
        text.textOut("1")
        text.setFont("Helvetica", 10)
        text.setRise(0)
        text.textOut(" for every customer")
        canvas.drawText(text)

    assert load(page).text == "The limit is 120 ¹ for every customer"


def test_bullets_and_numbered_items_are_lists_with_an_item_a_line() -> None:
    def page(canvas: Canvas) -> None:
        y = write(canvas, 70, 700, "Before anything else the agent, who has read this:")
        for mark, first, second in (
            ("•", "asks for the number of the card", "and the day"),
            ("•", "blocks the card", ""),
        ):
            canvas.drawString(80, y, mark)
            canvas.drawString(92, y, first)
            canvas.drawString(92, y - 12, second)
            y -= 24 if second else 12
        write(canvas, 70, y - 10, "(a) first case, and", "(b) second case")

    assert pieces(load(page)) == [
        (ElementKind.PARAGRAPH, "Before anything else the agent, who has read this:"),
        (
            ElementKind.LIST,
            "• asks for the number of the card and the day\n• blocks the card\n(a) first case, and\n(b) second case",
        ),
    ]


def test_code_keeps_its_lines_and_indents() -> None:
    def page(canvas: Canvas) -> None:
        y = write(canvas, 70, 700, *fill(6))
        write(canvas, 70, y - 10, "if score > 85:", "    block(card)", "    tell(customer)", font="Courier", size=9)

    assert of_kind(load(page), ElementKind.CODE) == ["if score > 85:\n    block(card)\n    tell(customer)"]


def test_the_title_is_the_properties_or_the_largest_text_or_the_file_name() -> None:
    def page(canvas: Canvas) -> None:
        write(canvas, 70, 740, "The great title", size=20)
        write(canvas, 70, 700, *fill(5))

    def plain(canvas: Canvas) -> None:
        write(canvas, 70, 700, *fill(5))

    assert load(page, title="Given").title == "Given"
    assert load(page, title="Microsoft Word - draft.doc").title == "The great title"
    assert load(plain, title="untitled").title == "test"
