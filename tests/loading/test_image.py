"""Pictures: decoded as a viewer shows them, read by OCR, a page each."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageOps
from reportlab.pdfgen.canvas import Canvas

from citewell.errors import DamagedFile, LimitExceeded
from citewell.loading import pulse
from citewell.loading.formats import Format, detect
from citewell.loading.parsed import Parsed
from citewell.loading.scan import image
from citewell.loading.scan.image import load_image
from citewell.settings import Loading
from citewell.types import ElementKind, PageState
from tests.loading.checks import check_spans, pieces
from tests.loading.pdfs import write
from tests.loading.pictures import LETTER, letter, render

LIMITS = Loading(ocr="auto")
OFF = Loading(ocr="off")
DPI = 150
SAID = " ".join(LETTER)


@pytest.fixture(scope="module")
def page() -> Image.Image:
    return Image.fromarray(render(letter, DPI))


def saved(picture: Image.Image, form: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, form, **options)
    return buffer.getvalue()


def load(data: bytes, limits: Loading = LIMITS) -> Parsed:
    assert detect(data, "letter.png") is Format.IMAGE
    parsed = load_image(data, "letter.png", limits)
    check_spans(parsed)
    return parsed


def text(parsed: Parsed) -> str:
    return " ".join(parsed.text.split())


@pytest.mark.parametrize("form", ["PNG", "JPEG", "TIFF", "BMP", "WEBP"])
def test_a_letter_is_read_from_each_format(page: Image.Image, form: str) -> None:
    parsed = load(saved(page, form))
    assert text(parsed) == SAID
    (only,) = parsed.pages
    assert (only.number, only.label, only.state, only.reason) == (1, "1", PageState.TEXT, "")
    assert only.confidence is not None
    assert only.confidence > 0.95
    assert parsed.title == "letter"


def test_each_frame_of_a_tiff_is_a_page_and_each_gives_a_sign_of_life(
    page: Image.Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    beats: list[None] = []
    monkeypatch.setattr(pulse, "_listener", lambda: beats.append(None))
    empty = Image.new("RGB", (300, 200), "white")
    parsed = load(saved(page, "TIFF", save_all=True, append_images=[empty, page.rotate(180)]))
    assert [one.state for one in parsed.pages] == [PageState.TEXT, PageState.BLANK, PageState.TEXT]
    assert [one.confidence is None for one in parsed.pages] == [False, True, False]
    assert text(parsed) == f"{SAID} {SAID}"
    assert {element.page for element in parsed.elements} == {1, 3}
    assert len(beats) == 3


def test_headings_and_tables_are_found_as_in_a_pdf() -> None:
    def sheet(canvas: Canvas) -> None:
        canvas.setPageSize((400, 220))
        write(canvas, 40, 180, "Fees", size=22)
        write(canvas, 40, 150, "What the branch asks for:", size=12)
        canvas.grid([40, 200, 320], [40, 65, 90, 115])
        for row, (name, fee) in enumerate((("Card", "Fee"), ("Debit", "4.50"), ("Credit", "11.25"))):
            write(canvas, 50, 98 - 25 * row, name, size=12)
            write(canvas, 210, 98 - 25 * row, fee, size=12)

    parsed = load(saved(Image.fromarray(render(sheet, DPI)), "PNG", dpi=(DPI, DPI)))
    assert pieces(parsed) == [
        (ElementKind.HEADING, "Fees"),
        (ElementKind.PARAGRAPH, "What the branch asks for:"),
        (ElementKind.TABLE, "Card | Fee\nDebit | 4.50\nCredit | 11.25"),
    ]
    assert parsed.title == "Fees"
    (table,) = (element for element in parsed.elements if element.kind is ElementKind.TABLE)
    assert table.box == pytest.approx((40, 105, 320, 180), abs=2)


def test_a_photograph_is_turned_as_its_camera_says(page: Image.Image) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned clockwise
    parsed = load(saved(page.rotate(90, expand=True), "JPEG", exif=exif, dpi=(DPI, DPI)))
    assert text(parsed) == SAID
    assert parsed.elements[0].box == pytest.approx((38, 49, 310, 82), abs=4)


def as_palette(page: Image.Image) -> Image.Image:
    return page.quantize(8)


def as_transparent(page: Image.Image) -> Image.Image:
    """Black letters on nothing; the nothing is black."""
    clear = Image.new("RGBA", page.size, (0, 0, 0, 0))
    clear.putalpha(ImageOps.invert(page.convert("L")))
    return clear


def as_deep(page: Image.Image) -> Image.Image:
    return Image.fromarray(np.asarray(page.convert("L")).astype(np.uint16) * 16)  # 12 of 16 bits


@pytest.mark.parametrize(
    "changed",
    [
        as_palette,
        as_transparent,
        as_deep,
        lambda page: page.convert("L"),
        lambda page: page.convert("1"),
        lambda page: page.convert("CMYK"),
    ],
    ids=["palette", "transparent", "16 bits", "grey", "black and white", "CMYK"],
)
def test_colours_are_decoded_as_a_viewer_does(page: Image.Image, changed: Any) -> None:
    assert text(load(saved(changed(page), "TIFF" if changed(page).mode == "CMYK" else "PNG"))) == SAID


def test_a_fax_has_half_the_lines(page: Image.Image) -> None:
    squeezed = page.convert("1").resize((page.width, page.height // 2))
    parsed = load(saved(squeezed, "TIFF", dpi=(DPI, DPI / 2), compression="group4"))
    assert text(parsed) == SAID
    assert parsed.elements[0].box == pytest.approx((38, 49, 310, 82), abs=4)


@pytest.mark.parametrize(("said", "wide"), [((300, 300), 198), ((72, 72), 826), (None, 627), ((2, 2), 627)])
def test_dots_an_inch_are_believed_where_they_make_a_page(said: tuple[int, int] | None, wide: float) -> None:
    plain = Image.new("L", (827, 1169), 255)
    ImageDraw.Draw(plain).line((100, 100, 700, 100), fill=0, width=3)
    data = saved(plain, "PNG", **({"dpi": said} if said else {}))
    with Image.open(io.BytesIO(data)) as opened:
        pixels, dpi = image._decoded(opened)
    assert pixels.shape == (1169, 827)
    assert 827 * 72 / dpi == pytest.approx(wide, rel=0.06)


def test_a_photograph_without_text_is_blank() -> None:
    noise = np.random.default_rng(3).integers(90, 130, (240, 320, 3)).astype(np.uint8)
    noise[60:180, 80:240] += 80
    parsed = load(saved(Image.fromarray(noise), "PNG"))
    assert [(one.state, one.reason) for one in parsed.pages] == [
        (PageState.BLANK, "it has no text, and OCR reads none")
    ]


def test_without_ocr_the_page_says_how_to_get_it(page: Image.Image, monkeypatch: pytest.MonkeyPatch) -> None:
    data = saved(page, "PNG")
    (off,) = load(data, OFF).pages
    assert off.state is PageState.NEEDS_OCR
    assert "ocr =" in off.reason

    def scripted_absence() -> str:
        return ""

    monkeypatch.setattr(image, "available", scripted_absence)
    (missing,) = load(data).pages
    assert missing.state is PageState.NEEDS_OCR
    assert "pip install 'citewell[ocr]'" in missing.reason


@pytest.mark.parametrize(("size", "form"), [((20_000, 5_001), "PNG"), ((20_000, 10_000), "TIFF")])
def test_more_pixels_than_any_page_has_are_refused_unseen(size: tuple[int, int], form: str) -> None:
    data = saved(Image.new("1", size), form, **({"compression": "group4"} if form == "TIFF" else {}))
    assert len(data) < 100_000
    with pytest.raises(LimitExceeded, match="pixels"):
        load(data)


def test_pixels_are_counted_in_each_frame() -> None:
    first, second = Image.new("1", (10, 10)), Image.new("1", (20_000, 5_001))
    data = saved(first, "TIFF", save_all=True, append_images=[second], compression="group4")
    with pytest.raises(LimitExceeded, match="pixels"):
        load(data, OFF)


def test_more_frames_than_allowed_are_refused() -> None:
    frame = Image.new("1", (10, 10))
    with pytest.raises(LimitExceeded, match="3 pages"):
        load(saved(frame, "TIFF", save_all=True, append_images=[frame, frame]), Loading(max_pages=2))


@pytest.mark.parametrize("keep", [0.5, 60])
@pytest.mark.parametrize("form", ["PNG", "JPEG", "TIFF", "BMP"])
def test_a_cut_off_file_is_damaged(page: Image.Image, form: str, keep: float) -> None:
    data = saved(page, form)
    with pytest.raises(DamagedFile, match="as a picture"):
        load_image(data[: int(keep * len(data)) if keep < 1 else int(keep)], "letter.png", OFF)


def test_a_frame_that_does_not_decode_costs_only_itself(page: Image.Image) -> None:
    data = saved(page, "TIFF", save_all=True, append_images=[page], compression="tiff_deflate")
    # The strips of the first frame come before its directory; its second byte makes the stream wrong.
    spoilt = data[:8] + bytes(400) + data[408:]
    parsed = load_image(spoilt, "letter.tif", OFF)
    assert [one.state for one in parsed.pages] == [PageState.FAILED, PageState.NEEDS_OCR]
