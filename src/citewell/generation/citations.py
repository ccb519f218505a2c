"""Citations: a quote of the document, where it stands, and a link that opens it there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from urllib.parse import quote, urldefrag, urlsplit

from citewell.generation.units import Unit
from citewell.types import BETWEEN_CELLS, BETWEEN_SOURCES, Chunk, Citation, Hit

PageOf = Callable[[Chunk, int], tuple[int, str] | None]
"""The number and label of the page at a character offset of the document that a passage is of; None without pages."""

FRAGMENT_WORDS = 5
FRAGMENT_CHARS = 100


class Citations:
    """The citations of one answer, numbered from 1 in the order of their first use; one quote has one number.

    They go on from those `made` before, numbered so.
    """

    def __init__(self, page_of: PageOf, made: Sequence[Citation] = ()) -> None:
        self._page_of = page_of
        self._made = {(each.chunk_id, each.start, each.end): each for each in made}

    def cite(self, hit: Hit, unit: Unit) -> int:
        """The number of the citation that quotes this unit of this hit."""
        key = (hit.passage.id, unit.start, unit.end)
        if key not in self._made:
            self._made[key] = self._citation(len(self._made) + 1, hit, unit)
        return self._made[key].n

    @property
    def made(self) -> tuple[Citation, ...]:
        return tuple(self._made.values())

    def _citation(self, n: int, hit: Hit, unit: Unit) -> Citation:
        chunk = hit.passage
        quoted = chunk.text[unit.start - chunk.start : unit.end - chunk.start]
        number, label = self._page_of(chunk, unit.start) or (None, "")
        return Citation(
            n=n,
            chunk_id=chunk.id,
            document_id=chunk.document_id,
            title=chunk.title,
            source=chunk.source,
            heading_path=chunk.heading_path,
            page=label,
            page_number=number,
            quote=quoted,
            start=unit.start,
            end=unit.end,
            link=link(chunk.source, number, quoted),
        )


def link(source: str, page: int | None, quoted: str) -> str:
    """`source` opened at the place: a PDF at its page (1-based), a web page at the quote, another file as it is; what
    lies inside another file by that one.

    The quote is given as a text fragment (WICG, Scroll to Text Fragment), a long one by its first and last words.
    """
    outer, _, inner = source.partition(BETWEEN_SOURCES)
    if inner:
        return outer  # no program opens a place inside an archive
    place = urldefrag(source).url
    match PurePosixPath(urlsplit(place).path).suffix.lower():
        case ".pdf" if page is not None:
            return f"{place}#page={page}"
        case ".html" | ".htm" | ".xhtml":
            return f"{place}#:~:text={_fragment(quoted)}"
        case _:
            return source


def _fragment(quoted: str) -> str:
    # On the page there is nothing between the cells of a row: it is given by its first and last.
    cells = [cell for cell in quoted.split(BETWEEN_CELLS) if cell.strip()]
    if len(cells) > 1:
        return f"{_encoded(cells[0].split())},{_encoded(cells[-1].split())}"
    words = quoted.split()
    if len(" ".join(words)) <= FRAGMENT_CHARS or len(words) <= 2 * FRAGMENT_WORDS:
        return _encoded(words)
    return f"{_encoded(words[:FRAGMENT_WORDS])},{_encoded(words[-FRAGMENT_WORDS:])}"


def _encoded(words: list[str]) -> str:
    # A hyphen is syntax in a text fragment, and `quote` leaves it as it is.
    return quote(" ".join(words), safe="").replace("-", "%2D")
