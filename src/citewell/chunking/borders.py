"""A section as the places where it may be cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import regex

from citewell.chunking.sections import Section
from citewell.chunking.sentences import sentences
from citewell.types import Element, ElementKind

# Rows and lines are cut between, never overlapped, and kept in one chunk where they fit.
SOLID = frozenset({ElementKind.TABLE, ElementKind.CODE})
# Only running text is repeated in the next chunk.
RUNNING = frozenset({ElementKind.PARAGRAPH, ElementKind.LIST, ElementKind.FOOTNOTE})
_CAPTIONED = SOLID | {ElementKind.IMAGE}

_LINE = regex.compile(r"\n(?:[^\S\n]*\n)*")
_BLANK_LINE = regex.compile(r"\n(?:[^\S\n]*\n)+")


@dataclass(frozen=True, slots=True)
class Solid:
    """A table or code, and the caption that stands right above or below it."""

    element: Element
    caption: Element | None = None

    @property
    def start(self) -> int:
        return self.element.start

    @property
    def end(self) -> int:
        """Where it ends with a caption that is below it."""
        return max(self.element.end, self.caption.end) if self.caption else self.element.end


@dataclass(frozen=True, slots=True)
class Borders:
    """Where a section may be cut, ascending character positions.

    `blocks` are the better places: before elements, list items, and paragraphs or statements of code. `stops` are all
    places: blocks, sentences, rows, lines. `running` are those stops that begin a sentence of running text; `firm`
    are the starts of everything else. `solid` holds tables and code.
    """

    blocks: list[int]
    stops: list[int]
    running: list[int]
    firm: list[int]
    solid: list[Solid]


def borders(text: str, section: Section) -> Borders:
    """The places at which `section` may be cut."""
    found = Borders([], [], [], [], list(solids(section.elements)))
    for element, led in _led(section.elements):
        _add(found, text, element, led=led)
    return found


def solids(elements: Sequence[Element]) -> Iterator[Solid]:
    """The tables and code among the elements of a section, in order."""
    for place, element in enumerate(elements):
        if element.kind in SOLID:
            yield Solid(element, _caption(elements, place))


def units(text: str, section: Section) -> list[int]:
    """Where the section's sentences, lists, tables and code begin; what leads to one of them belongs to it."""
    starts = []
    for element, led in _led(section.elements):
        if not led:
            starts.append(element.start)
        if element.kind in RUNNING and element.kind is not ElementKind.LIST:
            starts.extend(_inner(text, element)[1])
    return starts


def _led(elements: Sequence[Element]) -> Iterator[tuple[Element, bool]]:
    """The elements, and of each whether it must not be parted from the one before."""
    below = {solid.caption.start for solid in solids(elements) if solid.caption and solid.caption.start > solid.start}
    led = False
    for element, following in zip_longest(elements, elements[1:]):
        yield element, led or element.start in below
        led = _leads(element, following)


def _leads(element: Element, following: Element | None) -> bool:
    if element.kind is ElementKind.CAPTION:
        return following is not None and following.kind in _CAPTIONED
    return element.kind is ElementKind.HEADING


def _caption(elements: Sequence[Element], place: int) -> Element | None:
    """The caption above a table or code, or else the one below it, unless that one leads to something else."""
    if place and elements[place - 1].kind is ElementKind.CAPTION:
        return elements[place - 1]
    after, beyond = (*elements[place + 1 : place + 3], None, None)[:2]
    if after is not None and after.kind is ElementKind.CAPTION and not _leads(after, beyond):
        return after
    return None


def _add(found: Borders, text: str, element: Element, *, led: bool) -> None:
    """Add an element's own start and the borders inside it. What leads to it is cut off only for a row's sake."""
    blocks, stops = _inner(text, element)
    if not led:
        found.blocks.append(element.start)
    if not led or element.kind in SOLID:
        found.stops.append(element.start)
    found.blocks.extend(blocks)
    found.stops.extend(stops)
    if element.kind in RUNNING:
        found.running.extend((element.start, *stops))
    else:
        found.firm.append(element.start)


def _inner(text: str, element: Element) -> tuple[list[int], list[int]]:
    """Borders inside an element: blocks, and stops, which include the blocks."""
    if element.kind is ElementKind.TABLE:
        return [], _after(_LINE, text, element)
    if element.kind is ElementKind.CODE:
        lines = _after(_LINE, text, element)
        return _statements(text, element, lines) if element.cuts else _after(_BLANK_LINE, text, element), lines
    starts = [element.start + start for start, _ in sentences(text[element.start : element.end])][1:]
    if element.kind is ElementKind.LIST:
        items = _after(_LINE, text, element)
        return items, sorted({*starts, *items})
    return [], starts


def _statements(text: str, element: Element, lines: list[int]) -> list[int]:
    """The beginnings of those lines in which the element says that it is best cut."""
    best = {text.rfind("\n", 0, element.start + cut) + 1 for cut in element.cuts}
    return [line for line in lines if line in best]


def _after(border: regex.Pattern[str], text: str, element: Element) -> list[int]:
    return [found.end() for found in border.finditer(text, element.start, element.end)]
