"""`synthetic_questions`: a chunk is found by its question and listed once, and what all the vectors take.

The same vectors as a forecast are in `test_cost`.
"""

from __future__ import annotations

import json
import random
import re
import string
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from citewell.chunking import chunk
from citewell.enrichment import Enriched, Enricher
from citewell.evaluation.forecast.formulas import vector_bytes
from citewell.loading.given import from_text
from citewell.models.embedder import TokenSpans, Vectors, unit_rows
from citewell.models.encoding import Encoders
from citewell.models.llm import Completion, Prompt
from citewell.retrieval.query import Query
from citewell.retrieval.search import search
from citewell.settings import Chunking, Enrichment, Retrieval, Storage
from citewell.stores.lance import LanceStore
from citewell.stores.store import OWNER, IndexedDocument, IndexedEntry
from citewell.types import EntryKind, Hit, Trace, Trust
from tests.scripted_embedder import ScriptedEmbedder
from tests.stores.corpus import commit, made_with

DIMENSIONS = 1024  # as a key of the example names them
TOKENS, SIZE, OVERLAP = 80_000, 400, 50  # the document of `chunk_count`


class ScriptedQuestions:
    """Writes the same three questions of every passage."""

    def complete(self, _: Prompt) -> Completion:
        return Completion(json.dumps(["What is it?", "What is it for?", "What does it cost?", "Why so?"]))


class Asks(ScriptedEmbedder):
    """A token a word; the vector of every query is the first axis."""

    def token_spans(self, text: str) -> TokenSpans:
        return np.array([match.span() for match in re.finditer(r"\S+", text)], dtype=np.int64).reshape(-1, 2)

    def _vectors(self, texts: list[str]) -> Vectors:  # type: ignore[override]  # only lists are given here
        return np.tile(np.eye(1, DIMENSIONS, dtype=np.float32), (len(texts), 1))


@pytest.fixture(scope="module")
def made(worked: dict[str, Any]) -> tuple[IndexedDocument, Enriched]:
    """The document with its questions. Of the vectors, two have something of the query's."""
    example = worked["synthetic_questions"]
    embedder = Asks("scripted", DIMENSIONS, SIZE + 2)
    text = " ".join(random.Random(7).choices(string.ascii_lowercase, k=TOKENS))
    document = replace(
        from_text(text, source="bank:manual"), trust=Trust.APPROVED, indexed_at=datetime(2026, 1, 1, tzinfo=UTC)
    )
    chunked = chunk(document, Chunking(method="fixed", size=SIZE, overlap=OVERLAP), embedder)
    settings = Enrichment(questions=example["vectors"]["questions_each"], parallel=1)
    enriched = Enricher(ScriptedQuestions(), "m", settings, embedder).enrich(document, chunked, {}, lambda _: None)
    rows = np.random.default_rng(7).standard_normal((len(enriched.entries), DIMENSIONS))
    rows[:, 0] = 0
    vectors = unit_rows(rows)
    similar = example["similarities"]
    first = chunked.chunks[0].id
    for place, entry in enumerate(enriched.entries):
        if entry.id in (f"{first}/chunk", f"{first}/question-1"):
            cosine = similar["chunk A" if entry.kind is EntryKind.CHUNK else "question 1 of A"]
            vectors[place] *= np.sqrt(1 - cosine**2)
            vectors[place, 0] = cosine
    entries = tuple(IndexedEntry(entry, "word", entry.id) for entry in enriched.entries)
    return IndexedDocument(document, "recipe", chunked.chunks, entries, vectors), enriched


def test_the_vectors(worked: dict[str, Any], made: tuple[IndexedDocument, Enriched]) -> None:
    expected = worked["synthetic_questions"]["vectors"]
    document, enriched = made
    kinds = [entry.kind for entry in enriched.entries]
    assert kinds.count(EntryKind.CHUNK) == len(document.chunks) == expected["chunks"]
    assert kinds.count(EntryKind.QUESTION) == expected["chunks"] * expected["questions_each"]
    assert len(document.vectors) == expected["total"]
    assert document.vectors.nbytes == vector_bytes(expected["total"], DIMENSIONS) == expected["bytes_f32_1024d"]


def test_the_chunk_has_the_score_of_its_question_and_is_listed_once(
    worked: dict[str, Any], made: tuple[IndexedDocument, Enriched], tmp_path: Path
) -> None:
    example = worked["synthetic_questions"]
    hits = found(made[0], tmp_path, k=len(made[0].chunks))
    first = made[0].chunks[0].id
    assert hits[0].chunk.id == first
    assert hits[0].score == hits[0].cosine == pytest.approx(example["score_of_A"], abs=1e-6)
    assert hits[0].entry_id == f"{first}/question-1"
    ids = [hit.chunk.id for hit in hits]
    assert ids.count(first) == example["times_A_is_listed"]
    assert len(set(ids)) == len(ids) == len(made[0].chunks)


def found(document: IndexedDocument, path: Path, k: int) -> tuple[Hit, ...]:
    store = LanceStore.create(path, made_with(DIMENSIONS), Storage())
    commit(store, [document])
    settings = Retrieval(legs=("dense",), rerank=False)
    encoders = Encoders(Asks("scripted", DIMENSIONS))
    hits = search(Query("?"), k, OWNER, store=store.reader(), encoders=encoders, settings=settings, trace=Trace())
    store.close()
    return hits
