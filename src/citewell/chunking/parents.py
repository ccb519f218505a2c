"""Small to big: small chunks are searched, and a larger one around them is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from citewell.chunking.measured import Measured
from citewell.chunking.pieces import Piece, as_chunk, common_path
from citewell.types import Chunk, Document


@dataclass(frozen=True, slots=True)
class Parents:
    """The larger chunks of a document. `of` has the id of each small chunk's; the first that it is given stays."""

    document: Document
    chunks: list[Chunk] = field(default_factory=list)
    of: dict[str, str] = field(default_factory=dict)

    def add(self, start: int, end: int, children: Sequence[Chunk]) -> Chunk:
        """Make `text[start:end]` the parent of those of the children, which lie in it, that have none yet."""
        path = common_path([child.heading_path for child in children])
        parent = as_chunk(self.document, f"p{len(self.chunks)}", Piece(start, end), path)
        self.chunks.append(parent)
        for child in children:
            self.of.setdefault(child.id, parent.id)
        return parent

    def joined(self, chunk: Chunk) -> Chunk:
        """The chunk with its parent, where it has one."""
        return replace(chunk, parent_id=self.of[chunk.id]) if chunk.id in self.of else chunk

    def add_sections(self, measured: Measured, sections: Sequence[Sequence[Chunk]], size: int) -> None:
        """Parents of at most `size` tokens for all chunks that have none and are not alone."""
        for run in _runs(measured, sections, size):
            if len(run) > 1 and any(child.id not in self.of for child in run):
                self.add(run[0].start, run[-1].end, run)


def by_section(chunks: Sequence[Chunk]) -> list[list[Chunk]]:
    """The chunks of each section, in order."""
    return [list(section) for _, section in groupby(chunks, key=lambda chunk: chunk.heading_path)]


def _runs(measured: Measured, sections: Sequence[Sequence[Chunk]], size: int) -> Iterator[Sequence[Chunk]]:
    """Neighbouring chunks that together have at most `size` tokens.

    Small sections under one top heading are joined as long as they fit; a section that is too long is divided, and
    joined with no other.
    """

    def fits(run: Sequence[Chunk]) -> bool:
        return measured.ruler.count(run[0].start, run[-1].end) <= size

    run: list[Chunk] = []
    for section in sections:
        if run and run[0].heading_path[:1] == section[0].heading_path[:1] and fits((run[0], section[-1])):
            run.extend(section)
        else:
            yield run
            run = list(section)
        if not fits(run):
            yield from _divided(run, fits)
            run = []
    yield run


def _divided(section: Sequence[Chunk], fits: Callable[[Sequence[Chunk]], bool]) -> Iterator[Sequence[Chunk]]:
    run: list[Chunk] = []
    for chunk in section:
        if run and not fits((run[0], chunk)):
            yield run
            run = []
        run.append(chunk)
    yield run
