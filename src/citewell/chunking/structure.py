"""Cutting by structure: sections, then elements, then sentences, and only what is longer than that inside of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from citewell.chunking.borders import borders
from citewell.chunking.cutter import Cutter, Rooms
from citewell.chunking.measured import Measured
from citewell.chunking.pieces import Piece
from citewell.chunking.preamble import Preambles
from citewell.chunking.prefix import Places
from citewell.chunking.sections import Section
from citewell.types import Element, ElementKind


@dataclass(frozen=True, slots=True)
class Structure:
    """A section is filled with its elements and cut between two of them where that leaves the chunk at least a third
    full, else between sentences. Whole sentences, up to the overlap, are repeated at the start of the next chunk of
    the same running text. Tables are cut between rows, code between statements or lines. A row longer than a chunk is
    kept whole where the embedder takes it, else it is cut; both are reported.
    """

    measured: Measured
    places: Places
    preambles: Preambles

    def fits(self, section: Section) -> bool:
        """Whether one chunk holds the whole section."""
        above = self.measured.count(self._line(section, section.path_above))
        return self.measured.ruler.count(section.start, section.end) <= self.measured.limit - above

    def cut(self, section: Section, cuts: Sequence[int] = ()) -> Iterator[Piece]:
        """The pieces of a section, ordered by start. It is cut at `cuts` in any case, and without overlap there."""
        measured = self.measured
        # The section's first chunk shows the section's own heading.
        above = self._line(section, section.path_above)
        if not cuts and self.fits(section) and not any(map(_continues_a_table, section.elements)):
            yield Piece(section.start, section.end, above)
            return
        below = self._line(section, section.path)
        first, rest = measured.count(above), measured.count(below)
        rooms = Rooms(measured.limit - first, measured.limit - rest, measured.most - rest)
        found = borders(measured.document.text, section)
        cutter = Cutter(measured, found, rooms, partial(self.preambles.above, found.solid), section.start)
        for low, high in pairwise((section.start, *cuts, section.end)):
            for piece in cutter.pieces(low, high):
                place = above if piece.start == section.start else below
                yield Piece(piece.start, piece.end, place, piece.preamble, piece.long_row)
                if piece.long_row:
                    measured.warnings.append(_warning(measured, piece, rooms))

    def _line(self, section: Section, headings: tuple[str, ...]) -> str:
        return self.places.line(headings, section.path)


def _warning(measured: Measured, row: Piece, rooms: Rooms) -> str:
    if row.long_row > rooms.row:
        outcome = f"of which the embedder takes {rooms.row} at a time: it was cut"
    else:
        outcome = f"more than the {rooms.rest} of a chunk: it was kept whole"
    return f"Table row {measured.at(row.start)}: it has {row.long_row} tokens, {outcome}."


def _continues_a_table(element: Element) -> bool:
    return element.kind is ElementKind.TABLE and bool(element.preamble)
