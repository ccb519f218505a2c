"""What of a test set points nowhere any more: documents change after their questions were written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cached_property
from urllib.parse import unquote

from citewell import clock
from citewell.evaluation.naming import short_names
from citewell.evaluation.nearest import nearest, passages
from citewell.evaluation.placing import holds, in_section, is_of, plain
from citewell.evaluation.runs import reader_of
from citewell.evaluation.testset import Evidence, Question
from citewell.index import Index
from citewell.types import Chunk, Document, Principal

LEAKS_FROM = 3
"""Words; a shorter question ("Opening hours?") may stand anywhere by chance."""


class Fault(StrEnum):
    """What is wrong with a piece of evidence, in the order in which it is looked at; or with a question."""

    NO_DOCUMENT = "no document"
    NOT_ALLOWED = "not allowed"
    NOT_IN_FORCE = "not in force"
    SECTION_GONE = "section gone"
    QUOTE_GONE = "quote gone"
    QUOTE_CUT = "quote cut"
    ALLOWED = "allowed"
    LEAK = "leak"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong. `document` is named as the evidence does; for a leak it is the one with the question.

    `nearest` is what stands there now and is most like what is gone, "" where nothing is.
    """

    question: str
    fault: Fault
    document: str
    problem: str
    remedy: str
    nearest: str = ""


def check(index: Index, questions: Sequence[Question]) -> tuple[Finding, ...]:
    """What is wrong with each question, in order; () where all evidence can be found by whoever is to find it.

    A quote must stand in a chunk of its document as it is in force on the question's day, or a section among its
    headings. Who asks must be able to read that, and must not if the question is not answerable. No question may stand
    word for word in a document: such a copy of the test set would be found instead of the answer. The owner's call.
    """
    references = References(index)
    return tuple(finding for question in questions for finding in references.findings(question))


