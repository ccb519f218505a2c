"""Damage inside of a PDF: pdfium reads what comes before it, and takes the rest of the page for blank."""

from __future__ import annotations

import io
import re
import zlib

import pytest
from reportlab import rl_config
from reportlab.pdfgen.canvas import Canvas

from citewell.loading.pdf import load_pdf
from citewell.loading.pdf.streams import damage
from citewell.settings import Loading
from tests.loading.pdfs import fill, write

LIMITS = Loading(ocr="off")
TOLD = ("compressed parts of it are damaged (1), and text may be missing or wrong",)


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> bytes:
    monkeypatch.setattr(rl_config, "useA85", 0)
    target = io.BytesIO()
    canvas = Canvas(target, pageCompression=1)
    write(canvas, 72, 750, *fill(40))
    canvas.save()
    return target.getvalue()


def content(data: bytes) -> int:
    """Where the page's compressed content begins."""
    found = re.search(rb"/FlateDecode[^>]*>>\s*stream\r?\n", data)
    assert found is not None
    return found.end()


def test_a_whole_file_has_nothing_to_tell(whole: bytes) -> None:
    parsed = load_pdf(whole, "a.pdf", LIMITS)
    assert parsed.lost == ()
    assert parsed.text.count("Filler line") == 40


def test_a_page_that_is_read_in_part_says_so(whole: bytes) -> None:
    at = content(whole) + 150
    parsed = load_pdf(whole[:at] + b"\xff" * 20 + whole[at + 20 :], "a.pdf", LIMITS)
    assert parsed.text.count("Filler line") < 40
    assert parsed.lost == TOLD


def test_the_checksum_tells_of_a_single_wrong_byte(whole: bytes) -> None:
    start = content(whole)
    unpacking = zlib.decompressobj()
    unpacking.decompress(whole[start:])
    end = len(whole) - len(unpacking.unused_data)
    assert damage(whole[: end - 1] + bytes([whole[end - 1] ^ 1]) + whole[end:]) == TOLD
    assert damage(whole[: start + 100]) == TOLD


def test_what_cannot_be_told_is_not(whole: bytes) -> None:
    broken = bytearray(whole)
    broken[content(whole) + 150] ^= 0xFF
    assert damage(bytes(broken)) == TOLD
    assert damage(bytes(broken) + b"/Encrypt 9 0 R") == ()
    assert damage(bytes(broken).replace(b"/Length", b"/Subtype /Image /Length")) == ()
    assert damage(b">>stream\n" * 1_000) == ()
