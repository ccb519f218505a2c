"""What must hold for the result of every loader."""

from __future__ import annotations

from citewell.loading.parsed import Parsed
from citewell.types import Document, ElementKind


def check_spans(document: Parsed | Document) -> None:
    """Elements hold text, stand inside the document, in order, and do not overlap."""
    end = 0
    for element in document.elements:
        assert end <= element.start < element.end <= len(document.text)
        assert document.text[element.start : element.end].strip()
        end = element.end


def pieces(parsed: Parsed) -> list[tuple[ElementKind, str]]:
    """Kind and text of each element."""
    check_spans(parsed)
    return [(element.kind, parsed.text[element.start : element.end]) for element in parsed.elements]


def of_kind(parsed: Parsed, kind: ElementKind) -> list[str]:
    return [text for found, text in pieces(parsed) if found is kind]


def path_of(parsed: Parsed, text: str) -> tuple[str, ...]:
    """The heading path of the first element that holds `text`."""
    return next(one.heading_path for one in parsed.elements if text in parsed.text[one.start : one.end])
