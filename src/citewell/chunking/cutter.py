"""Cutting one section to size."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass

from citewell.chunking.ruler import Ruler, Tokenise
from citewell.chunking.sections import Borders, Section, borders
from citewell.chunking.within import cut_within
from citewell.types import ElementKind


@dataclass(frozen=True, slots=True)
class Rooms:
    """Tokens that a chunk's own text may have: the `first` of a section, the `rest`, and a table row kept whole."""

    first: int
    rest: int
    row: int
    overlap: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk to be: `text[start:end]`. `long_row` counts the tokens of the table row that did not fit, or is 0."""

    start: int
    end: int
    long_row: int = 0


def cut_section(text: str, section: Section, ruler: Ruler, token_spans: Tokenise, rooms: Rooms) -> Iterator[Piece]:
    """The pieces of a section, ordered by start. All of its text but white space is in at least one of them."""
    if ruler.count(section.start, section.end) <= rooms.first:
        yield Piece(section.start, section.end)
    else:
        yield from _Cutter(text, section, ruler, token_spans, rooms, borders(text, section)).pieces()


@dataclass(frozen=True, slots=True)
class _Cutter:
    """In what follows, a piece is `text[start:cut]`, of which `text[start:fresh]` repeats the end of the last one."""

    text: str
    section: Section
    ruler: Ruler
    token_spans: Tokenise
    rooms: Rooms
    borders: Borders

    def pieces(self) -> Iterator[Piece]:
        start = fresh = self.section.start
        while fresh < self.section.end:
            room = self.rooms.first if start == self.section.start else self.rooms.rest
            row_end = self._row_end(fresh)
            row = self.ruler.count(fresh, row_end)
            if room < row <= self.rooms.row:
                cut = row_end
            else:
                start, cut = self._fit(start, fresh, room)
            piece = self.text[start:cut].rstrip()
            if piece:
                yield Piece(start, start + len(piece), row if row > room else 0)
            start, fresh = self._overlap(start, cut), cut

    def _fit(self, start: int, fresh: int, room: int) -> tuple[int, int]:
        """Start and cut of a piece that has at most `room` tokens also when it is tokenised by itself."""
        allowed = room
        while True:
            cut = self._cut(start, fresh, allowed)
            if self._at_space(start) and self._at_space(cut):
                return start, cut
            # A word cut in two may count more tokens than it did whole.
            excess = len(self.token_spans(self.text[start:cut])) - room
            if excess <= 0 or allowed == 1:
                return start, cut
            if start < fresh:
                start = fresh
            else:
                allowed = max(1, allowed // 2, allowed - excess)

    def _cut(self, start: int, fresh: int, room: int) -> int:
        reach = self.ruler.reach(start, room)
        if reach >= self.section.end:
            return self.section.end
        before_solid = self._before_solid(fresh, reach)
        if before_solid:
            return before_solid
        block = _last(self.borders.blocks, fresh, reach)
        if block and self.ruler.count(start, block) * 3 >= room:
            return block
        return _last(self.borders.stops, fresh, reach) or cut_within(self.text, fresh, reach)

    def _before_solid(self, fresh: int, reach: int) -> int:
        """The border before a table or code that `reach` would cut although a piece of its own can hold it, or 0."""
        solid = self.borders.solid
        place = bisect.bisect_right(solid, reach, key=lambda element: element.start) - 1
        if place < 0 or solid[place].end <= reach:
            return 0
        before = _last(self.borders.blocks, fresh, solid[place].start)
        return before if self.ruler.count(before, solid[place].end) <= self.rooms.rest else 0

    def _row_end(self, fresh: int) -> int:
        """Where the table row that begins at `fresh` ends, or `fresh` where none begins."""
        solid = self.borders.solid
        place = bisect.bisect_right(solid, fresh, key=lambda element: element.start) - 1
        if place < 0 or solid[place].end <= fresh or solid[place].kind is not ElementKind.TABLE:
            return fresh
        stops = self.borders.stops
        following = bisect.bisect_right(stops, fresh)
        if not following or stops[following - 1] != fresh:
            return fresh
        return stops[following] if following < len(stops) else self.section.end

    def _overlap(self, start: int, cut: int) -> int:
        """Where the piece after `cut` starts: as many whole sentences before `cut` as the overlap holds.

        They are sentences of running text that reaches up to `cut`, and leave room for what comes next.
        """
        stops, running = self.borders.stops, self.borders.running
        following = bisect.bisect_right(stops, cut)
        next_stop = stops[following] if following < len(stops) else self.section.end
        allowed = min(self.rooms.overlap, self.rooms.rest - self.ruler.count(cut, next_stop))
        low = max(start, _last(self.borders.firm, -1, cut))
        sentences = running[bisect.bisect_right(running, low) : bisect.bisect_left(running, cut)]
        return next((sentence for sentence in sentences if 0 < self.ruler.count(sentence, cut) <= allowed), cut)

    def _at_space(self, position: int) -> bool:
        around = self.text[max(position - 1, 0) : position + 1]
        return len(around) < 2 or any(character.isspace() for character in around)


def _last(places: list[int], low: int, high: int) -> int:
    """The last of the ascending `places` in (low, high], or 0."""
    place = bisect.bisect_right(places, high) - 1
    return places[place] if place >= 0 and places[place] > low else 0
