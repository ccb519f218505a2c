"""Small PDFs drawn for a test, page by page, so that what stands where is known."""

from __future__ import annotations

import io
from collections.abc import Callable

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from citewell.loading.parsed import Parsed
from citewell.loading.pdf import load_pdf
from citewell.settings import Loading

WIDTH, HEIGHT = A4
LIMITS = Loading(ocr="off")
READING = Loading(ocr="auto")


def draw(*pages: Callable[[Canvas], object], title: str = "A test") -> bytes:
    """A PDF of these pages; each function draws one. Coordinates are PDF's: points from the bottom left corner."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4)
    canvas.setTitle(title)
    for page in pages:
        canvas.setFont("Helvetica", 10)
        page(canvas)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def load(*pages: Callable[[Canvas], object], title: str = "A test", limits: Loading = LIMITS) -> Parsed:
    return load_pdf(draw(*pages, title=title), "test.pdf", limits)


def write(canvas: Canvas, x: float, y: float, *lines: str, size: float = 10, font: str = "Helvetica") -> float:
    """Lines from the base line `y` downwards; returns the base line after them."""
    canvas.setFont(font, size)
    for line in lines:
        canvas.drawString(x, y, line)
        y -= 1.2 * size
    return y


def fill(count: int, word: str = "filler") -> list[str]:
    """Lines of running text, each about 60 signs wide and different from the others."""
    return [f"{word.capitalize()} line {n} of a text that only fills the page as well as it can" for n in range(count)]
