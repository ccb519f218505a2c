"""What a piece of a table or of code needs above it to be understood: caption, column names, signature, imports.

A table's is embedded with each piece. Code's is only read with it: embedded, it takes the room of the code itself, and
on contextual-codebase (bench/codebase.py) 6 of 100 right passages were lost from the first five.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field

from citewell.chunking.borders import Solid
from citewell.chunking.measured import Measured
from citewell.chunking.pieces import touched
from citewell.chunking.shorten import without_end, without_middle
from citewell.types import BETWEEN_CELLS, Document, ElementKind

# More than any table has; a file that says more would have them copied to each of its pieces.
MOST_HEADER_ROWS = 8


@dataclass(frozen=True, slots=True)
class Needed:
    """The lines that a piece needs: a caption, what the element says itself, the rows that name its columns."""

    caption: str = ""
    own: tuple[str, ...] = ()
    header: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(line for line in (self.caption, *self.own, *self.header) if line)


@dataclass(frozen=True, slots=True)
class Preambles:
    """The preambles of a document, which are at most half of a chunk. Those that had to be shortened are reported."""

    measured: Measured
    _fitted: dict[Needed, str] = field(default_factory=dict)
    _reported: set[int] = field(default_factory=set)

    def above(self, solids: Sequence[Solid], start: int, end: int) -> str:
        """What of a table the piece `text[start:end]` needs above it and does not show; "" where it needs nothing.

        Where it touches several tables, it is about the first that needs something.
        """
        place = max(bisect.bisect_right(solids, start, key=lambda solid: solid.start) - 1, 0)
        for solid in solids[place:]:
            if solid.start >= end:
                break
            if solid.element.end > start and solid.element.kind is ElementKind.TABLE:
                needed = _needed(self.measured.document.text, solid, start, end)
                if needed.lines:
                    return self._fit(solid, needed)
        return ""

    def _fit(self, solid: Solid, needed: Needed) -> str:
        if needed not in self._fitted:
            self._fitted[needed] = self._shortened(needed)
        whole = "\n".join(needed.lines)
        if self._fitted[needed] != whole and solid.start not in self._reported:
            self._reported.add(solid.start)
            self.measured.warnings.append(
                f"Table {self.measured.at(solid.start)}: its caption and column names have "
                f"{self.measured.count(whole)} tokens, too many to stand above each of its pieces: shortened there."
            )
        return self._fitted[needed]

    def _shortened(self, needed: Needed) -> str:
        """Column names in at most a third of a chunk, the element's own lines too, the caption in what is left."""
        measured = self.measured
        third, half = measured.limit // 3, measured.limit // 2
        header = needed.header
        if header and measured.count("\n".join(header)) > third:
            room = third // len(header)
            header = tuple(
                without_middle(line.split(BETWEEN_CELLS), BETWEEN_CELLS, measured.token_spans, room) for line in header
            )
        left = min(third, half - measured.count("\n".join(header)))
        own = without_middle(needed.own, "\n", measured.token_spans, left) if needed.own else ""
        left = half - measured.count("\n".join((own, *header)))
        caption = without_end(needed.caption, measured.token_spans, left)
        return "\n".join(line for line in (caption, own, *header) if line)


def code_preamble(document: Document, start: int, end: int) -> str:
    """The imports and signatures that the piece of code `text[start:end]` needs and does not show, or ""."""
    for element in touched(document.elements, start, end):
        if element.kind is ElementKind.CODE and element.preamble:
            above = [line for line in element.preamble.split("\n") if line.strip()]
            return "\n".join(_not_shown(above, document.text[max(start, element.start) : end]))
    return ""


def header_lines(text: str, solid: Solid) -> list[tuple[int, int]]:
    """The spans of the lines that name a table's columns."""
    element = solid.element
    spans: list[tuple[int, int]] = []
    start = element.start
    for _ in range(min(element.header_rows, MOST_HEADER_ROWS)):
        if start >= element.end:
            break
        end = text.find("\n", start, element.end)
        spans.append((start, end if end >= 0 else element.end))
        start = spans[-1][1] + 1
    return spans


def _needed(text: str, solid: Solid, start: int, end: int) -> Needed:
    caption, element = solid.caption, solid.element
    shown = caption is None or start <= caption.start < caption.end <= end
    above = [line for line in element.preamble.split("\n") if line.strip()] if element.preamble else []
    return Needed(
        "" if caption is None or shown else text[caption.start : caption.end],
        tuple(_not_shown(above, text[max(start, element.start) : end])),
        tuple(text[first:last] for first, last in header_lines(text, solid) if last <= start),
    )


def _not_shown(above: list[str], shown: str) -> list[str]:
    """The lines `above` without those of their end that the piece shows itself: its signature, say."""
    inside = "\n".join(["", *(line.strip() for line in shown.split("\n") if line.strip()), ""])
    left = len(above)
    ending = "\n"
    while left and (ending := f"\n{above[left - 1].strip()}{ending}") in inside:
        left -= 1
    return above[:left]
