"""PDF pages: labels, states and their reasons, running headers and footers, footnotes; files that are refused."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import pytest
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from citewell.errors import DamagedFile, EmptyFile, LimitExceeded, PasswordNeeded
from citewell.loading.pdf import load_pdf
from citewell.loading.pdf.properties import iso_date
from citewell.settings import Loading
from citewell.types import ElementKind, PageState
from tests.loading.checks import of_kind, pieces
from tests.loading.pdfs import HEIGHT, LIMITS, WIDTH, draw, fill, load, write


def picture(alpha: int | None = None) -> ImageReader:
    buffer = io.BytesIO()
    grey = Image.linear_gradient("L").convert("RGB")
    if alpha is not None:
        grey.putalpha(alpha)
    grey.save(buffer, "PNG")
    buffer.seek(0)
    return ImageReader(buffer)


def undrawn(words: str) -> Callable[[Canvas], None]:
    def page(canvas: Canvas) -> None:
        text = canvas.beginText(70, 600)
        text.setTextRenderMode(3)
        text.textLine(words)
        canvas.drawText(text)

    return page


def state_of(page: Callable[[Canvas], object]) -> tuple[PageState, str, str]:
    parsed = load(page)
    return parsed.pages[0].state, parsed.pages[0].reason, parsed.text


def test_labels_are_the_files_own_or_the_numbers() -> None:
    pages = [lambda canvas: write(canvas, 70, 700, "text")] * 5

    def labelled(canvas: Canvas) -> None:
        canvas.addPageLabel(0, style="ROMAN_LOWER")
        canvas.addPageLabel(2, style="ARABIC", start=1)
        canvas.addPageLabel(4, style="ARABIC", start=1, prefix="A-")
        write(canvas, 70, 700, "text")

    assert [page.label for page in load(*pages).pages] == ["1", "2", "3", "4", "5"]
    assert [page.label for page in load(labelled, *pages[1:]).pages] == ["i", "ii", "1", "2", "A-1"]


def test_a_page_with_nothing_is_blank() -> None:
    assert state_of(Canvas.getPageNumber) == (PageState.BLANK, "it has no text", "")


def test_a_picture_of_a_page_needs_ocr_also_with_a_stamp_on_it() -> None:
    def scan(canvas: Canvas) -> None:
        canvas.drawImage(picture(), 0, 0, WIDTH, HEIGHT)

    def stamped(canvas: Canvas) -> None:
        scan(canvas)
        write(canvas, 70, 20, "Exhibit 7")

    how = 'set ocr = "auto" in [loading] to have it read'
    reason = f"it has no text, and a picture or drawing covers 100% of it; {how}"
    assert state_of(scan) == (PageState.NEEDS_OCR, reason, "")
    reason = f"a picture covers 100% of it, and only 9 signs are text; {how}"
    assert state_of(stamped) == (PageState.NEEDS_OCR, reason, "Exhibit 7")


def test_a_drawing_without_text_needs_ocr_and_a_ruled_empty_line_does_not() -> None:
    def chart(canvas: Canvas) -> None:
        for n in range(10):
            canvas.rect(100 + 30 * n, 300, 20, 20 * n + 10, fill=1)

    assert state_of(chart)[0] is PageState.NEEDS_OCR
    assert state_of(lambda canvas: canvas.line(70, 700, 500, 700))[0] is PageState.BLANK


def test_a_small_picture_beside_text_changes_nothing() -> None:
    def page(canvas: Canvas) -> None:
        canvas.drawImage(picture(), 400, 700, 60, 60)
        write(canvas, 70, 650, *fill(4))

    assert state_of(page)[:2] == (PageState.TEXT, "")


def test_without_ocr_the_text_layer_of_a_scan_is_kept_and_named() -> None:
    def page(canvas: Canvas) -> None:
        canvas.drawImage(picture(), 0, 0, WIDTH, HEIGHT)
        undrawn("What the machine read in the picture")(canvas)

    state, reason, text = state_of(page)
    assert (state, text) == (PageState.SUSPICIOUS, "What the machine read in the picture")
    assert reason.startswith("30 signs not drawn but kept")


def test_text_under_a_picture_of_the_whole_page_is_a_text_layer_unless_the_picture_lets_it_through() -> None:
    def page(alpha: int) -> Callable[[Canvas], None]:
        def drawn(canvas: Canvas) -> None:
            write(canvas, 70, 700, *fill(4))
            canvas.drawImage(picture(alpha), 0, 0, WIDTH, HEIGHT, mask="auto")

        return drawn

    state, reason, text = state_of(page(255))
    assert (state, text) == (PageState.SUSPICIOUS, " ".join(fill(4)))
    assert "signs not drawn but kept" in reason
    assert state_of(page(100)) == (PageState.TEXT, "", " ".join(fill(4)))


@pytest.mark.parametrize(
    ("hide", "reason"),
    [
        (
            lambda canvas: (canvas.setFillColor("white"), canvas.drawString(70, 600, "Obey")),
            "of the background's colour",
        ),
        (lambda canvas: (canvas.setFillAlpha(0), canvas.drawString(70, 600, "Obey")), "of the background's colour"),
        (lambda canvas: canvas.drawString(70, -50, "Obey"), "outside the page"),
        (lambda canvas: (canvas.setFontSize(0.5), canvas.drawString(70, 600, "Obey")), "too small to be seen"),
        (undrawn("Obey"), "not drawn"),
    ],
)
def test_text_that_no_reader_sees_is_left_out_and_named(hide: Callable[[Canvas], object], reason: str) -> None:
    def page(canvas: Canvas) -> None:
        write(canvas, 70, 700, "What everyone can read")
        hide(canvas)

    state, found, text = state_of(page)
    assert (state, text) == (PageState.SUSPICIOUS, "What everyone can read")
    assert found.startswith(f"4 signs {reason} left out")


def test_white_text_on_a_dark_ground_is_seen() -> None:
    def page(canvas: Canvas) -> None:
        canvas.setFillColor("darkblue")
        canvas.rect(60, 680, 400, 40, fill=1)
        canvas.setFillColor("white")
        canvas.drawString(70, 700, "White on blue")

    assert state_of(page) == (PageState.TEXT, "", "White on blue")


def test_running_headers_and_footers_go_with_their_page_numbers() -> None:
    def page(number: int) -> Callable[[Canvas], None]:
        def drawn(canvas: Canvas) -> None:
            write(canvas, 70, HEIGHT - 40, "The manual" if number % 2 else "Chapter one", size=8)
            write(
                canvas, 70, HEIGHT - 80, f"Section {number} of the text is about {number}.", *fill(3, f"page {number}")
            )
            write(canvas, 250, 30, f"Page {number} of 6", size=8)

        return drawn

    parsed = load(*map(page, range(1, 7)))
    assert of_kind(parsed, ElementKind.PARAGRAPH)[::2] == [
        f"Section {number} of the text is about {number}." for number in range(1, 7)
    ]
    assert "manual" not in parsed.text
    assert "Chapter" not in parsed.text
    assert " of 6" not in parsed.text


def test_running_titles_of_short_chapters_go_too() -> None:
    def page(number: int) -> Callable[[Canvas], None]:
        def drawn(canvas: Canvas) -> None:
            title = f"Matters of part {'abc'[number // 2]}"
            chapter = f"{number // 2 + 1} {title}"
            if number % 2 == 0:
                canvas.bookmarkPage(chapter)
                canvas.addOutlineEntry(chapter, chapter)
                write(canvas, 70, HEIGHT - 120, chapter, size=16)
            else:
                write(canvas, 70, HEIGHT - 40, f"Chapter {number // 2 + 1}: {title}", size=8)
            write(canvas, 70, HEIGHT - 150, *fill(5, f"page {number}"))

        return drawn

    parsed = load(*map(page, range(6)))
    assert "Chapter" not in parsed.text
    assert of_kind(parsed, ElementKind.HEADING) == [f"{n + 1} Matters of part {'abc'[n]}" for n in range(3)]


def test_equal_pages_and_equal_first_lines_are_not_running_headers() -> None:
    def form(canvas: Canvas) -> None:
        write(canvas, 70, HEIGHT - 60, f"Form {canvas.getPageNumber()}", size=16)
        write(canvas, 70, HEIGHT - 90, "Fill in all of these fields.", *fill(3))

    parsed = load(form, form, form, form)
    assert of_kind(parsed, ElementKind.HEADING) == ["Form 1", "Form 2", "Form 3", "Form 4"]
    assert parsed.text.count("Fill in all of these fields.") == 4


def test_footnotes_come_after_the_body_of_their_page() -> None:
    def page(canvas: Canvas) -> None:
        write(canvas, 70, 90, "1 A note of two lines that is set smaller than", "the text above it.", size=8)
        write(canvas, 70, 68, "2 A second note.", size=8)
        write(canvas, 70, 700, *fill(12))

    found = pieces(load(page, page))
    notes = ["1 A note of two lines that is set smaller than the text above it.", "2 A second note."]
    assert found == 2 * [
        (ElementKind.PARAGRAPH, " ".join(fill(12))),
        *((ElementKind.FOOTNOTE, note) for note in notes),
    ]


def test_a_repeated_watermark_is_left_out_and_a_single_one_is_not() -> None:
    def page(number: int, mark: str) -> Callable[[Canvas], None]:
        def drawn(canvas: Canvas) -> None:
            write(canvas, 70, 700, *fill(3, f"page {number}"))
            canvas.saveState()
            canvas.translate(200, 300)
            canvas.rotate(45)
            write(canvas, 0, 0, mark, size=60)
            canvas.restoreState()

        return drawn

    assert "DRAFT" not in load(*(page(n, "DRAFT") for n in range(4))).text
    assert load(page(1, "VOID")).text.endswith("VOID")


def test_files_that_are_no_pdf_are_refused_with_a_reason() -> None:
    with pytest.raises(EmptyFile):
        load_pdf(b"", "empty.pdf", LIMITS)
    for data in (b"not a PDF", b"%PDF-1.7\n", b"%PDF-1.7\n" + bytes(range(256)) * 20):
        with pytest.raises(DamagedFile, match="Data format error"):
            load_pdf(data, "bad.pdf", LIMITS)


def test_a_truncated_file_is_rebuilt_or_refused() -> None:
    whole = draw(*[lambda canvas: write(canvas, 70, 700, *fill(30))] * 5)
    # Without the table of objects at its end a file is still read; without the list of its pages it cannot be.
    assert len(load_pdf(whole[: whole.rindex(b"xref\n")], "cut.pdf", LIMITS).pages) == 5
    with pytest.raises(DamagedFile, match="cannot be read as a PDF"):
        load_pdf(whole[: len(whole) // 2], "cut.pdf", LIMITS)


def encrypted(user: str) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, encrypt=StandardEncryption(user, "owner", strength=128))
    canvas.drawString(70, 700, "Locked text")
    canvas.save()
    return buffer.getvalue()


def test_a_users_password_is_needed_and_an_owners_is_not() -> None:
    with pytest.raises(PasswordNeeded, match=r"asks for a password.*CITEWELL_SECRETS"):
        load_pdf(encrypted("secret"), "locked.pdf", LIMITS)
    assert load_pdf(encrypted(""), "open.pdf", LIMITS).text == "Locked text"


def test_passwords_are_tried_in_turn_and_never_told() -> None:
    locked = encrypted("secret")
    assert load_pdf(locked, "locked.pdf", LIMITS, ("wrong", "secret", "other")).text == "Locked text"
    with pytest.raises(PasswordNeeded, match="none of the passwords given opens it") as refusal:
        load_pdf(locked, "locked.pdf", LIMITS, ("wr0ng", "Secret"))
    assert "wr0ng" not in str(refusal.value)


def test_the_properties_say_who_made_it_and_when() -> None:
    def page(canvas: Canvas) -> None:
        canvas.setAuthor("Ada of the night desk")
        write(canvas, 70, 700, "text")

    assert "author" not in load(lambda canvas: write(canvas, 70, 700, "text")).metadata  # "anonymous" is no name
    metadata = load(page).metadata
    assert metadata["author"] == "Ada of the night desk"
    assert metadata["created"] == metadata["modified"]
    assert date.fromisoformat(metadata["created"]) <= datetime.now(tz=UTC).date() + timedelta(days=1)


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("D:20240131093000+01'00'", "2024-01-31"),
        ("D:2024", "2024-01-01"),
        ("20240229", "2024-02-29"),
        ("D:20241399", ""),
        ("yesterday", ""),
        ("", ""),
    ],
)
def test_dates_of_the_properties(written: str, day: str) -> None:
    assert iso_date(written) == day


def test_web_and_mail_addresses_belong_to_the_element_that_shows_them() -> None:
    def page(canvas: Canvas) -> None:
        write(canvas, 70, 700, "The tariff is on our site, and", "is sent by mail on demand.")
        write(canvas, 70, 600, "See the annex, or run it.")
        canvas.linkURL("https://bank.example/tariff?of=2026", (70, 698, 200, 710))
        canvas.linkURL("mailto:desk@bank.example", (70, 686, 200, 697))
        canvas.linkURL("https://bank.example/tariff?of=2026", (70, 686, 90, 697))
        canvas.linkURL("javascript:alert(1)", (70, 598, 200, 610))
        canvas.linkURL("file:///etc/passwd", (70, 598, 200, 610))
        canvas.bookmarkPage("annex")
        canvas.linkAbsolute("annex", "annex", (70, 598, 200, 610))

    first, second = load(page).elements
    assert first.links == ("https://bank.example/tariff?of=2026", "mailto:desk@bank.example")
    assert second.links == ()


def test_more_pages_or_text_than_allowed() -> None:
    data = draw(*[lambda canvas: write(canvas, 70, 700, *fill(20))] * 3)
    with pytest.raises(LimitExceeded, match="3 pages; the limit is 2"):
        load_pdf(data, "long.pdf", Loading(max_pages=2))
    with pytest.raises(LimitExceeded, match="bytes of text; the limit is 2,000"):
        load_pdf(data, "long.pdf", Loading(max_text_mb=0.002))
    assert len(load_pdf(data, "long.pdf", Loading(max_pages=3)).pages) == 3


def test_a_page_that_fails_is_reported_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from citewell.loading.pdf import file
    from citewell.loading.pdf.drawing import Drawing, read_drawing
    from citewell.loading.pdf.sheet import Frame

    calls = 0

    def scripted_failure(document: object, page: object, frame: Frame) -> Drawing:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise ValueError("a drawing that cannot be")
        return read_drawing(document, page, frame)

    monkeypatch.setattr(file, "read_drawing", scripted_failure)
    parsed = load(*[lambda canvas: write(canvas, 70, 700, f"Page {canvas.getPageNumber()}")] * 3)
    assert [page.state for page in parsed.pages] == [PageState.TEXT, PageState.FAILED, PageState.TEXT]
    assert parsed.pages[1].reason == "it could not be read: a drawing that cannot be"
    assert parsed.text == "Page 1\n\nPage 3"


def test_threads_may_load_at_once() -> None:
    from concurrent.futures import ThreadPoolExecutor

    data = draw(*[lambda canvas: write(canvas, 70, 700, *fill(20))] * 3)
    with ThreadPoolExecutor(4) as pool:
        texts = set(pool.map(lambda _: load_pdf(data, "same.pdf", LIMITS).text, range(8)))
    assert len(texts) == 1
