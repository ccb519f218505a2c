"""What a language model is shown of a document beside a passage: what lies near it, and so does not change with what
lies far away. An edit is paid for again by the passages around it, not by all of the document."""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from citewell.chunking import Chunked
from citewell.chunking.pieces import touched
from citewell.models.fenced import Part
from citewell.security.planted import NAME_CHARS, Span, planted_in, unplanted, without
from citewell.settings import Untrusted
from citewell.types import SECTION_SEPARATOR, Chunk, Document, Element, ElementKind, EntryKind, Trust

BEFORE_CHARS, AFTER_CHARS = 2_000, 1_000
"""More before than after: what a passage leaves out was mostly said before it."""

HEADINGS_NEAR = 8
"""Of the outline, before and after a passage."""

_HEADING_CHARS, _TITLE_CHARS = 120, 200
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A document with its passages, which are the chunks that it was cut into, and its headings, in order.

    `untrusted` is how it is shown where it is untrusted; with "cut", `planted` is what of its text is not. That is
    looked for in the whole: a part of it may begin in the middle of what is planted.
    """

    document: Document
    passages: tuple[Chunk, ...]
    headings: tuple[Element, ...]
    untrusted: Untrusted
    planted: tuple[Span, ...]

    @classmethod
    def of(cls, document: Document, chunked: Chunked, untrusted: Untrusted) -> Self:
        cut = {entry.chunk_id for entry in chunked.entries if entry.kind is EntryKind.CHUNK}
        headings = (each for each in document.elements if each.kind is ElementKind.HEADING and each.heading_path)
        passages = tuple(chunk for chunk in chunked.chunks if chunk.id in cut)
        is_cut = untrusted == "cut" and document.trust is Trust.UNTRUSTED
        return cls(document, passages, tuple(headings), untrusted, planted_in(document.text) if is_cut else ())

    @property
    def title(self) -> str:
        """What the document calls itself. One that is given to it may change without a word of it being another."""
        return self._name(self.document.own_title, _TITLE_CHARS)

    def section(self, chunk: Chunk) -> str:
        return SECTION_SEPARATOR.join(self._name(name, _HEADING_CHARS) for name in chunk.heading_path)

    def outline_near(self, chunk: Chunk) -> str:
        """The headings in a passage and the next ones before and after it, one a line, indented."""
        low = bisect.bisect_left(self.headings, chunk.start, key=lambda element: element.start)
        high = bisect.bisect_left(self.headings, chunk.end, key=lambda element: element.start)
        return "\n".join(map(self._line, self.headings[max(low - HEADINGS_NEAR, 0) : high + HEADINGS_NEAR]))

    def outline(self, most: int) -> str:
        """All headings down to the deepest level with which they fit in so many characters; or else the first of the
        outermost."""
        lines: list[str] = []
        for depth in sorted({len(element.heading_path) for element in self.headings}, reverse=True):
            lines = [self._line(element) for element in self.headings if len(element.heading_path) <= depth]
            if sum(map(len, lines)) + len(lines) <= most:
                return "\n".join(lines)
        return "\n".join(lines)[:most].rpartition("\n")[0]

    def before(self, chunk: Chunk) -> Span:
        """From the beginning of a line or a word."""
        text, end = self.document.text, chunk.start
        start = max(end - BEFORE_CHARS, 0)
        if start == 0 or text[start - 1] == "\n":
            return start, end
        line = text.find("\n", start, start + BEFORE_CHARS // 2) + 1
        word = _SPACE.search(text, start, end)
        return line or (word.end() if word else start), end

    def after(self, chunk: Chunk) -> Span:
        """To the end of a line or a word."""
        text, start = self.document.text, chunk.end
        end = start + AFTER_CHARS
        if end >= len(text) or text[end] == "\n":
            return start, min(end, len(text))
        line = text.rfind("\n", start + AFTER_CHARS // 2, end)
        words = [match.start() for match in _SPACE.finditer(text, start, end)]
        return start, line if line > 0 else words[-1] if words else end

    def shown_in(self, spans: Sequence[Span]) -> tuple[str, ...]:
        """The ids of the passages that have characters in any of the spans."""
        found = (chunk.id for start, end in spans for chunk in touched(self.passages, start, end))
        return tuple(dict.fromkeys(found))

    def text(self, span: Span) -> str:
        return without(self.document.text, self.planted, *span).strip()

    def body(self, chunk: Chunk) -> str:
        """A passage with what it needs above it."""
        text = without(self.document.text, self.planted, chunk.start, chunk.end)
        return f"{self._readable(chunk.preamble)}\n{text}" if chunk.preamble else text

    def parts(self, texts: Sequence[tuple[str, str]]) -> list[Part]:
        """Named texts of the document as what a prompt shows of it."""
        return [Part(name, text, self.document.trust) for name, text in texts]

    def _line(self, heading: Element) -> str:
        return "  " * (len(heading.heading_path) - 1) + self._name(heading.heading_path[-1], _HEADING_CHARS)

    def _name(self, text: str, most: int) -> str:
        return _short(self._readable(text[:NAME_CHARS]), most)

    def _readable(self, text: str) -> str:
        """A text that is shown with others, cut by itself: none is taken along."""
        return unplanted(text, self.document.trust) if self.untrusted == "cut" else text


def _short(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]} ..."
