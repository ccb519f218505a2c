"""Opening a PDF with pdfium and reading from it what later steps need; nothing of pdfium goes further than here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from citewell.errors import DamagedFile, EmptyFile, LimitExceeded, PasswordNeeded
from citewell.loading.bounds import check_pages, check_text
from citewell.loading.pdf.drawing import read_drawing, unseen
from citewell.loading.pdf.links import read_links
from citewell.loading.pdf.properties import properties
from citewell.loading.pdf.seen import can_see, seen
from citewell.loading.pdf.sheet import Bookmark, Frame, Sheet, View, Word, make_views
from citewell.loading.pdf.streams import damage
from citewell.loading.pdf.words import WordReader
from citewell.settings import Loading

MAX_BOOKMARKS = 10_000
_SMALLEST = 1.0
"""Points; smaller text is not there to be read."""
_PDFIUM = threading.Lock()
"""pdfium has global state: one thread at a time, in the whole process."""


@dataclass(frozen=True, slots=True)
class PdfFile:
    """A file's pages, its outline, from its properties the title ("" if none) and `properties`, as metadata; and what
    is damaged in it.
    """

    title: str
    sheets: tuple[Sheet, ...]
    bookmarks: tuple[Bookmark, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    lost: tuple[str, ...] = ()


def read_file(data: bytes, limits: Loading, passwords: Sequence[str] = ()) -> PdfFile:
    """Read every page, by OCR where there is no other way. One that cannot be read becomes a Sheet with its `error`.

    Raises:
        EmptyFile, DamagedFile, PasswordNeeded: it cannot be opened.
        LimitExceeded: more pages or text than the limits allow.
    """
    if not data:
        raise EmptyFile("It is empty (0 bytes).", remedy="Get it again from where it came.")
    with _PDFIUM, closing(_open(data, passwords)) as document:
        check_pages(len(document), limits)
        sheets = tuple(_read_sheets(document, limits))
        bookmarks = tuple(_bookmarks(document, len(sheets)))
        title = _property(document, "Title")
        about = properties(partial(_property, document))
    return PdfFile(title, sheets, bookmarks, about, damage(data))


def _open(data: bytes, passwords: Sequence[str]) -> Any:
    """The file, opened without a password or with the first that fits."""
    try:
        tries = (_opened(data, password) for password in (None, *passwords))
        document = next((found for found in tries if found is not None), None)
    except pypdfium2.PdfiumError as error:
        raise DamagedFile(
            f"It cannot be read as a PDF: {error}",
            remedy="Open it in a PDF viewer; if it shows, print it to a new PDF and index that.",
        ) from None
    if document is None:
        raise PasswordNeeded(
            "It is encrypted, and none of the passwords given opens it."
            if passwords
            else "It is encrypted and asks for a password.",
            remedy="Put its password in the secrets file that CITEWELL_SECRETS names (docs/security.md), "
            "or save a copy without it and index that.",
        )
    if len(document) == 0:
        document.close()
        raise DamagedFile("It is a PDF without pages.", remedy="Get it again from where it came.")
    return document


def _opened(data: bytes, password: str | None) -> Any | None:
    """The file; None where it asks for another password."""
    try:
        return pypdfium2.PdfDocument(data, password=password)
    except pypdfium2.PdfiumError as error:
        if error.err_code == pdfium.FPDF_ERR_PASSWORD:
            return None
        raise


def _read_sheets(document: Any, limits: Loading) -> Iterator[Sheet]:
    signs = 0
    ocr = limits.ocr == "auto" and can_see()
    for index in range(len(document)):
        label = _decoded(partial(document.get_page_label, index)) or str(index + 1)
        try:
            with closing(document[index]) as page, closing(page.get_textpage()) as textpage:
                signs += textpage.count_chars()
                check_text(signs, limits)
                sheet = seen(page, _read_sheet(document, page, textpage, index + 1, label), ocr)
        except LimitExceeded:
            raise
        except Exception as error:  # noqa: BLE001 - one page's fault, of whatever kind, is that page's state
            sheet = Sheet(index + 1, label, Frame(0, 0, 1, 1, 0), error=str(error) or type(error).__name__)
        yield sheet


def _decoded(read: Callable[[], str]) -> str:
    """A label or title on one line; "" where the file holds bytes in its place that are no text."""
    try:
        return " ".join(read().split())
    except UnicodeDecodeError:
        return ""


def _property(document: Any, key: str) -> str:
    return _decoded(partial(document.get_metadata_value, key))


def _read_sheet(document: Any, page: Any, textpage: Any, number: int, label: str) -> Sheet:
    left, bottom, right, top = page.get_bbox()
    frame = Frame(left, bottom, right, top, page.get_rotation() // 90)
    reader = WordReader(textpage.raw, frame)
    views, hidden = _shown(page, frame, reader.read())
    drawing = read_drawing(document, page, views[0].frame)
    if drawing.covered:
        reader = WordReader(textpage.raw, frame, drawing.covered)
        views, hidden = _shown(page, frame, reader.read())
    return Sheet(
        number=number,
        label=label,
        frame=frame,
        views=views,
        rules=tuple(drawing.rules),
        shades=tuple(drawing.shades),
        links=read_links(document.raw, page.raw, frame),
        picture=drawing.picture,
        drawing=drawing.drawing,
        unreadable=reader.unreadable,
        hidden=hidden,
    )


def _shown(page: Any, frame: Frame, words: list[Word]) -> tuple[tuple[View, ...], tuple[str, ...]]:
    """The words to keep, by direction, and what is wrong with the others.

    Text in the invisible rendering mode is kept, since that is how the words under a scan are written; `seen` judges
    it. Text that no reader can see in any other way is named and left out: it has no use but to deceive whoever reads
    the file by machine.
    """
    outside, tiny, kept = [], [], []
    bounds = [(seen.width + 1, seen.height + 1) for seen in map(frame.turned, range(4))]
    for word in words:
        width, height = bounds[word.style.turn]
        if not (-1 <= (word.x0 + word.x1) / 2 <= width and -1 <= word.baseline <= height + word.style.size):
            outside.append(word)
        elif word.style.size < _SMALLEST:
            tiny.append(word)
        else:
            kept.append(word)
    faint = set(map(id, unseen(page, frame, [word for word in kept if word.style.pale and not word.style.undrawn])))
    counts = {
        "outside the page left out": sum(len(word.text) for word in outside),
        "too small to be seen left out": sum(len(word.text) for word in tiny),
        "of the background's colour left out": sum(len(word.text) for word in kept if id(word) in faint),
    }
    hidden = tuple(f"{count} signs {what}" for what, count in counts.items() if count)
    return make_views(frame, [word for word in kept if id(word) not in faint]), hidden


def _bookmarks(document: Any, pages: int) -> Iterator[Bookmark]:
    for count, entry in enumerate(document.get_toc()):
        target = entry.get_dest()
        index = target.get_index() if target is not None else None
        if count == MAX_BOOKMARKS:
            return
        title = _decoded(entry.get_title)
        if title and index is not None and 0 <= index < pages:
            yield Bookmark(title, entry.level + 1, index + 1)
