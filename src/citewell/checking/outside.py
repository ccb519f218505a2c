"""The web as the last source of corrective RAG: what may be sent there, what is taken of it, what an answer tells."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.checking.corrective import Further
from citewell.errors import ServiceError
from citewell.models.embedder import Embedder
from citewell.retrieval.analyser import analyse
from citewell.retrieval.floor import above_floor, content_words
from citewell.retrieval.web import STEP, WebSearch
from citewell.types import Chunk, Citation, Floor, FloorOrigin, Hit, Scale, Trace

NOT_SEARCHED = "The web was not searched. "
UNCHECKED = "it is what a search engine shows of these pages, and nobody has approved it"
LEANS = f"{NOT_SEARCHED}The question leans on an earlier answer, whose words are not sent."


def from_web(
    web: WebSearch, question: str, said: Sequence[str], floor: Floor, embedder: Embedder, trace: Trace
) -> Further:
    """Passages of the web that are near enough to a question. That it could not be searched is a warning, no error.

    `said` is all that the asker typed. A question with telling words that are not in it has them from an earlier
    answer, and so from documents: then nothing is sent.
    """
    typed = {token for text in said for token in analyse(text)}
    if not content_words(question) <= typed:
        return Further((), (LEANS,))
    with trace.step(STEP, 1) as step:
        try:
            passages = web.search(question)
        except ServiceError as error:
            return Further((), (f"{NOT_SEARCHED}{error.message} {error.remedy}",))
        hits = _hits(question, passages, embedder)
        if floor.origin is not FloorOrigin.OFF:
            hits = above_floor(question, hits, floor.least)
        step.out = len(hits)
    return Further(hits)


def web_warnings(citations: Sequence[Citation]) -> tuple[str, ...]:
    """What an answer says where it rests on the web."""
    numbers = [citation.n for citation in citations if citation.of_web]
    if not numbers:
        return ()
    cited = "".join(f"[{n}]" for n in numbers)
    return (f"From the web, not from your documents: {cited}; {UNCHECKED}.",)


def _hits(question: str, passages: Sequence[Chunk], embedder: Embedder) -> tuple[Hit, ...]:
    if not passages:
        return ()
    vectors = embedder.embed_passages([f"{passage.title}\n{passage.text}" for passage in passages])
    cosines = (vectors @ embedder.embed_queries([question])[0]).tolist()
    return tuple(
        Hit(passage, passage.id, cosine, Scale.COSINE, rank, {STEP: rank}, cosine)
        for rank, (passage, cosine) in enumerate(zip(passages, cosines, strict=True), start=1)
    )
