"""What every loader returns, and the one place where text and its locations are put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from citewell.loading.bounds import check_text
from citewell.settings import Loading
from citewell.types import NOTHING, Attributes, Element, ElementKind, Page, PageState

BETWEEN_ELEMENTS = "\n\n"
MAX_PREAMBLE = 2_000
"""Characters; it is stored with each piece of its element."""
MAX_LINKS = 100
"""Of an element; more is a list of links, whose text says what it is."""

LOADER_VERSION = "4"
"""Changes whenever a file may give another text or other elements; unchanged files are read anew then."""


@dataclass(frozen=True, slots=True)
class Inside:
    """A file inside another: an attachment, a member of an archive. `name` may hold folders; it is for display only."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file's content: `elements` and `pages` hold spans of `text`. Identity, rights and dates are added later.

    `declared` is what the file asks for itself in its front matter. `suspicious` gives the reasons not to trust it, for
    formats without pages. `lost` says what of it could not be read, `noted` what its owner should know of how it was
    read though nothing is lost, `inside` holds the files in it.
    """

    title: str
    text: str
    elements: tuple[Element, ...]
    pages: tuple[Page, ...] = ()
    language: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    declared: Attributes = NOTHING
    suspicious: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    noted: tuple[str, ...] = ()
    inside: tuple[Inside, ...] = ()


@dataclass(frozen=True, slots=True)
class Details:
    """What only some elements have; see `Element`."""

    header_rows: int = 0
    preamble: str = ""
    cuts: tuple[int, ...] = ()
    links: tuple[str, ...] = ()


PLAIN = Details()


@dataclass(slots=True)
class TextBuilder:
    """Collects elements in reading order, so that spans, pages and heading paths cannot disagree with the text.

    Raises:
        LimitExceeded: from `add`, when the text grows over `max_text_mb`.
    """

    limits: Loading
    _parts: list[str] = field(default_factory=list)
    _length: int = 0
    _elements: list[Element] = field(default_factory=list)
    _pages: list[Page] = field(default_factory=list)
    _headings: list[tuple[int, str]] = field(default_factory=list)

    def start_page(
        self,
        number: int,
        label: str,
        state: PageState = PageState.TEXT,
        reason: str = "",
        confidence: float | None = None,
    ) -> None:
        """Begin page `number` (1-based); what is added from now on stands on it."""
        self._close_page()
        start = self._length + (len(BETWEEN_ELEMENTS) if self._length else 0)
        self._pages.append(Page(number, clean(label), start, start, state, reason, confidence))

    def add(
        self,
        kind: ElementKind,
        text: str,
        *,
        level: int = 1,
        path: tuple[str, ...] | None = None,
        box: tuple[float, float, float, float] | None = None,
        more: Details = PLAIN,
    ) -> None:
        """Append an element; `level` (1 is outermost) counts for headings only. White space alone is left out.

        The cuts of `more` count from the text's first sign that is no line end.
        """
        text = clean(text).strip("\n").rstrip()
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
        self._elements.append(
            Element(
                kind=kind,
                start=start,
                end=self._length,
                heading_path=above,
                page=page,
                box=box,
                header_rows=more.header_rows,
                preamble=clean(more.preamble)[:MAX_PREAMBLE],
                cuts=more.cuts,
                links=tuple(map(clean, more.links[:MAX_LINKS])),
            )
        )

    def extend(self, text: str, links: tuple[str, ...] = ()) -> None:
        """Append lines to the last element, which may have begun on an earlier page: a table that goes on."""
        text = clean(text).strip("\n").rstrip()
        if not text:
            return
        self._append("\n")
        if self._pages and self._pages[-1].start > self._length:
            self._pages[-1] = replace(self._pages[-1], start=self._length)
        self._append(text)
        last = self._elements[-1]
        more = tuple(map(clean, links))
        self._elements[-1] = replace(last, end=self._length, links=(*last.links, *more)[:MAX_LINKS])

    def build(self, title: str, language: str = "", metadata: Mapping[str, str] | None = None) -> Parsed:
        """What was collected; `replace` on the result adds what only some formats have."""
        self._close_page()
        about = {key: clean(value) for key, value in (metadata or {}).items() if value}
        # Pages without text at the end begin where no text is any more.
        pages = tuple(
            replace(page, start=min(page.start, self._length), end=min(page.end, self._length)) for page in self._pages
        )
        return Parsed(clean(title), "".join(self._parts), tuple(self._elements), pages, language, about)

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
        check_text(self._length, self.limits)

    def _close_page(self) -> None:
        if self._pages:
            last = self._pages[-1]
            end = max(self._length, last.start)
            self._pages[-1] = replace(last, start=min(last.start, end), end=end)


def clean(text: str) -> str:
    """`text` without NUL and lone surrogates, which neither JSON, a model nor a store takes."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()
