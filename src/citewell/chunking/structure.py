"""Cutting by structure: sections, then elements, then sentences, and only what is longer than that inside of it."""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from functools import cache

from citewell.chunking.cutter import Piece, Rooms, cut_section
from citewell.chunking.prefix import prefix
from citewell.chunking.ruler import Ruler, Tokenise
from citewell.chunking.sections import Section, sections
from citewell.types import Chunk, Document, Element, ElementKind

PREFIX_TOKENS = 48
# An embedder adds one at each end.
SPECIAL_TOKENS = 2


@dataclass(frozen=True, slots=True)
class Chunked:
    """A document's chunks, the line to embed above each of them, and what could not be cut as it should."""

    chunks: tuple[Chunk, ...]
    prefixes: tuple[str, ...]
    warnings: tuple[str, ...]


def chunk(document: Document, token_spans: Tokenise, *, size: int, overlap: int, max_tokens: int) -> Chunked:
    """Cut a document into chunks of at most `size` tokens, prefix included, special tokens not.

    A section is filled with its elements and cut between two of them where that leaves the chunk at least a third
    full, else between sentences. Whole sentences, up to `overlap` tokens of them (at most half of `size`), are
    repeated at the start of the next chunk of the same running text. Tables are cut between rows, code between
    lines. A row longer than `size` is kept whole, over `size`, where the embedder's `max_tokens` allow it, else it is
    cut; both are told in the warnings. `token_spans` is an embedder's: what it counts in a text should be the sum of
    what it counts in its parts, where these are cut at white space.
    """
    if not document.text.strip():
        return Chunked((), (), ())
    limit = min(size, max_tokens - SPECIAL_TOKENS)
    ruler = Ruler.of(document.text, token_spans)
    spans_of_line = cache(token_spans)  # neighbouring sections have most of the lines above them in common
    chunks: list[Chunk] = []
    prefixes: list[str] = []
    warnings: list[str] = []
    for section in sections(document):
        above, below = _prefixes(document, section, spans_of_line, min(PREFIX_TOKENS, limit // 4))
        first, rest = len(spans_of_line(above)), len(spans_of_line(below))
        rooms = Rooms(limit - first, limit - rest, max_tokens - SPECIAL_TOKENS - rest, min(overlap, limit // 2))
        for piece in cut_section(document.text, section, ruler, token_spans, rooms):
            made = _chunk(document, section, len(chunks), piece)
            chunks.append(made)
            prefixes.append(above if piece.start == section.start else below)
            if piece.long_row:
                warnings.append(_warning(made, piece.long_row, rooms))
    return Chunked(tuple(chunks), tuple(prefixes), tuple(warnings))


def _prefixes(document: Document, section: Section, token_spans: Tokenise, max_tokens: int) -> tuple[str, str]:
    """For the section's first chunk, which shows the section's own heading, and for the rest of its chunks."""
    # A document's first heading is often its title: once is enough.
    shown = section.path[:1] == (" ".join(document.title.split()),)
    title = "" if shown else document.title
    first = prefix(title, section.path_above, token_spans, max_tokens)
    return first, prefix(title, section.path, token_spans, max_tokens)


def _chunk(document: Document, section: Section, ordinal: int, piece: Piece) -> Chunk:
    pages = document.pages_of(piece.start, piece.end)
    elements = _elements(section, piece)
    return Chunk(
        id=f"{document.id}@{document.content_hash[:8]}#{ordinal}",
        document_id=document.id,
        title=document.title,
        source=document.source,
        version=document.version,
        text=document.text[piece.start : piece.end],
        start=piece.start,
        end=piece.end,
        heading_path=elements[-1].heading_path,
        pages=tuple((page.number, page.label) for page in pages),
        kind=_kind(elements),
        rights=document.rights,
        trust=document.trust,
    )


def _elements(section: Section, piece: Piece) -> tuple[Element, ...]:
    elements = section.elements
    low = bisect.bisect_right(elements, piece.start, key=lambda element: element.end)
    high = bisect.bisect_left(elements, piece.end, key=lambda element: element.start)
    return elements[low:high]


def _kind(elements: tuple[Element, ...]) -> ElementKind:
    """The elements' kind where they are all of one, headings and captions not counted."""
    kinds = {element.kind for element in elements}
    kinds = kinds - {ElementKind.HEADING, ElementKind.CAPTION} or kinds
    return kinds.pop() if len(kinds) == 1 else ElementKind.PARAGRAPH


def _warning(row: Chunk, tokens: int, rooms: Rooms) -> str:
    place = f", page {row.pages[0][1]}" if row.pages else ""
    if tokens > rooms.row:
        outcome = f"of which the embedder takes {rooms.row} at a time: it was cut"
    else:
        outcome = f"more than the {rooms.rest} of a chunk: it was kept whole"
    return f"Table row at character {row.start}{place}: it has {tokens} tokens, {outcome}."
