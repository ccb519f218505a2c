"""How fast this machine is, timed on a few passages of an index: no language model is called."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from citewell.errors import FingerprintMismatch
from citewell.evaluation.forecast.counting import Drawn, counted, draw, tokens_of
from citewell.evaluation.forecast.rates import Speeds
from citewell.index import Index
from citewell.loading.given import from_text
from citewell.models.embedder import Embedder
from citewell.settings import Cache, Enrichment, Generation, Models, Queries, Security, Settings
from citewell.types import Principal

TIMED_PASSAGES = 16
INDEXED_PASSAGES = 128
"""Stored in one step, as a run stores some hundreds."""
TIMED_QUESTIONS = 5
QUESTION_WORDS = 12
MS = 1_000


def timed(at: str, drawn: Drawn, settings: Settings, embedder: Embedder, known: Speeds) -> Speeds:
    """The speeds that are known, and those of this machine in the place of the others.

    Of an index that was made with another embedder than `settings` name, it is not known how long a search would take.
    """
    found: dict[str, float] = {}
    alone = _without_others(settings)
    if known.embedding is None:
        found["embedding"] = embedding_ms_per_token(drawn, embedder)
        if known.indexing is None:
            found["indexing"] = indexing_ms_per_token(drawn, alone)
    if known.searching is None:
        embedding = known.embedding if known.embedding is not None else found["embedding"]
        with suppress(FingerprintMismatch):
            found["searching"], quoting = _ms_of_a_question(at, drawn, alone, embedder, embedding)
            if known.quoting is None:
                found["quoting"] = quoting
    return known.model_copy(update=found)


def embedding_ms_per_token(drawn: Drawn, embedder: Embedder) -> float:
    """Of passages, by the embedder alone."""
    texts = [hit.chunk.text for hit in drawn.hits[:TIMED_PASSAGES]]
    embedder.embed_passages(texts[:1])  # loads the model
    begin = time.perf_counter()
    embedder.embed_passages(texts)
    return (time.perf_counter() - begin) * MS / sum(tokens_of(text, embedder) for text in texts)


def indexing_ms_per_token(drawn: Drawn, settings: Settings) -> float:
    """Of passages that are cut, embedded and stored with all that is kept of them, in an index beside this one."""
    text = "\n\n".join(hit.chunk.text for hit in drawn.hits[:INDEXED_PASSAGES])
    with TemporaryDirectory() as folder, Index.create(Path(folder) / "index", settings=settings) as index:
        index.add_documents([from_text("Loads the models.", source="first")])
        begin = time.perf_counter()
        index.add_documents([from_text(text, source="timed")])
        seconds = time.perf_counter() - begin
        made = counted(draw(index), 0, index.embedder, token_vectors=False)
    return seconds * MS / made.embedded_tokens


def _ms_of_a_question(
    at: str, drawn: Drawn, settings: Settings, embedder: Embedder, embedding: float
) -> tuple[float, float]:
    """The median of finding the passages of a question, its embedding aside, and of quoting them."""
    hits = drawn.hits
    some = hits[:: max(1, len(hits) // (TIMED_QUESTIONS + 1))][: TIMED_QUESTIONS + 1]
    questions = [" ".join(hit.chunk.text.split()[:QUESTION_WORDS]) for hit in some]
    anyone = Principal(groups=frozenset().union(*(hit.chunk.rights.groups for hit in hits)))
    finding, whole = [], []
    with Index.open(at, settings=settings) as index:
        for question in questions:
            begin = time.perf_counter()
            index.search(question, principal=anyone)
            found = time.perf_counter()
            index.ask(question, principal=anyone)
            finding.append((found - begin) * MS - embedding * tokens_of(question, embedder))
            whole.append((time.perf_counter() - found) * MS - embedding * tokens_of(question, embedder))
    finding, whole = finding[1:] or finding, whole[1:] or whole  # the first loads the engine
    searching = max(0.0, median(finding))
    return searching, max(0.0, median(whole) - searching)


def _without_others(settings: Settings) -> Settings:
    """Without what is paid for, elsewhere or remembered: what a language model writes has a speed of its own."""
    reranker = settings.models.reranker
    own = reranker if reranker.startswith("onnx:") else Models().reranker
    most = settings.generation.max_sentences
    return settings.model_copy(
        update={
            "models": settings.models.model_copy(update={"llm": "none", "reranker": own}),
            "storage": settings.storage.model_copy(update={"vectors": "built-in", "vectors_url": ""}),
            "enrichment": Enrichment(),
            "queries": Queries(rewrite=False),
            "cache": Cache(queries=0),
            "generation": Generation(max_sentences=most),
            "security": settings.security.model_copy(update={"web": Security().web}),
        }
    )
