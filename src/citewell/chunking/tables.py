"""Tables beside their pieces: the whole of one that was cut is what is read in place of a piece or a row."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.chunking.borders import Solid, solids
from citewell.chunking.measured import Measured
from citewell.chunking.parents import Parents
from citewell.chunking.pieces import touched
from citewell.chunking.sections import Section
from citewell.types import Chunk, ElementKind

TABLE_PARENT_TOKENS = 1_500


def tables_of(sections: Sequence[Section]) -> list[Solid]:
    """The document's tables, in order."""
    return [
        solid
        for section in sections
        if any(element.kind is ElementKind.TABLE for element in section.elements)
        for solid in solids(section.elements)
        if solid.element.kind is ElementKind.TABLE
    ]


def add_whole_table(measured: Measured, table: Solid, chunks: Sequence[Chunk], parents: Parents) -> Chunk | None:
    """Make a table that no chunk holds whole the parent of its pieces, unless it is over `TABLE_PARENT_TOKENS`.

    It includes what its first and its last piece hold beside it: a chunk lies inside its parent.
    """
    element, caption = table.element, table.caption
    start = min(table.start, caption.start) if caption else table.start
    pieces = touched(chunks, element.start, element.end)
    held = any(piece.start <= element.start and element.end <= piece.end for piece in pieces)
    if held or measured.ruler.count(start, table.end) > TABLE_PARENT_TOKENS:
        return None
    return parents.add(min(start, pieces[0].start), max(table.end, pieces[-1].end), pieces)
