"""What a page looks like against what its file says: OCR where there is no text, or where it is not drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citewell.loading import pulse
from citewell.loading.pdf.furniture import ZONE
from citewell.loading.pdf.sheet import Box, Frame, Sheet, View, Word, make_views
from citewell.loading.pdf.states import FIGURE, MAX_UNREADABLE, why_ocr

_MAX_PIXELS = 20_000_000
"""Of a page; one may claim to be 200 inches wide, and A3 at 200 dots an inch has 8 million."""
_WRITING = 5
"""Lines; so many that OCR finds and cannot read are writing, and fewer may be anything in a picture."""
_COVERED = 0.5
"""Of the box of a word that OCR reads; where words of the file cover so much, it is theirs."""


def seen(page: Any, sheet: Sheet, ocr: bool) -> Sheet:
    """The sheet with what OCR reads on the page where its own words do not say it.

    A page that lacks text gets OCR's words beside its own, one whose fonts are unreadable in their place. Words that
    are not drawn, a scan's text layer, are kept where OCR reads the same, and left out as suspicious where it does
    not or where nothing is drawn that they could be the text of.
    """
    layer = [word for view in sheet.views for word in view.words if word.style.undrawn]
    if layer and max(sheet.picture, sheet.drawing) < FIGURE:
        sheet, layer = _without(sheet, layer, "nothing is drawn that they could be the text of"), []
    if not ocr:
        return replace(sheet, hidden=(*sheet.hidden, _unproven(layer))) if layer else sheet
    # The first question is cheap, and the answer for a page of plain text.
    if not layer and not (why_ocr(sheet, 0) and why_ocr(sheet, _signs_inside(sheet))):
        return sheet
    return _read(page, sheet, layer)


def _signs_inside(sheet: Sheet) -> int:
    """The signs that are text of the page for certain: neither in its margins nor a watermark."""
    return sum(
        len(word.text)
        for view in sheet.views
        for word in view.words
        if not word.style.skewed
        and word.bottom >= ZONE * view.frame.height
        and word.top <= (1 - ZONE) * view.frame.height
    )


def _without(sheet: Sheet, layer: Sequence[Word], reason: str) -> Sheet:
    """The sheet without the words that are not drawn, which are named."""
    note = f"{_signs(layer)} signs not drawn left out: {reason}"
    drawn = [word for view in sheet.views for word in view.words if not word.style.undrawn]
    return replace(_keeping(sheet, drawn), hidden=(*sheet.hidden, note))


def _keeping(sheet: Sheet, words: Sequence[Word]) -> Sheet:
    """The sheet with only these of its words; its rules go where another direction is the main one without the rest."""
    views = make_views(sheet.frame, words)
    if views[0].frame == sheet.views[0].frame:
        return replace(sheet, views=views)
    return replace(sheet, views=views, rules=(), shades=())


def _unproven(layer: Sequence[Word]) -> str:
    return (
        f"{_signs(layer)} signs not drawn but kept (a scan's text layer is written like this; "
        "without OCR nothing tells whether it says what the picture shows)"
    )


def _signs(words: Sequence[Word]) -> int:
    return sum(len(word.text) for word in words)


def _text(words: Sequence[Word]) -> str:
    return "".join(" " * word.spaced + word.text for word in words)


def can_see() -> bool:
    """Whether there is an OCR engine."""
    from citewell.loading.scan.engine import available

    return available() != ""


def _read(page: Any, sheet: Sheet, layer: Sequence[Word]) -> Sheet:
    from citewell.loading.scan.agreement import AGREES, agreement
    from citewell.loading.scan.picture import DPI, read_picture

    scan = read_picture(*_pixels(page, sheet.frame, DPI))
    pulse.beat()
    readable = sheet.unreadable <= MAX_UNREADABLE
    drawn = [word for view in sheet.views for word in view.words if readable and not word.style.undrawn]
    frame = sheet.frame.turned(sheet.frame.turn + scan.turn)
    found = _beside(scan.words, frame, drawn, sheet.frame)
    if layer:
        alike = agreement(_text(layer), _text(found))
        if alike >= AGREES:
            return replace(sheet, looked_at=True)
        sheet = _without(sheet, layer, f"OCR reads other words on the page (they agree by {alike:.0%})")
    sheet = replace(_keeping(sheet, drawn), unreadable=0.0, looked_at=True)
    if not found:
        lost = scan.illegible >= _WRITING
        return replace(sheet, error=f"OCR cannot read its {scan.illegible} lines") if lost else sheet
    views = {view.frame: view.words for view in sheet.views if view.words}
    first = View(frame, (*views.pop(frame, ()), *found))
    others = tuple(View(frame, words) for frame, words in views.items())
    return replace(sheet, views=(first, *others), rules=scan.rules, shades=(), confidence=scan.confidence)


def _pixels(page: Any, frame: Frame, dpi: float) -> tuple[NDArray[np.uint8], float]:
    """The page as a reader sees it, (height, width, 3) red, green, blue, and how many dots an inch it has."""
    scale = min(dpi / 72, math.sqrt(_MAX_PIXELS / max(frame.width * frame.height, 1.0)))
    bitmap = page.render(scale=scale, rev_byteorder=True)
    try:
        pixels: NDArray[np.uint8] = bitmap.to_numpy()[:, :, :3].copy()
    finally:
        bitmap.close()
    return pixels, scale * 72


def _beside(found: Sequence[Word], frame: Frame, drawn: Sequence[Word], page: Frame) -> list[Word]:
    """Those of OCR's words, which are in `frame`, that are none of the words `drawn` on the page."""
    if not drawn:
        return list(found)
    own = np.array([_box(word, page.turned(word.style.turn), page) for word in drawn])
    return [word for word in found if _covered(_box(word, frame, page), own) < _COVERED]


def _box(word: Word, frame: Frame, page: Frame) -> Box:
    return frame.box_in((word.x0, word.top, word.x1, word.bottom), page)


def _covered(box: Box, others: NDArray[np.float64]) -> float:
    """The share of a box that others cover, which do not overlap."""
    left, top, right, bottom = box
    wide = np.minimum(others[:, 2], right) - np.maximum(others[:, 0], left)
    high = np.minimum(others[:, 3], bottom) - np.maximum(others[:, 1], top)
    area = max((right - left) * (bottom - top), 1e-6)
    return float((wide.clip(0) * high.clip(0)).sum() / area)