class References:
    """What the index holds now, to look up evidence in."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._stored = {document.id: document for document in index.stored()}
        self._by_name: dict[str, list[Document]] = defaultdict(list)
        self._plain: dict[tuple[str, int], str] = {}
        self._visible: dict[tuple[Principal, date], dict[str, Document]] = {}
        self._chunks: dict[tuple[str, int], tuple[Chunk, ...]] = {}
        for document in self._stored.values():
            self._by_name[_last(unquote(document.source))].append(document)
        self._everything = "\n".join(map(self._text, self._stored.values()))

    def findings(self, question: Question) -> Iterator[Finding]:
        """As `check`, of one question."""
        for evidence in question.evidence:
            named = [each for each in self._by_name[_last(evidence.document)] if is_of(each.source, evidence.document)]
            found = [self._finding(question, evidence, document) for document in named]
            if not found:
                yield _no_document(question, evidence, nearest(evidence.document, [*self._names.values()]))
            elif None not in found:
                # Of several documents with that name, the one that comes nearest to what is wanted.
                yield max(filter(None, found), key=lambda finding: list(Fault).index(finding.fault))
        yield from self._leaks(question)

    @cached_property
    def _names(self) -> dict[str, str]:
        return short_names([document.source for document in self._stored.values()])

    def _finding(self, question: Question, evidence: Evidence, document: Document) -> Finding | None:
        reader, day = reader_of(question), question.as_of or clock.today()
        summary = self._seen(reader, day).get(document.id)
        if summary is None and question.answerable:
            return _not_visible(question, evidence, document, day)
        version = self._whole(summary, reader, day) if summary is not None else document
        if not self._stands_in(version, evidence):
            return _gone(question, evidence, version)
        if summary is None:
            return None
        if not question.answerable:
            return _allowed(question, evidence)
        return None if self._in_a_chunk(version, evidence, reader, day) else _cut(question, evidence)

    def _seen(self, reader: Principal, day: date) -> dict[str, Document]:
        if (reader, day) not in self._visible:
            found = self._index.documents(principal=reader, as_of=day)
            self._visible[reader, day] = {document.id: document for document in found}
        return self._visible[reader, day]

    def _whole(self, summary: Document, reader: Principal, day: date) -> Document:
        """The version of which this is the summary."""
        current = self._stored.get(summary.id)
        if current is not None and current.number == summary.number:
            return current
        shown = self._index.show(summary.id, principal=reader, as_of=day)
        return shown if isinstance(shown, Document) else summary

    def _stands_in(self, document: Document, evidence: Evidence) -> bool:
        if evidence.quote.strip():
            return plain(evidence.quote) in self._text(document)
        return any(in_section(element.heading_path, evidence.section) for element in document.elements)

    def _in_a_chunk(self, version: Document, evidence: Evidence, reader: Principal, day: date) -> bool:
        if not evidence.quote.strip():
            return True  # a section is cut into chunks, and each of them is of it
        key = version.id, version.number
        if key not in self._chunks:
            self._chunks[key] = self._index.chunks(version.id, principal=reader, as_of=day)
        return any(holds(chunk, evidence) for chunk in self._chunks[key])

    def _leaks(self, question: Question) -> Iterator[Finding]:
        asked = plain(question.question)
        if len(asked.split()) >= LEAKS_FROM and asked in self._everything:
            copy = next(each for each in self._stored.values() if asked in self._text(each))
            yield _leak(question, self._names[copy.source])

    def _text(self, document: Document) -> str:
        key = document.id, document.number
        if key not in self._plain:
            self._plain[key] = plain(document.text)
        return self._plain[key]


def _no_document(question: Question, evidence: Evidence, like: str) -> Finding:
    return Finding(
        question.id,
        Fault.NO_DOCUMENT,
        evidence.document,
        "No document of the index has this name.",
        f"The nearest name is {like!r}." if like else "Index it, or take the question out.",
        like,
    )


def _not_visible(question: Question, evidence: Evidence, document: Document, day: date) -> Finding:
    if not document.rights.allows(reader_of(question)):
        asked, may = (", ".join(sorted(groups)) or "nobody" for groups in (question.groups, document.rights.groups))
        problem = f"It is asked by {asked if question.groups else 'everyone'}, and may be read by {may}."
        remedy = "Give the question a group that may read it, or set answerable to false."
        return Finding(question.id, Fault.NOT_ALLOWED, evidence.document, problem, remedy)
    first = f" from {document.valid_from}" if document.valid_from else ""
    last = f" until {document.valid_to}" if document.valid_to else ""
    problem = f"It is asked about {day}, and the document is in force{first}{last}."
    return Finding(
        question.id, Fault.NOT_IN_FORCE, evidence.document, problem, "Set as_of to a day on which it is in force."
    )


def _gone(question: Question, evidence: Evidence, document: Document) -> Finding:
    if evidence.quote.strip():
        what, fault, there = f"The quote {evidence.quote!r}", Fault.QUOTE_GONE, list(passages(document))
    else:
        what, fault = f"The section {evidence.section!r}", Fault.SECTION_GONE
        there = [element.heading_path[-1] for element in document.elements if element.heading_path]
    like = nearest(evidence.quote or evidence.section, there)
    remedy = f"Nearest to it is {like!r}; if that is meant, put it there." if like else "Nothing in it is like it."
    return Finding(question.id, fault, evidence.document, f"{what} is not in it.", remedy, like)


def _cut(question: Question, evidence: Evidence) -> Finding:
    return Finding(
        question.id,
        Fault.QUOTE_CUT,
        evidence.document,
        f"The quote {evidence.quote!r} is in its text and in none of its chunks: a cut goes through it.",
        "Shorten the quote to one sentence, or split it into two pieces of evidence.",
    )


def _allowed(question: Question, evidence: Evidence) -> Finding:
    return Finding(
        question.id,
        Fault.ALLOWED,
        evidence.document,
        "The question is not to be answered, and whoever asks it may read its evidence.",
        "Set answerable to true, or ask it with other groups.",
    )


def _leak(question: Question, document: str) -> Finding:
    return Finding(
        question.id,
        Fault.LEAK,
        document,
        "The question stands in the index word for word.",
        "Take the copy out with `citewell delete`; if the document may stay, ask in other words, as people do.",
    )


def _last(path: str) -> str:
    return path.rpartition("/")[2]
