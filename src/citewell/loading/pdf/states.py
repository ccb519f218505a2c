"""What became of a page, and whether only OCR can say what stands on it."""

from __future__ import annotations

from citewell.loading.pdf.sheet import Sheet
from citewell.settings import Loading
from citewell.types import PageState

FIGURE = 0.1
"""Of the page; a picture from this size on may hold what a page without text has to say."""
MAX_UNREADABLE = 0.3
"""Of a page's signs; with more, none of its text is used."""
_SCAN = 0.8
"""Of the page; a picture of this size with few signs beside it is a scanned page with a stamp or a number."""
_FEW_SIGNS = 100
_UNSURE = 0.6


def why_ocr(sheet: Sheet, signs: int) -> str:
    """Why a page with so many signs of text is to be read by OCR; "" where it is not."""
    figure = max(sheet.picture, sheet.drawing)
    if sheet.unreadable > MAX_UNREADABLE:
        return "its fonts do not say which letters their signs are"
    if signs == 0 and figure >= FIGURE:
        return f"it has no text, and a picture or drawing covers {figure:.0%} of it"
    if signs < _FEW_SIGNS and sheet.picture >= _SCAN:
        return f"a picture covers {sheet.picture:.0%} of it, and only {signs} signs are text"
    return ""


def page_state(sheet: Sheet, signs: int, limits: Loading) -> tuple[PageState, str]:
    """The state of a page with so many signs of text, and the reason for it ("" for plain text)."""
    reason = "" if sheet.looked_at else why_ocr(sheet, signs)
    if sheet.error:
        state = PageState.FAILED, f"it could not be read: {sheet.error}"
    elif sheet.hidden and sheet.unreadable <= MAX_UNREADABLE:
        state = PageState.SUSPICIOUS, "; ".join(sheet.hidden)
    elif reason:
        state = PageState.NEEDS_OCR, f"{reason}; {_how(limits)}"
    elif signs == 0:
        state = PageState.BLANK, "it has no text, and OCR reads none" if sheet.looked_at else "it has no text"
    elif sheet.confidence is not None and sheet.confidence < _UNSURE:
        state = PageState.TEXT, f"read by OCR with low confidence ({sheet.confidence:.2f})"
    else:
        state = PageState.TEXT, ""
    return state


def _how(limits: Loading) -> str:
    """How to get a page read by OCR that was not."""
    if limits.ocr == "off":
        return 'set ocr = "auto" in [loading] to have it read'
    return "to have it read: pip install 'citewell[ocr]'"
