"""Chunking, from top to bottom: a document is cut into small chunks, and what is searched is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from citewell.chunking.entries import entry
from citewell.chunking.fixed import by_count
from citewell.chunking.measured import Measured
from citewell.chunking.parents import Parents, by_section
from citewell.chunking.pieces import Piece, as_chunk, common_path, touched
from citewell.chunking.preamble import Preambles, code_preamble
from citewell.chunking.prefix import Places
from citewell.chunking.rows import rows
from citewell.chunking.sections import Section, sections
from citewell.chunking.semantic import cuts_by_meaning
from citewell.chunking.shorten import without_middle
from citewell.chunking.structure import Structure
from citewell.chunking.summaries import summaries
from citewell.chunking.tables import add_whole_table, tables_of
from citewell.models.embedder import Embedder
from citewell.settings import Chunking
from citewell.types import Chunk, Document, Entry, EntryKind

CHUNKER_VERSION = "3"
"""Changes whenever a document may be cut otherwise, or other texts are embedded; documents are cut anew then."""

# A sheet may have ten thousand rows that are too long.
MOST_WARNINGS = 20


@dataclass(frozen=True, slots=True)
class Chunked:
    """A document's chunks in the order of its text, what is embedded of them, and what could not be cut as it should.

    Chunks that begin at the same place: small ones, then rows, then parents. A parent has no entry.
    """

    chunks: tuple[Chunk, ...]
    entries: tuple[Entry, ...]
    warnings: tuple[str, ...]


def chunk(document: Document, settings: Chunking, embedder: Embedder) -> Chunked:
    """Cut a document by the method of the settings, and make what its switches say of the small chunks.

    Each embedded text has at most `settings.size` tokens, counted by the embedder on all of it, its special tokens
    not; a table row may have as many as the embedder takes. What `embedder.token_spans` counts in a text should be
    the sum of what it counts in its parts, where these are cut at white space.
    """
    if not document.text.strip():
        return Chunked((), (), ())
    measured = Measured.of(document, settings, embedder)
    places, preambles = Places(measured), Preambles(measured)
    parts = tuple(sections(document))

    pieces = _cut(Structure(measured, places, preambles), parts, settings, embedder)
    small = [_small(document, number, piece, settings) for number, piece in enumerate(pieces)]
    entries = [
        entry(document, made, EntryKind.CHUNK, _above(measured, piece) + made.text)
        for made, piece in zip(small, pieces, strict=True)
    ]
    parents = Parents(document)
    tables = tables_of(parts) if settings.method != "fixed" or settings.table_rows else []
    wholes = [(table, add_whole_table(measured, table, small, parents)) for table in tables]
    said = list(rows(places, preambles, wholes, small)) if settings.table_rows else []
    entries += [entry(document, row, EntryKind.ROW, sentence) for row, sentence in said]
    if settings.parents:
        parents.add_sections(measured, [small] if settings.method == "fixed" else by_section(small), settings.parents)
    if settings.summaries:
        entries += summaries(measured, places, small)
    chunks = [*map(parents.joined, small), *(row for row, _ in said), *parents.chunks]
    warnings = _few([*places.warnings(), *measured.warnings])
    return Chunked(tuple(sorted(chunks, key=lambda made: made.start)), tuple(entries), warnings)


def _cut(structure: Structure, parts: Sequence[Section], settings: Chunking, embedder: Embedder) -> list[Piece]:
    """The pieces of the document, ordered by start."""
    measured = structure.measured
    if settings.method == "fixed":
        return list(by_count(measured, structure.places.line((), ())))
    by_meaning = parts if settings.method == "semantic" else ()
    if settings.semantic_inside and not by_meaning:
        by_meaning = [section for section in parts if not structure.fits(section)]
    cuts = cuts_by_meaning(measured, by_meaning, embedder, settings)
    return [piece for section in parts for piece in structure.cut(section, cuts.get(section.start, ()))]


def _small(document: Document, number: int, piece: Piece, settings: Chunking) -> Chunk:
    path = None
    if settings.method == "fixed":
        # A window may begin in one section and end in another: what is true of all of it.
        path = common_path([element.heading_path for element in touched(document.elements, piece.start, piece.end)])
    needed = piece.preamble or code_preamble(document, piece.start, piece.end)
    return as_chunk(document, str(number), replace(piece, preamble=needed), path)


def _above(measured: Measured, piece: Piece) -> str:
    """What is embedded above a piece. A row that was not to be cut may leave its preamble less room than it has."""
    if not piece.preamble:
        return piece.place
    most = measured.most if piece.long_row else measured.limit
    room = most - measured.count(piece.place) - measured.ruler.count(piece.start, piece.end)
    preamble = without_middle(piece.preamble.split("\n"), "\n", measured.token_spans, room)
    return f"{piece.place}{preamble}\n" if preamble else piece.place


def _few(warnings: Sequence[str]) -> tuple[str, ...]:
    left_out = len(warnings) - MOST_WARNINGS
    more = (f"There are {left_out} more warnings of this kind.",) if left_out > 0 else ()
    return (*warnings[:MOST_WARNINGS], *more)
