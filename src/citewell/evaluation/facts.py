"""What is true of a failed question, or of the index, that a technique can need: without it, it changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

from citewell import clock
from citewell.evaluation.placing import holds, is_of
from citewell.evaluation.runs import Outcome
from citewell.evaluation.testset import Evidence, Question
from citewell.index import Index
from citewell.queries.decomposition_rules import split
from citewell.queries.routing import Way, route
from citewell.types import Document, ElementKind, Principal, Trust

FEW = 3
"""Passages that `keep 3` keeps."""


class Fact(StrEnum):
    """As the decision table names them."""

    ABSENT = "no document of that name"
    PRESENT = "a document of that name"
    UNREAD = "something of the document was not read"
    APPROVED = "the document is approved"
    IN_TABLE = "a table of the document"
    IS_SEVERAL = "the question has parts"
    IS_ROUTED = "the question has another way"
    ALL_SENTENCES = "as many sentences as there may be"
    CITED_LATE = "a passage after the third is cited"
    SEVERAL_LEGS = "several legs"
    VECTORS_INDEXED = "vectors are searched by an index"
    TOKEN_VECTORS = "token vectors are kept"  # noqa: S105 - nobody's


def of_index(index: Index) -> frozenset[Fact]:
    """Of the index with its settings, for all questions."""
    settings, status = index.settings, index.status()
    kept = settings.storage.token_vectors and all(one.setting != "storage.token_vectors" for one in status.drift)
    facts = {
        Fact.SEVERAL_LEGS: len(settings.retrieval.legs) > 1,
        Fact.VECTORS_INDEXED: status.entries > settings.storage.exact_up_to,
        Fact.TOKEN_VECTORS: kept,
    }
    return frozenset(fact for fact, holds_true in facts.items() if holds_true)


def of_failed(index: Index, stored: Sequence[Document], outcome: Outcome, evidence: Evidence | None) -> frozenset[Fact]:
    """Of a failed question, and of the evidence that was lost: all of it where that is None. The owner's: it reads what
    the asker may not."""
    lost = (evidence,) if evidence is not None else outcome.question.evidence
    documents = (fact for each in lost for fact in _of_documents(index, stored, outcome.question, each))
    return frozenset((*documents, *_of_question(outcome.question.question), *_of_answer(index, outcome)))


def _of_documents(index: Index, stored: Sequence[Document], question: Question, evidence: Evidence) -> Iterator[Fact]:
    named = [document for document in stored if is_of(document.source, evidence.document)]
    yield Fact.PRESENT if named else Fact.ABSENT
    for document in named:
        if document.lost:
            yield Fact.UNREAD
        if document.trust is Trust.APPROVED:
            yield Fact.APPROVED
        owner, day = Principal(groups=document.rights.groups), question.as_of or clock.today()
        chunks = index.chunks(document.id, principal=owner, as_of=day)
        holding = [chunk for chunk in chunks if holds(chunk, evidence)] or chunks  # whole in none: then in any
        if any(chunk.kind is ElementKind.TABLE for chunk in holding):
            yield Fact.IN_TABLE


def _of_question(question: str) -> Iterator[Fact]:
    if split(question):
        yield Fact.IS_SEVERAL
    if route(question) is not Way.ONE:
        yield Fact.IS_ROUTED


def _of_answer(index: Index, outcome: Outcome) -> Iterator[Fact]:
    answer = outcome.answer
    if answer is None:
        return
    if len(answer.sentences) >= index.settings.generation.max_sentences:
        yield Fact.ALL_SENTENCES
    cited = {citation.chunk_id for citation in answer.citations}
    if any(hit.passage.id in cited or hit.chunk.id in cited for hit in answer.hits[FEW:]):
        yield Fact.CITED_LATE
