"""What a page shows beside text: ruling lines, how much is picture, and whether pale words can be seen at all."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from citewell.loading.pdf.sheet import Box, Frame, Rule, Shade, Word

MAX_OBJECTS = 20_000
"""Of a page; a map or a plan may hold a million, and no table is made of so many."""
_MAX_DEPTH = 4
_MAX_SEGMENTS = 200
_SEGMENTS_IN_ALL = 50_000
_MAX_SHADES = 500
_MAX_PIXELS = 4_000_000
_THIN = 2.5
"""Points: a filled rectangle up to this thick is a line."""
_STRAIGHT = 0.5
_WHOLE = 0.8
"""Of the page; a picture of this size hides what is drawn before it."""
_WHITE = 250
_OPAQUE = 255
_CONTRAST = 12
"""Of 255: what a reader needs to see a sign against its background."""

Matrix = tuple[float, float, float, float, float, float]


@dataclass(slots=True)
class Drawing:
    """The rules and shades of a page in `frame`; its shares under images and vector graphics, 0 to 1.

    `covered` are the text objects, by address, that a picture of the whole page is drawn over.
    """

    frame: Frame
    covered: frozenset[int] = frozenset()
    rules: list[Rule] = field(default_factory=list)
    shades: list[Shade] = field(default_factory=list)
    images: list[Box] = field(default_factory=list)
    shapes: list[Box] = field(default_factory=list)
    segments: int = 0

    @property
    def picture(self) -> float:
        return min(sum(_share(box, self.frame) for box in self.images), 1.0)

    @property
    def drawing(self) -> float:
        """The share under the box around all shapes; a few lines and frames do not make a figure."""
        if len(self.shapes) < 5:
            return 0.0
        left, top, right, bottom = zip(*self.shapes, strict=True)
        return min(_share((min(left), min(top), max(right), max(bottom)), self.frame), 1.0)


def read_drawing(document: Any, page: Any, frame: Frame) -> Drawing:
    """Rules and pictures of a page; of one with more than MAX_OBJECTS objects only pictures among the first of them."""
    drawing = Drawing(frame)
    texts: list[Any] = []
    for seen, (drawn, matrix) in enumerate(_objects(page)):
        if seen == MAX_OBJECTS:
            drawing.rules.clear()
            break
        kind = pdfium.FPDFPageObj_GetType(drawn)
        if kind == pdfium.FPDF_PAGEOBJ_PATH:
            _read_path(drawn, matrix, drawing)
        elif kind == pdfium.FPDF_PAGEOBJ_TEXT:
            texts.append(drawn)
        elif kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            box = _bounds(drawn, matrix, frame)
            drawing.images.append(box)
            if texts and _share(box, frame) > _WHOLE and _is_opaque(document, page, drawn, frame):
                drawing.covered |= {ctypes.cast(text, ctypes.c_void_p).value or 0 for text in texts}
                texts.clear()
        elif kind == pdfium.FPDF_PAGEOBJ_SHADING:
            drawing.shapes.append(_bounds(drawn, matrix, frame))
    return drawing


def _share(box: Box, frame: Frame) -> float:
    left, top, right, bottom = box
    return (right - left) * (bottom - top) / max(frame.width * frame.height, 1.0)


def _is_opaque(document: Any, page: Any, image: Any, frame: Frame) -> bool:
    """Whether nothing shows through an image that is as large as the page; one too large to look at counts as such."""
    if pdfium.FPDFPageObj_HasTransparency(image):
        return False
    if frame.width * frame.height > _MAX_PIXELS:
        return True
    raw = pdfium.FPDFImageObj_GetRenderedBitmap(document, page, image)
    if not raw:
        return False  # it is not drawn either
    bitmap = pypdfium2.PdfBitmap.from_raw(raw)
    try:
        pixels = bitmap.to_numpy()
        return pixels.ndim < 3 or pixels.shape[2] < 4 or int(pixels[..., 3].min()) == _OPAQUE
    finally:
        bitmap.close()


def unseen(page: Any, frame: Frame, words: list[Word]) -> list[Word]:
    """Those of `words` that cannot be told from their background on the rendered page."""
    if not words:
        return []
    scale = min(1.0, math.sqrt(_MAX_PIXELS / (frame.width * frame.height)))
    bitmap = page.render(scale=scale, grayscale=True, may_draw_forms=False)
    try:
        grey = bitmap.to_numpy().copy()
    finally:
        bitmap.close()
    grey = grey.reshape(grey.shape[0], grey.shape[1])
    faint = []
    for word in words:
        box = frame.turned(word.style.turn).box_in((word.x0, word.top, word.x1, word.bottom), frame)
        left, top, right, bottom = (max(int(edge * scale), 0) for edge in box)
        patch = grey[top : bottom + 1, left : right + 1]
        if patch.size and int(patch.max()) - int(patch.min()) < _CONTRAST:
            faint.append(word)
    return faint


def _objects(page: Any) -> Iterator[tuple[Any, Matrix]]:
    for index in range(pdfium.FPDFPage_CountObjects(page)):
        yield from _unfold(pdfium.FPDFPage_GetObject(page, index), (1, 0, 0, 1, 0, 0), 0)


def _unfold(drawn: Any, outer: Matrix, depth: int) -> Iterator[tuple[Any, Matrix]]:
    """An object, or those inside it where it is a form, with the matrix that takes its container to the page."""
    if pdfium.FPDFPageObj_GetType(drawn) != pdfium.FPDF_PAGEOBJ_FORM or depth == _MAX_DEPTH:
        yield drawn, outer
        return
    inner = _times(_matrix(drawn), outer)
    for index in range(max(pdfium.FPDFFormObj_CountObjects(drawn), 0)):
        yield from _unfold(pdfium.FPDFFormObj_GetObject(drawn, index), inner, depth + 1)


def _matrix(drawn: Any) -> Matrix:
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(drawn, matrix)
    return matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f


def _times(first: Matrix, then: Matrix) -> Matrix:
    a, b, c, d, e, f = first
    g, h, i, j, k, m = then
    return (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m)


def _at(x: float, y: float, matrix: Matrix) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def _bounds(drawn: Any, matrix: Matrix, frame: Frame) -> Box:
    """An object's box in the frame, cut to the page."""
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    pdfium.FPDFPageObj_GetBounds(drawn, left, bottom, right, top)
    corners = [frame.seen(*_at(x.value, y.value, matrix)) for x in (left, right) for y in (bottom, top)]
    across, down = zip(*corners, strict=True)
    width, height = frame.width, frame.height
    return (
        min(max(min(across), 0), width),
        min(max(min(down), 0), height),
        min(max(max(across), 0), width),
        min(max(max(down), 0), height),
    )


