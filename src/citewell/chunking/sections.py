"""A document as sections, and a section as the places where it may be cut.

A section is never mixed with another, however small both are: its chunk then has one heading path, a citation names
one heading, and a short passage about one thing is found better than a long one about five.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

import regex

from citewell.chunking.sentences import sentences
from citewell.types import Document, Element, ElementKind

# Rows and lines are cut between, never overlapped, and kept in one chunk where they fit.
SOLID = frozenset({ElementKind.TABLE, ElementKind.CODE})
# Only running text is repeated in the next chunk.
RUNNING = frozenset({ElementKind.PARAGRAPH, ElementKind.LIST, ElementKind.FOOTNOTE})

_LINE = regex.compile(r"\n(?:[^\S\n]*\n)*")
_BLANK_LINE = regex.compile(r"\n(?:[^\S\n]*\n)+")


@dataclass(frozen=True, slots=True)
class Section:
    """Elements under one heading, which is the first of them where there is one."""

    elements: tuple[Element, ...]

    @property
    def start(self) -> int:
        return self.elements[0].start

    @property
    def end(self) -> int:
        return self.elements[-1].end

    @property
    def path(self) -> tuple[str, ...]:
        return self.elements[-1].heading_path

    @property
    def path_above(self) -> tuple[str, ...]:
        """The headings that the section's own text does not show."""
        first = self.elements[0]
        return first.heading_path[:-1] if first.kind is ElementKind.HEADING else first.heading_path


@dataclass(frozen=True, slots=True)
class Borders:
    """Where a section may be cut, ascending character positions.

    `blocks` are the better places: before elements, list items, and paragraphs of code. `stops` are all places:
    blocks, sentences, rows, lines. `running` are those stops that begin a sentence of running text; `firm` are the
    starts of everything else. `solid` holds tables and code.
    """

    blocks: list[int]
    stops: list[int]
    running: list[int]
    firm: list[int]
    solid: list[Element]


def sections(document: Document) -> Iterator[Section]:
    """The sections of a document, in order; its elements must be, and must not overlap.

    The heading of a section that holds nothing but subsections belongs to the first of these: a chunk of a heading
    alone tells nothing.
    """
    elements = document.elements or (Element(ElementKind.PARAGRAPH, *_bare(document.text)),)
    group: list[Element] = []
    for element in elements:
        if group and not _same_section(group[-1], element):
            yield Section(tuple(group))
            group = []
        group.append(element)
    yield Section(tuple(group))


def _same_section(previous: Element, element: Element) -> bool:
    if element.kind is not ElementKind.HEADING:
        return element.heading_path == previous.heading_path
    depth = len(previous.heading_path)
    return (
        previous.kind is ElementKind.HEADING
        and len(element.heading_path) > depth
        and element.heading_path[:depth] == previous.heading_path
    )


def borders(text: str, section: Section) -> Borders:
    """The places at which `section` may be cut."""
    found = Borders([], [], [], [], [])
    led = False
    for element, following in zip_longest(section.elements, section.elements[1:]):
        _add(found, text, element, led=led)
        led = _leads(element, following)
    return found


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
    if element.kind in SOLID:
        found.solid.append(element)


def _leads(element: Element, following: Element | None) -> bool:
    if element.kind is ElementKind.CAPTION:
        return following is not None and following.kind in {ElementKind.TABLE, ElementKind.CODE, ElementKind.IMAGE}
    return element.kind is ElementKind.HEADING


def _inner(text: str, element: Element) -> tuple[list[int], list[int]]:
    """Borders inside an element: blocks, and stops, which include the blocks."""
    if element.kind is ElementKind.TABLE:
        return [], _after(_LINE, text, element)
    if element.kind is ElementKind.CODE:
        return _after(_BLANK_LINE, text, element), _after(_LINE, text, element)
    starts = [element.start + start for start, _ in sentences(text[element.start : element.end])][1:]
    if element.kind is ElementKind.LIST:
        items = _after(_LINE, text, element)
        return items, sorted({*starts, *items})
    return [], starts


def _after(border: regex.Pattern[str], text: str, element: Element) -> list[int]:
    return [found.end() for found in border.finditer(text, element.start, element.end)]


def _bare(text: str) -> tuple[int, int]:
    return len(text) - len(text.lstrip()), len(text.rstrip())
