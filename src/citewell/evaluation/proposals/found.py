"""All questions that can be proposed for a document without a model."""

from __future__ import annotations

from collections.abc import Iterator

from citewell.chunking.sentences import sentences
from citewell.evaluation.proposals.cells import cell_proposals
from citewell.evaluation.proposals.definitions import GLOSSARY, definition_question, entry_question
from citewell.evaluation.proposals.figures import figure_question
from citewell.evaluation.proposals.headings import heading_proposals
from citewell.evaluation.proposals.proposal import Proposal, Wording
from citewell.types import Document, Element, ElementKind

LANGUAGE = "en"
"""The one that the rules are written for."""

_PROSE = (ElementKind.PARAGRAPH, ElementKind.LIST)
_LONGEST = 300


def found_in(document: Document) -> Iterator[Proposal]:
    """In the order of the document's text, kind by kind; none for a document in another language."""
    if document.language and document.language.partition("-")[0] != LANGUAGE:
        return
    words = Wording(document)
    for element in document.elements:
        if element.kind in _PROSE:
            yield from _of_prose(document, element, words)
    yield from cell_proposals(document, words)
    yield from heading_proposals(document, words)


def _of_prose(document: Document, element: Element, words: Wording) -> Iterator[Proposal]:
    text = document.text[element.start : element.end]
    if any(map(GLOSSARY.search, element.heading_path[-1:])) and (question := entry_question(text, words)):
        yield Proposal("definition", question, text, element.start, element.end)
        return
    for start, end in sentences(text):
        sentence = text[start:end]
        if "\n" in sentence or len(sentence) > _LONGEST:
            continue
        asked = {"figure": figure_question(sentence, words), "definition": definition_question(sentence, words)}
        for kind, question in asked.items():
            if question:
                yield Proposal(kind, question, sentence, element.start + start, element.start + end)
                break
