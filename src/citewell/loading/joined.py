"""What was parsed by itself, put into the text of what holds it: the page in a mail, the chapters of a book."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.loading.parsed import Details, Parsed, TextBuilder
from citewell.types import Element


def add_elements(
    builder: TextBuilder, parsed: Parsed, above: tuple[str, ...] = (), elements: Sequence[Element] | None = None
) -> None:
    """Append `elements` of `parsed`, all of them if None, with the headings of `above` over their own."""
    for element in parsed.elements if elements is None else elements:
        builder.add(
            element.kind,
            parsed.text[element.start : element.end],
            path=(*above, *element.heading_path),
            more=Details(element.header_rows, element.preamble, element.cuts, element.links),
        )
