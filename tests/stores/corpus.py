"""Small documents to store: real vectors, tokens and rights, made from a few words each."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import date

import numpy as np
from numpy.typing import NDArray

from citewell.models.embedder import ModelIdentity, Vectors
from citewell.stores.store import IndexedDocument, IndexedEntry, Store
from citewell.types import EVERYONE, Chunk, Document, Element, ElementKind, Entry, EntryKind, Page, Rights

DIMENSIONS = 32


def identity(dimensions: int = DIMENSIONS) -> ModelIdentity:
    return ModelIdentity("scripted", "1", dimensions, 256, "mean", "", "")


def unit_vectors(count: int, seed: int, dimensions: int = DIMENSIONS) -> Vectors:
    rows = np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def indexed(
    document_id: str,
    texts: Sequence[str],
    *,
    vectors: Vectors | None = None,
    groups: Iterable[str] = (EVERYONE,),
    valid_from: date | None = None,
    valid_to: date | None = None,
) -> IndexedDocument:
    """A document with one chunk and one entry a text, whose tokens are the text's words as they stand."""
    rights = Rights(frozenset(groups))
    text = "\n".join(texts)
    starts = [sum(len(earlier) + 1 for earlier in texts[:place]) for place in range(len(texts))]
    document = Document(
        id=document_id,
        content_hash=_hash(text),
        title=f"Title of {document_id}",
        source=f"file:///{document_id}",
        version="1",
        text=text,
        elements=tuple(
            Element(ElementKind.PARAGRAPH, start, start + len(part), ("Top",), 1)
            for start, part in zip(starts, texts, strict=True)
        ),
        rights=rights,
        pages=(Page(1, "i", 0, len(text)),),
        valid_from=valid_from,
        valid_to=valid_to,
    )
    chunks = tuple(
        Chunk(
            id=f"{document_id}/{place:04d}",
            document_id=document_id,
            title=document.title,
            source=document.source,
            version="1",
            text=part,
            start=start,
            end=start + len(part),
            heading_path=("Top", "Below"),
            pages=((1, "i"),),
            kind=ElementKind.PARAGRAPH,
            rights=rights,
            trust=document.trust,
        )
        for place, (start, part) in enumerate(zip(starts, texts, strict=True))
    )
    entries = tuple(
        IndexedEntry(
            Entry(
                id=f"{chunk.id}/e",
                chunk_id=chunk.id,
                document_id=document_id,
                kind=EntryKind.CHUNK,
                text=chunk.text,
                rights=rights,
                derived_from=(chunk.id,),
                valid_from=valid_from,
                valid_to=valid_to,
            ),
            tokens=chunk.text,
            text_hash=_hash(chunk.text),
        )
        for chunk in chunks
    )
    if vectors is None:
        seed = int(_hash(document_id)[:8], 16)
        vectors = unit_vectors(len(texts), seed)
    return IndexedDocument(document, "recipe-1", chunks, entries, vectors)


def commit(store: Store, added: Sequence[IndexedDocument], removed: Collection[str] = ()) -> None:
    """A run of one commit."""
    with store.writing():
        store.commit(added, removed)


def bm25(texts: dict[str, str], query: Sequence[str], k1: float = 1.2, b: float = 0.75) -> dict[str, float]:
    """Textbook BM25 of every text with some query token, by text id. A token asked for twice counts twice."""
    counted = {name: Counter(text.split()) for name, text in texts.items()}
    mean_length = sum(counts.total() for counts in counted.values()) / len(counted)
    scores = dict.fromkeys(counted, 0.0)
    for token in query:
        having = [name for name, counts in counted.items() if counts[token]]
        idf = math.log((len(counted) - len(having) + 0.5) / (len(having) + 0.5) + 1)
        for name in having:
            times, length = counted[name][token], counted[name].total()
            scores[name] += idf * times * (k1 + 1) / (times + k1 * (1 - b + b * length / mean_length))
    return {name: score for name, score in scores.items() if score > 0}


def zipf_texts(count: int, seed: int, vocabulary: int = 400) -> list[str]:
    """Texts of 5 to 30 words, of which few are common and most are rare."""
    random = np.random.default_rng(seed)
    chances: NDArray[np.float64] = 1 / np.arange(1, vocabulary + 1)
    chances /= chances.sum()
    return [
        " ".join(f"w{number}" for number in random.choice(vocabulary, size=random.integers(5, 31), p=chances))
        for _ in range(count)
    ]


def numbered(number: int, name: str = "") -> IndexedDocument:
    """One of a series of documents, which two processes can make alike."""
    return indexed(name or f"d{number}", zipf_texts(5, number))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
