"""A document as sections.

A section is never mixed with another, however small both are: its chunk then has one heading path, a citation names
one heading, and a short passage about one thing is found better than a long one about five.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from citewell.types import Document, Element, ElementKind


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


def elements_of(document: Document) -> tuple[Element, ...]:
    """The document's elements; where it has none, its text as one."""
    text = document.text
    bare = len(text) - len(text.lstrip()), len(text.rstrip())
    return document.elements or (Element(ElementKind.PARAGRAPH, *bare),)


def sections(document: Document) -> Iterator[Section]:
    """The sections of a document, in order; its elements must be, and must not overlap.

    The heading of a section that holds nothing but subsections belongs to the first of these: a chunk of a heading
    alone tells nothing.
    """
    group: list[Element] = []
    for element in elements_of(document):
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