def _read_path(path: Any, outer: Matrix, drawing: Drawing) -> None:
    """Add a path's straight level and upright lines as rules, and everything else that is painted as a shape."""
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(path, fill, stroke)
    colour = _fill_colour(path) if fill.value else None
    if not stroke.value and (colour is None or min(colour) >= _WHITE):
        return  # it leaves no mark
    box = _bounds(path, outer, drawing.frame)
    wide, high = box[2] - box[0], box[3] - box[1]
    if not (high <= _THIN and wide > drawing.frame.width / 2):
        drawing.shapes.append(box)
    if colour is not None and min(wide, high) > _THIN and len(drawing.shades) < _MAX_SHADES:
        drawing.shades.append(Shade(box, colour))
    count = pdfium.FPDFPath_CountSegments(path)
    drawing.segments += count
    if not 2 <= count <= _MAX_SEGMENTS or drawing.segments > _SEGMENTS_IN_ALL:
        return
    if min(wide, high) <= _THIN:
        drawing.rules.append(_hairline(box))
        return
    matrix = _times(_matrix(path), outer)
    for (x0, y0), (x1, y1) in _strokes(path, count, matrix, drawing.frame):
        if abs(y0 - y1) <= _STRAIGHT:
            drawing.rules.append(Rule(True, (y0 + y1) / 2, min(x0, x1), max(x0, x1)))
        elif abs(x0 - x1) <= _STRAIGHT:
            drawing.rules.append(Rule(False, (x0 + x1) / 2, min(y0, y1), max(y0, y1)))


def _hairline(box: Box) -> Rule:
    left, top, right, bottom = box
    if right - left >= bottom - top:
        return Rule(True, (top + bottom) / 2, left, right)
    return Rule(False, (left + right) / 2, top, bottom)


def _strokes(
    path: Any, count: int, matrix: Matrix, frame: Frame
) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """The straight lines of a path, each as its two ends in the frame; curves are passed over."""
    x, y = ctypes.c_float(), ctypes.c_float()
    begin = at = (0.0, 0.0)
    for index in range(count):
        segment = pdfium.FPDFPath_GetPathSegment(path, index)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        point = frame.seen(*_at(x.value, y.value, matrix))
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            begin = point
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            yield at, point
        at = point
        if pdfium.FPDFPathSegment_GetClose(segment):
            yield at, begin
            at = begin


def _fill_colour(path: Any) -> tuple[int, int, int]:
    """The colour that a path is filled with; black where pdfium does not know it (a pattern)."""
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    pdfium.FPDFPageObj_GetFillColor(path, red, green, blue, alpha)
    return red.value, green.value, blue.value
