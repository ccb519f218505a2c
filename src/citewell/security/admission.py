"""A document on its way into the index: whether it speaks to a language model, and what that costs it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from citewell.security.scan import Suspicion, scan
from citewell.signs import UNSEEN
from citewell.types import Document, Trust

ADMISSION_VERSION = "3"
"""Another one where documents may be judged otherwise, by the scan or here: the next run then judges them anew."""
NAMED = 3
"""Suspicions that are told one by one."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The document with the trust that its text deserves, and a line for the report about what is suspicious in it."""

    document: Document
    warnings: tuple[str, ...]


def judged(document: Document) -> Judged:
    """Look for planted instructions in a document's title and text, and in its other names that a model is shown: the
    title that it gives itself, its headings, which need not stand in its text, and the labels of its pages.

    One that holds any becomes untrusted. Nothing is taken out of it, and no document gains trust here. What it says of
    itself stays, so that it can be judged anew.

    Whether a person's rule approves the document is for the caller to ask: who approved it has read it. Then it stays
    approved, and only the warnings are told.
    """
    in_text, in_title = scan(document.text), scan(document.title)
    in_names = () if in_text or in_title else scan(_names(document))
    if not (in_text or in_title or in_names):
        return Judged(document, ())
    return Judged(replace(document, trust=Trust.UNTRUSTED), tuple(_warnings(document, in_text, in_title, in_names)))


def _names(document: Document) -> str:
    """Each once, and apart from the others."""
    headings = (name for element in document.elements for name in element.heading_path)
    return "\n\n".join(dict.fromkeys((document.own_title, *headings, *(page.label for page in document.pages))))


def _warnings(
    document: Document, in_text: Sequence[Suspicion], in_title: Sequence[Suspicion], in_names: Sequence[Suspicion]
) -> Iterator[str]:
    for suspicion in in_title[:1]:
        yield f"Its title speaks to a language model: {_quoted(suspicion)}."
    for suspicion in in_names[:1]:
        yield f"Its own title, a heading or a page's label speaks to a language model: {_quoted(suspicion)}."
    for suspicion in in_text[:NAMED]:
        pages = document.pages_of(suspicion.start, suspicion.end)
        place = f"Page {pages[0].label}" if pages else "It"
        yield f"{place} speaks to a language model: {_quoted(suspicion)}."
    if len(in_text) > NAMED:
        yield f"It does so in {len(in_text) - NAMED} more places."


def _quoted(suspicion: Suspicion) -> str:
    return f'"{UNSEEN.sub("", suspicion.shown)}" ({suspicion.kind}, {suspicion.strength:.2f})'
