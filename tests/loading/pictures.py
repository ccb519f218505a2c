"""Pages of `pdfs` as a scanner gives them: pixels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pypdfium2
from numpy.typing import NDArray
from reportlab.pdfgen.canvas import Canvas

from tests.loading.pdfs import draw, write

WIDTH, HEIGHT = 400, 160
"""Of a page in points: a slip of paper, since looking at an A4 page takes seconds."""
LETTER = ("The fee for a payment abroad is 12 pounds.", "It is due on the day of the payment.")


def letter(canvas: Canvas) -> None:
    canvas.setPageSize((WIDTH, HEIGHT))
    write(canvas, 40, 100, *LETTER, size=14)


def render(page: Callable[[Canvas], object], dpi: float = 200) -> NDArray[np.uint8]:
    """(height, width, 3) red, green, blue."""
    with pypdfium2.PdfDocument(draw(page)) as document:
        pixels: NDArray[np.uint8] = document[0].render(scale=dpi / 72, rev_byteorder=True).to_numpy()[:, :, :3].copy()
    return pixels
