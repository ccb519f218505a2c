"""Cutting one section to size."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from citewell.chunking.borders import Borders, Solid
from citewell.chunking.measured import Measured
from citewell.chunking.pieces import Piece
from citewell.chunking.within import cut_within
from citewell.types import ElementKind


@dataclass(frozen=True, slots=True)
class Rooms:
    """Tokens that a piece may have below its prefix: the `first` of a section, the `rest`, and a row kept whole."""

    first: int
    rest: int
    row: int


@dataclass(frozen=True, slots=True)
class Cutter:
    """Cuts a section at its `borders`. `above` gives the preamble of a piece, from its start and end.

    In what follows, a piece is `text[start:cut]`, of which `text[start:fresh]` repeats the end of the last one.
    """

    measured: Measured
    borders: Borders
    rooms: Rooms
    above: Callable[[int, int], str]
    section_start: int

    def pieces(self, low: int, high: int) -> Iterator[Piece]:
        """The pieces of the section's part [low, high), ordered by start; all of it but white space is in them."""
        text, ruler = self.measured.document.text, self.measured.ruler
        start = fresh = low
        while fresh < high:
            room = self.rooms.first if start == self.section_start else self.rooms.rest
            row_end = self._row_end(fresh, high)
            row = ruler.count(fresh, row_end)
            # A row is not cut for the sake of what stands above it: that is shortened.
            if row and room - self._above_tokens(fresh, row_end) < row <= self.rooms.row:
                start, cut = fresh, row_end
            else:
                start, cut = self._fit(start, fresh, room, high)
            end = start + len(text[start:cut].rstrip())
            if end > start:
                yield Piece(start, end, preamble=self._above(start, end), long_row=row if row > room else 0)
            start, fresh = self._overlap(start, cut, high), cut

    def _fit(self, start: int, fresh: int, room: int, high: int) -> tuple[int, int]:
        """Start and cut of a piece that has at most `room` tokens, its preamble included."""
        reserved = 0
        while True:
            begin, cut = self._fit_alone(start, fresh, room - reserved, high)
            needed = self._above_tokens(begin, cut)
            if needed <= reserved:
                return begin, cut
            reserved = needed

    def _fit_alone(self, start: int, fresh: int, room: int, high: int) -> tuple[int, int]:
        """As `_fit`, without a preamble; the tokens are counted as if the piece stood by itself."""
        allowed = room
        while True:
            cut = self._cut(start, fresh, allowed, high)
            if self._at_space(start) and self._at_space(cut):
                return start, cut
            # A word cut in two may count more tokens than it did whole.
            excess = len(self.measured.token_spans(self.measured.document.text[start:cut])) - room
            if excess <= 0 or allowed == 1:
                return start, cut
            if start < fresh:
                start = fresh
            else:
                allowed = max(1, allowed // 2, allowed - excess)

    def _cut(self, start: int, fresh: int, room: int, high: int) -> int:
        ruler, found = self.measured.ruler, self.borders
        reach = ruler.reach(start, room)
        if reach >= high:
            return high
        before_solid = self._before_solid(fresh, reach)
        if before_solid:
            return before_solid
        block = _last(found.blocks, fresh, reach)
        if block and ruler.count(start, block) * 3 >= room:
            return block
        return _last(found.stops, fresh, reach) or cut_within(self.measured.document.text, fresh, reach)

    def _before_solid(self, fresh: int, reach: int) -> int:
        """The border before a table or code that `reach` would cut although a piece of its own can hold it, or 0."""
        solid = self._solid_at(reach)
        if solid is None or solid.end <= reach:
            return 0
        before = _last(self.borders.blocks, fresh, solid.start)
        return before if self.measured.ruler.count(before, solid.end) <= self.rooms.rest else 0

    def _row_end(self, fresh: int, high: int) -> int:
        """Where the table row that begins at `fresh` ends, or `fresh` where none begins."""
        solid = self._solid_at(fresh)
        if solid is None or solid.element.end <= fresh or solid.element.kind is not ElementKind.TABLE:
            return fresh
        stops = self.borders.stops
        following = bisect.bisect_right(stops, fresh)
        if not following or stops[following - 1] != fresh:
            return fresh
        return min(stops[following], high) if following < len(stops) else high

    def _overlap(self, start: int, cut: int, high: int) -> int:
        """Where the piece after `cut` starts: as many whole sentences before `cut` as the overlap holds.

        They are sentences of running text that reaches up to `cut`, and leave room for what comes next.
        """
        stops, running, ruler = self.borders.stops, self.borders.running, self.measured.ruler
        following = bisect.bisect_right(stops, cut)
        next_stop = stops[following] if following < len(stops) else high
        allowed = min(self.measured.overlap, self.rooms.rest - ruler.count(cut, next_stop))
        low = max(start, _last(self.borders.firm, -1, cut))
        sentences = running[bisect.bisect_right(running, low) : bisect.bisect_left(running, cut)]
        return next((sentence for sentence in sentences if 0 < ruler.count(sentence, cut) <= allowed), cut)

    def _solid_at(self, position: int) -> Solid | None:
        """The last table or code that begins up to `position`."""
        place = bisect.bisect_right(self.borders.solid, position, key=lambda solid: solid.start) - 1
        return self.borders.solid[place] if place >= 0 else None

    def _above(self, start: int, end: int) -> str:
        return self.above(start, end) if self.borders.solid else ""

    def _above_tokens(self, start: int, end: int) -> int:
        return self.measured.count(self._above(start, end)) if self.borders.solid else 0

    def _at_space(self, position: int) -> bool:
        around = self.measured.document.text[max(position - 1, 0) : position + 1]
        return len(around) < 2 or any(character.isspace() for character in around)


def _last(places: list[int], low: int, high: int) -> int:
    """The last of the ascending `places` in (low, high], or 0."""
    place = bisect.bisect_right(places, high) - 1
    return places[place] if place >= 0 and places[place] > low else 0
