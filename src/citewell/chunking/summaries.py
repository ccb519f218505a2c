"""Entries for whole sections and documents, from their headings and first sentences. No model writes them.

A question about a topic as a whole matches the outline of a section better than any one passage of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from citewell.chunking.borders import SOLID
from citewell.chunking.entries import entry
from citewell.chunking.measured import Measured
from citewell.chunking.pieces import touched
from citewell.chunking.prefix import Places
from citewell.chunking.sections import elements_of
from citewell.chunking.sentences import sentences
from citewell.chunking.shorten import without_end
from citewell.types import Chunk, ElementKind, Entry, EntryKind

LEAD_TOKENS = 48
# Characters: enough for a sentence of that many tokens.
_LEAD_CHARS = 1_000


def summaries(measured: Measured, places: Places, chunks: Sequence[Chunk]) -> Iterator[Entry]:
    """One for the document and one for each section, its subsections included, that has more than one chunk.

    Each points at its first chunk. A section that is all of the section above it has none of its own.
    """
    seen: set[tuple[str, str]] = set()
    for depth in range(max((len(chunk.heading_path) for chunk in chunks), default=0) + 1):
        for path, found in groupby(chunks, key=lambda chunk: chunk.heading_path[:depth]):
            section = list(found)
            ends = section[0].id, section[-1].id
            if len(path) == depth and len(section) > 1 and ends not in seen:
                seen.add(ends)
                yield _summary(measured, places, section, depth)


def _summary(measured: Measured, places: Places, section: Sequence[Chunk], depth: int) -> Entry:
    """The summary of the section at `depth`; 0 is the document."""
    path = section[0].heading_path[:depth]
    place = places.line(path, path)
    room = measured.limit - measured.count(place)
    outline, named = _filled(measured, _headings(section, depth, measured.document.own_title), room // 2)
    # A document is told by the beginnings of its sections, a section by those of all its passages.
    begins = section if depth else [next(group) for _, group in groupby(section, key=lambda chunk: chunk.heading_path)]
    leads = ((_lead(measured, chunk), chunk) for chunk in begins)
    told, telling = _filled(measured, leads, room - measured.count("; ".join(outline)))
    text = place + "\n".join(line for line in ("; ".join(outline), " ".join(told)) if line)
    sources = dict.fromkeys(chunk.id for chunk in (*named, *telling))
    # Sections of several depths may begin with the same chunk.
    name = f"{EntryKind.SUMMARY}-{depth}"
    return entry(measured.document, section[0], EntryKind.SUMMARY, text, name=name, sources=tuple(sources))


def _headings(section: Sequence[Chunk], depth: int, title: str) -> Iterator[tuple[str, Chunk]]:
    """The headings below `depth` but for the document's title, outer ones first, each with the first chunk below."""
    for level in range(depth + 1, max(len(chunk.heading_path) for chunk in section) + 1):
        for path, chunks in groupby(section, key=lambda chunk: chunk.heading_path[:level]):
            first = next(chunks)
            if len(path) == level and path[-1] != title:
                yield path[-1], first


def _filled(measured: Measured, parts: Iterator[tuple[str, Chunk]], room: int) -> tuple[list[str], list[Chunk]]:
    """As many of the texts, each with a sign between, as `room` tokens hold."""
    texts: list[str] = []
    chunks: list[Chunk] = []
    for text, chunk in parts:
        room -= measured.count(text) + 1
        if room < 0:
            break
        if text:
            texts.append(text)
            chunks.append(chunk)
    return texts, chunks


def _lead(measured: Measured, chunk: Chunk) -> str:
    """The chunk's first sentence below its headings, or the first line of its table or code; "" where it has none."""
    for element in touched(elements_of(measured.document), chunk.start, chunk.end):
        goes_on = element.kind in SOLID and element.start < chunk.start
        if goes_on or element.kind in (ElementKind.HEADING, ElementKind.CAPTION):
            continue
        text = measured.document.text[max(element.start, chunk.start) : min(element.end, chunk.end)][:_LEAD_CHARS]
        first = text.strip().split("\n")[0] if element.kind in SOLID else text[slice(*sentences(text)[0])]
        return without_end(" ".join(first.split()), measured.token_spans, LEAD_TOKENS)
    return ""
