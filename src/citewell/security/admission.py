"""A document on its way into the index: whether it speaks to a language model, and what that costs it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from citewell.security.scan import Suspicion, scan
from citewell.signs import UNSEEN
from citewell.types import Document, Trust

NAMED = 3
"""Suspicions that are told one by one."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The document as it is to be indexed, what of its text is suspicious, and a line about each for the report."""

    document: Document
    suspicions: tuple[Suspicion, ...]
    warnings: tuple[str, ...]


def judged(document: Document) -> Judged:
    """Look for planted instructions in a document's title and text.

    One that holds any becomes untrusted, whatever its rules say of it: so does text that is hidden in a file. Nothing
    is taken out of it, and no document gains trust here.
    """
    in_text, in_title = scan(document.text), scan(document.title)
    if not (in_text or in_title):
        return Judged(document, (), ())
    declared = replace(document.declared, trust=Trust.UNTRUSTED)
    lowered = replace(document, trust=Trust.UNTRUSTED, declared=declared)
    return Judged(lowered, in_text, tuple(_warnings(document, in_text, in_title)))


def _warnings(document: Document, in_text: Sequence[Suspicion], in_title: Sequence[Suspicion]) -> Iterator[str]:
    for suspicion in in_title[:1]:
        yield f"Its title speaks to a language model: {_quoted(suspicion)}."
    for suspicion in in_text[:NAMED]:
        pages = document.pages_of(suspicion.start, suspicion.end)
        place = f"Page {pages[0].label}" if pages else "It"
        yield f"{place} speaks to a language model: {_quoted(suspicion)}."
    if len(in_text) > NAMED:
        yield f"It does so in {len(in_text) - NAMED} more places."


def _quoted(suspicion: Suspicion) -> str:
    return f'"{UNSEEN.sub("", suspicion.shown)}" ({suspicion.kind}, {suspicion.strength:.2f})'
