"""What could not be read, told with an answer: a page that is lost may hold what was asked."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.generation.answer import Draft
from citewell.retrieval.analyser import analyse, analyse_query
from citewell.types import Document

NAMED = 3
SHARED = 2
LONGEST = 300


def lost_warnings(question: str, draft: Draft, lossy: Sequence[Document]) -> tuple[str, ...]:
    """Warnings about `lossy`, the documents in scope of which something could not be read.

    Of an answer, those that it cites, and those whose title shares `SHARED` words with the question; of an abstention
    all, those first whose title shares most.
    """
    asked = set(analyse_query(question))
    shared = {document.id: len(asked.intersection(analyse(document.title))) for document in lossy}
    nearest = sorted(lossy, key=lambda document: -shared[document.id])
    if draft.abstained:
        named = tuple(_warning(document, "may hold the answer") for document in nearest[:NAMED])
        more = len(lossy) - len(named)
        return (*named, f"{more} more documents could not be read whole.") if more > 0 else named
    cited = {citation.document_id for citation in draft.citations}
    about = (document for document in nearest if document.id in cited or shared[document.id] >= SHARED)
    return tuple(_warning(document, "may say more") for document in about)


def _warning(document: Document, what: str) -> str:
    lost = document.lost if len(document.lost) <= LONGEST else f"{document.lost[:LONGEST]}…"
    return f"What could not be read of {document.title} {what} ({lost.rstrip('.')})."
