"""The web and mail addresses that a page's link annotations point at."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pypdfium2.raw as pdfium

from citewell.loading.pdf.sheet import Frame, Link

MAX_LINKS = 1_000
"""Of a page."""
_LONGEST = 2_000
"""Bytes of an address; browsers take little more."""
_ABROAD = ("http://", "https://", "mailto:")
"""What leaves the document and runs nothing."""


def read_links(document: Any, page: Any, frame: Frame) -> tuple[Link, ...]:
    """The links of a page with their boxes in `frame`; those to places in the document are left out."""
    return tuple(islice(_links(document, page, frame), MAX_LINKS))


def _links(document: Any, page: Any, frame: Frame) -> Iterator[Link]:
    at, link, rect = ctypes.c_int(0), pdfium.FPDF_LINK(), pdfium.FS_RECTF()
    while pdfium.FPDFLink_Enumerate(page, at, link):
        address = _address(document, link)
        if address.lower().startswith(_ABROAD) and pdfium.FPDFLink_GetAnnotRect(link, rect):
            (x0, y0), (x1, y1) = frame.seen(rect.left, rect.top), frame.seen(rect.right, rect.bottom)
            yield Link((min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)), address)


def _address(document: Any, link: Any) -> str:
    """Where a link leads; "" if to no address, or to one that is no plain text."""
    action = pdfium.FPDFLink_GetAction(link)
    if not action or pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_URI:
        return ""
    length = pdfium.FPDFAction_GetURIPath(document, action, None, 0)
    if not 1 < length <= _LONGEST:
        return ""
    buffer = ctypes.create_string_buffer(length)
    pdfium.FPDFAction_GetURIPath(document, action, buffer, length)
    address = buffer.value.decode("utf-8", "replace")
    return address if address.isprintable() else ""
