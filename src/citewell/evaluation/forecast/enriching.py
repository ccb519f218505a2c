"""What a language model is to write when documents are indexed: counted in the prompts themselves."""

from __future__ import annotations

from citewell.chunking import Chunked
from citewell.chunking.entries import entry
from citewell.enrichment import CONTEXT_TOKENS, Task, tasks
from citewell.evaluation.forecast.counting import Drawn
from citewell.evaluation.forecast.rates import Assumptions
from citewell.evaluation.forecast.work import NOTHING, Work
from citewell.models.embedder import Embedder
from citewell.settings import Enrichment, Untrusted
from citewell.types import Chunk, Document, EntryKind

MOST_PROMPTS = 200
"""Measured of each kind; the rest are taken to be as long."""


def enriching(
    drawn: Drawn, settings: Enrichment, assumed: Assumptions, embedder: Embedder, untrusted: Untrusted = "cut"
) -> Work:
    """All documents once, with the passages that the index has. What is asked for twice, and what is known from an
    earlier run, is not counted."""
    written = {
        Enrichment(context=settings.context): min(assumed.context_tokens, CONTEXT_TOKENS),
        Enrichment(questions=settings.questions): settings.questions * assumed.stored_question_tokens,
        Enrichment(summaries=settings.summaries): assumed.summary_tokens,
    }
    return sum(
        (_work(drawn, kind, each, embedder, untrusted) for kind, each in written.items() if kind.of_a_model), NOTHING
    )


def _work(drawn: Drawn, kind: Enrichment, written: int, embedder: Embedder, untrusted: Untrusted) -> Work:
    """Of one kind, each of whose replies has so many tokens."""
    asked = [
        task
        for document, chunks in drawn.taken
        for task in tasks(document, _cut(document, chunks), kind, embedder, untrusted)
    ]
    if not asked:
        return NOTHING
    some = asked[:: -(-len(asked) // MOST_PROMPTS)]
    calls = round(len(asked) * drawn.documents / len(drawn.taken))
    return Work(
        calls=calls,
        input_tokens=round(calls * sum(_length(task, embedder) for task in some) / len(some)),
        output_tokens=calls * written,
        embedding_tokens=calls * written,
    )


def _cut(document: Document, chunks: tuple[Chunk, ...]) -> Chunked:
    """What chunking gave, as far as prompts depend on it. Rows (`#3.1`) and parents (`#p2`) are no passages."""
    small = (chunk for chunk in chunks if chunk.id.rpartition("#")[2].isdigit())
    return Chunked(chunks, tuple(entry(document, chunk, EntryKind.CHUNK, chunk.text) for chunk in small), ())


def _length(task: Task, embedder: Embedder) -> int:
    return len(embedder.token_spans(f"{task.prompt.system}\n{task.prompt.user}"))
