"""What every loader returns, and the one place where text and its locations are put together."""

from __future__ import annotations

from dataclasses import dataclass, field

from citewell.types import Element, ElementKind, Page, PageState

BETWEEN_ELEMENTS = "\n\n"

LOADER_VERSION = "1"
"""Changes whenever a file may give another text or other elements; unchanged files are read anew then."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file's content: `elements` and `pages` hold spans of `text`. Identity, rights and dates are added later."""

    title: str
    text: str
    elements: tuple[Element, ...]
    pages: tuple[Page, ...] = ()
    language: str = ""


@dataclass(slots=True)
class TextBuilder:
    """Collects elements in reading order, so that spans, pages and heading paths cannot disagree with the text."""

    _parts: list[str] = field(default_factory=list)
    _length: int = 0
    _elements: list[Element] = field(default_factory=list)
    _pages: list[Page] = field(default_factory=list)
    _headings: list[tuple[int, str]] = field(default_factory=list)

    def start_page(self, number: int, label: str, state: PageState = PageState.TEXT, reason: str = "") -> None:
        """Begin page `number` (1-based); what is added from now on stands on it."""
        self._close_page()
        start = self._length + (len(BETWEEN_ELEMENTS) if self._length else 0)
        self._pages.append(Page(number, label, start, start, state, reason))

    def add(
        self,
        kind: ElementKind,
        text: str,
        *,
        level: int = 1,
        path: tuple[str, ...] | None = None,
        box: tuple[float, float, float, float] | None = None,
    ) -> None:
        """Append an element; `level` (1 is outermost) counts for headings only. White space alone is left out."""
        text = text.replace("\x00", "").strip("\n").rstrip()
        if not text.strip():
            return
        if kind is ElementKind.HEADING:
            line = " ".join(text.split())
            self._headings = [(depth, title) for depth, title in self._headings if depth < level] + [(level, line)]
        if self._length:
            self._append(BETWEEN_ELEMENTS)
        start = self._length
        self._append(text)
        page = self._pages[-1].number if self._pages else None
        above = tuple(title for _, title in self._headings) if path is None else path
        self._elements.append(Element(kind, start, self._length, above, page, box))

    def build(self, title: str, language: str = "") -> Parsed:
        self._close_page()
        return Parsed(title, "".join(self._parts), tuple(self._elements), tuple(self._pages), language)

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def _close_page(self) -> None:
        if self._pages:
            last = self._pages[-1]
            end = max(self._length, last.start)
            self._pages[-1] = Page(last.number, last.label, min(last.start, end), end, last.state, last.reason)
