"""What a page shows beside text: ruling lines, how much is picture, and whether pale words can be seen at all."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pypdfium2.raw as pdfium

from citewell.loading.pdf.sheet import Box, Frame, Rule, Word

MAX_OBJECTS = 20_000
"""Of a page; a map or a plan may hold a million, and no table is made of so many."""
_MAX_DEPTH = 4
_MAX_SEGMENTS = 200
_SEGMENTS_IN_ALL = 50_000
_MAX_PIXELS = 4_000_000
_THIN = 2.5
"""Points: a filled rectangle up to this thick is a line."""
_STRAIGHT = 0.5
_WHITE = 250
_CONTRAST = 12
"""Of 255: what a reader needs to see a sign against its background."""

Matrix = tuple[float, float, float, float, float, float]


@dataclass(slots=True)
class Drawing:
    """The rules of a page in `frame`; the page's shares under images and vector graphics, 0 to 1."""

    frame: Frame
    rules: list[Rule] = field(default_factory=list)
    images: list[Box] = field(default_factory=list)
    shapes: list[Box] = field(default_factory=list)
    segments: int = 0

    @property
    def picture(self) -> float:
        return self._share(sum((right - left) * (bottom - top) for left, top, right, bottom in self.images))

    @property
    def drawing(self) -> float:
        """The share under the box around all shapes; a few lines and frames do not make a figure."""
        if len(self.shapes) < 5:
            return 0.0
        left, top, right, bottom = zip(*self.shapes, strict=True)
        return self._share((max(right) - min(left)) * (max(bottom) - min(top)))

    def _share(self, area: float) -> float:
        return min(area / max(self.frame.width * self.frame.height, 1.0), 1.0)


def read_drawing(page: Any, frame: Frame) -> Drawing:
    """Rules and pictures of a page; of one with more than MAX_OBJECTS objects only pictures among the first of them."""
    drawing = Drawing(frame)
    for seen, (drawn, matrix) in enumerate(_objects(page)):
        if seen == MAX_OBJECTS:
            drawing.rules.clear()
            break
        kind = pdfium.FPDFPageObj_GetType(drawn)
        if kind == pdfium.FPDF_PAGEOBJ_PATH:
            _read_path(drawn, matrix, drawing)
        elif kind in (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_SHADING):
            box = _bounds(drawn, matrix, frame)
            (drawing.images if kind == pdfium.FPDF_PAGEOBJ_IMAGE else drawing.shapes).append(box)
    return drawing


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
    if not _is_painted(path):
        return
    box = _bounds(path, outer, drawing.frame)
    wide, high = box[2] - box[0], box[3] - box[1]
    if not (high <= _THIN and wide > drawing.frame.width / 2):
        drawing.shapes.append(box)
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


def _is_painted(path: Any) -> bool:
    """Whether a path leaves a mark: it is stroked, or filled with something other than white."""
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(path, fill, stroke)
    if stroke.value:
        return True
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    known = pdfium.FPDFPageObj_GetFillColor(path, red, green, blue, alpha)
    return bool(fill.value) and not (known and min(red.value, green.value, blue.value) >= _WHITE)
