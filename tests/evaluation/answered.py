"""Outcomes made by hand, for exact control of what is scored."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.evaluation.placing import held
from citewell.evaluation.runs import Outcome
from citewell.evaluation.testset import Question
from citewell.types import (
    Answer,
    Chunk,
    Citation,
    ElementKind,
    Hit,
    Rights,
    Scale,
    Sentence,
    Trust,
    Usage,
)


def hit(rank: int, text: str, source: str = "file:///d.md") -> Hit:
    chunk = Chunk(
        id=f"d@1#{rank}",
        document_id="d",
        title="D",
        source=source,
        version="1",
        text=text,
        start=0,
        end=len(text),
        heading_path=(),
        pages=(),
        kind=ElementKind.PARAGRAPH,
        rights=Rights(frozenset({"everyone"})),
        trust=Trust.APPROVED,
    )
    return Hit(chunk, chunk.id, 1 / rank, Scale.RRF, rank, {"dense": rank}, 0.5)


def citation(n: int, quote: str) -> Citation:
    return Citation(n, "d@1#1", "d", "D", "file:///d.md", (), "", None, quote, 0, len(quote), "file:///d.md")


def outcome(
    question: Question,
    passages: Sequence[str],
    sentences: Sequence[tuple[str, tuple[int, ...]]],
    quotes: Sequence[str] | None = None,
) -> Outcome:
    """An answer of `sentences` with the numbers that they cite; no sentence is an abstention."""
    hits = tuple(hit(rank, text) for rank, text in enumerate(passages, start=1))
    answer = Answer(
        question=question.question,
        text="\n".join(text for text, _ in sentences) or "I don't know: the documents do not cover this.",
        sentences=tuple(Sentence(text, cited) for text, cited in sentences),
        citations=tuple(citation(n, quote) for n, quote in enumerate(quotes or passages, start=1)),
        abstained=not sentences,
        reason="" if sentences else "nothing found is near enough to the question",
        hits=hits,
        warnings=(),
        usage=Usage(),
        trace=(),
    )
    return Outcome(question, hits, held(question, hits), 5.0, answer, 20.0, hits)
