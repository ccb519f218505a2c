"""PDF headings: from bookmarks, from type, and neither from contents pages nor from running headers."""

from __future__ import annotations

from collections.abc import Callable

from reportlab.pdfgen.canvas import Canvas

from citewell.loading.parsed import Parsed
from citewell.types import ElementKind
from tests.loading.checks import of_kind, path_of, pieces
from tests.loading.pdfs import HEIGHT, WIDTH, fill, load, write


def paths(parsed: Parsed) -> list[tuple[str, ...]]:
    return [element.heading_path for element in parsed.elements if element.kind is ElementKind.HEADING]


def marked(canvas: Canvas, title: str, level: int) -> None:
    canvas.bookmarkPage(title)
    canvas.addOutlineEntry(title, title, level=level)


def test_bookmarks_give_titles_and_depth_whatever_the_type() -> None:
    def page(canvas: Canvas) -> None:
        marked(canvas, "4 Disputes and chargebacks", 0)
        marked(canvas, "4.2 Time limits", 1)
        y = write(canvas, 70, 740, "4 Disputes and chargebacks")
        y = write(canvas, 70, y - 10, "Words between the two.")
        y = write(canvas, 70, y - 10, "4.2 Time limits")
        write(canvas, 70, y, "The limit is 120 days of the date of the payment, and 4.2 Time limits", "is its section.")

    parsed = load(page)
    assert paths(parsed) == [("4 Disputes and chargebacks",), ("4 Disputes and chargebacks", "4.2 Time limits")]
    assert path_of(parsed, "Words between") == ("4 Disputes and chargebacks",)
    assert path_of(parsed, "The limit is 120 days") == ("4 Disputes and chargebacks", "4.2 Time limits")


def test_a_bookmark_finds_a_title_of_two_lines_and_one_that_has_its_number_only_on_the_page() -> None:
    def page(canvas: Canvas) -> None:
        marked(canvas, "The rights of the customers of this bank and their duties", 0)
        marked(canvas, "Scope", 1)
        y = write(canvas, 70, 740, "The rights of the customers", "of this bank and their duties", size=16)
        y = write(canvas, 70, y - 10, "1.1  Scope", size=12)
        write(canvas, 70, y - 10, *fill(3))

    title = "The rights of the customers of this bank and their duties"
    assert paths(load(page)) == [(title,), (title, "1.1 Scope")]


def test_headings_set_like_items_are_headings_and_the_items_around_them_stay_items() -> None:
    def page(canvas: Canvas) -> None:
        marked(canvas, "2. Interest", 0)
        write(canvas, 70, 740, "1. first item", "2. second item", "2. Interest", "1. third item", "2. fourth item")

    assert pieces(load(page)) == [
        (ElementKind.LIST, "1. first item\n2. second item"),
        (ElementKind.HEADING, "2. Interest"),
        (ElementKind.LIST, "1. third item\n2. fourth item"),
    ]


def test_a_heading_left_out_of_the_outline_is_known_by_its_looks_or_by_its_number() -> None:
    def page(name: str, bookmark: bool) -> Callable[[Canvas], None]:
        def draw(canvas: Canvas) -> None:
            if bookmark:
                marked(canvas, name, 0)
            y = write(canvas, 70, 740, name, size=16, font="Helvetica-Bold")
            y = write(canvas, 70, y - 10, *fill(3))
            y = write(canvas, 70, y - 10, f"{name[0]}.1 Deeper than the outline", font="Helvetica-Bold")
            y = write(canvas, 70, y - 10, *fill(3))
            write(canvas, 70, y - 10, "Only bold", font="Helvetica-Bold")

        return draw

    parsed = load(page("1 First", True), page("Preface", False), page("2 Second", True))
    assert paths(parsed) == [
        ("1 First",),
        ("1 First", "1.1 Deeper than the outline"),
        ("Preface",),
        ("Preface", "P.1 Deeper than the outline"),
        ("2 Second",),
        ("2 Second", "2.1 Deeper than the outline"),
    ]


def test_without_bookmarks_size_weight_and_numbers_give_the_levels() -> None:
    def cover(canvas: Canvas) -> None:
        write(canvas, 70, 600, "A manual", size=26)
        write(canvas, 70, 500, *fill(2))

    def chapter(number: int) -> Callable[[Canvas], None]:
        def draw(canvas: Canvas) -> None:
            y = write(canvas, 70, 740, f"{number} Chapter", size=18)
            y = write(canvas, 70, y - 10, f"{number}.1 Section", size=13, font="Helvetica-Bold")
            y = write(canvas, 70, y - 10, *fill(4))
            y = write(canvas, 70, y - 10, f"{number}.1.1 Detail", size=13, font="Helvetica-Bold")
            y = write(canvas, 70, y - 10, *fill(4))
            y = write(canvas, 70, y - 10, "In short", font="Helvetica-Bold")
            y = write(canvas, 70, y - 10, *fill(4))
            write(canvas, 70, y - 10, "This bold sentence is a warning and ends like one.", font="Helvetica-Bold")

        return draw

    found = paths(load(cover, chapter(1), chapter(2)))
    assert found[0] == ("A manual",)
    assert found[1:5] == [
        ("1 Chapter",),
        ("1 Chapter", "1.1 Section"),
        ("1 Chapter", "1.1 Section", "1.1.1 Detail"),
        ("1 Chapter", "1.1 Section", "1.1.1 Detail", "In short"),
    ]
    assert found[5] == ("2 Chapter",)
    assert len(found) == 9


def test_a_contents_page_makes_no_headings() -> None:
    def contents(canvas: Canvas) -> None:
        canvas.setFont("Helvetica-Bold", 12)
        for n in range(1, 9):
            y = HEIGHT - 100 - 16 * n
            canvas.drawString(70, y, f"{n} Chapter about {n}")
            canvas.drawRightString(WIDTH - 70, y, str(3 * n))

    def page(canvas: Canvas) -> None:
        y = write(canvas, 70, 740, "1 Chapter about 1", size=16)
        write(canvas, 70, y - 10, *fill(20))

    parsed = load(contents, page)
    assert paths(parsed) == [("1 Chapter about 1",)]
    assert of_kind(parsed, ElementKind.LIST)[0].split("\n")[:2] == ["1 Chapter about 1 3", "2 Chapter about 2 6"]


def test_leaders_of_a_contents_page_shrink_to_three_dots() -> None:
    def contents(canvas: Canvas) -> None:
        write(canvas, 70, 700, *(f"{n}.1 Section {n} ................................. {n}" for n in range(1, 5)))

    assert of_kind(load(contents), ElementKind.LIST) == ["\n".join(f"{n}.1 Section {n} ... {n}" for n in range(1, 5))]


def test_bookmarks_that_name_nothing_on_their_pages_are_no_outline() -> None:
    def page(canvas: Canvas) -> None:
        marked(canvas, "scan0001", 0)
        y = write(canvas, 70, 740, "A heading by its size", size=16)
        write(canvas, 70, y - 10, *fill(5))

    assert paths(load(page)) == [("A heading by its size",)]
