"""What of a document is most like a quote that is not in it any more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from heapq import nlargest

from citewell.chunking.sentences import sentences
from citewell.evaluation.placing import plain
from citewell.evaluation.words import words
from citewell.types import Document, ElementKind

CLOSE = 0.5
"""Likeness (0 to 1) from which something is proposed."""
_COMPARED = 20
"""Those that share most words: the comparison of characters is slow."""


def nearest(quote: str, among: Sequence[str]) -> str:
    """The text that is most like the quote by the matching blocks of Ratcliff and Obershelp; "" where none is."""
    sought = plain(quote)
    wanted = words(sought)
    shared = {text: len(wanted & words(text)) for text in among}
    likeness = {
        text: SequenceMatcher(None, plain(text), sought, autojunk=False).ratio()
        for text in nlargest(_COMPARED, shared, key=shared.__getitem__)
    }
    best = max(likeness, key=likeness.__getitem__, default="")
    return best if likeness.get(best, 0.0) >= CLOSE else ""


def passages(document: Document) -> Iterator[str]:
    """Its sentences, and the rows of its tables."""
    for element in document.elements:
        text = document.text[element.start : element.end]
        if element.kind is ElementKind.TABLE:
            yield from text.splitlines()
        else:
            yield from (text[start:end] for start, end in sentences(text))
