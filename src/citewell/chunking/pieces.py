"""Pieces of a document, and the chunks that they become."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TypeVar

from citewell.types import Chunk, Document, Element, ElementKind

AnySpan = TypeVar("AnySpan", Element, Chunk)


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk to be: `text[start:end]`, and what is embedded above it, `place` and `preamble`, each a line or more.

    `long_row` counts the tokens of the table row that did not fit, or is 0.
    """

    start: int
    end: int
    place: str = ""
    preamble: str = ""
    long_row: int = 0


def as_chunk(document: Document, name: str, piece: Piece, path: tuple[str, ...] | None = None) -> Chunk:
    """The chunk of a piece, under the headings `path`, or those of its last element.

    `name` is what its id has after the `#`.
    """
    elements = touched(document.elements, piece.start, piece.end)
    last = elements[-1].heading_path if elements else ()
    pages = document.pages_of(piece.start, piece.end)
    return Chunk(
        id=f"{document.id}@{document.number}#{name}",
        document_id=document.id,
        title=document.title,
        source=document.source,
        version=document.version,
        text=document.text[piece.start : piece.end],
        start=piece.start,
        end=piece.end,
        heading_path=last if path is None else path,
        pages=tuple((page.number, page.label) for page in pages),
        kind=_kind(elements),
        rights=document.rights,
        trust=document.trust,
        preamble=piece.preamble,
    )


def touched(spans: Sequence[AnySpan], start: int, end: int) -> Sequence[AnySpan]:
    """Those of the elements or chunks, ordered by start and by end, that have characters in [start, end)."""
    low = bisect.bisect_right(spans, start, key=lambda span: span.end)
    high = bisect.bisect_left(spans, end, key=lambda span: span.start)
    return spans[low:high]


def common_path(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The outer headings that all the paths have in common."""
    levels = takewhile(lambda names: len(set(names)) == 1, zip(*paths, strict=False))
    return tuple(names[0] for names in levels)


def _kind(elements: Sequence[Element]) -> ElementKind:
    """The elements' kind where they are all of one, headings and captions not counted."""
    kinds = {element.kind for element in elements}
    kinds = kinds - {ElementKind.HEADING, ElementKind.CAPTION} or kinds
    return next(iter(kinds)) if len(kinds) == 1 else ElementKind.PARAGRAPH
