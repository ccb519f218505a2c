"""Small documents to store: real vectors, tokens and rights, made from a few words each."""

from __future__ import annotations

import hashlib
import math
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime

import numpy as np
from numpy.typing import NDArray

from citewell.filters import FieldType
from citewell.models.embedder import Embedded, ModelIdentity, Vectors
from citewell.models.sparse import SparseVector
from citewell.stores.store import IndexedDocument, IndexedEntry, MadeWith, Standing, Store, VersionKey
from citewell.types import (
    EVERYONE,
    Chunk,
    Document,
    Element,
    ElementKind,
    Entry,
    EntryKind,
    FieldValue,
    Page,
    Rights,
)

DIMENSIONS = 32
INDEXED_AT = datetime(2026, 5, 4, 3, 2, 1, 123_456, tzinfo=UTC)


def identity(dimensions: int = DIMENSIONS) -> ModelIdentity:
    return ModelIdentity("scripted", "1", dimensions, 256, "mean", "", "")


def made_with(dimensions: int = DIMENSIONS) -> MadeWith:
    return MadeWith(identity(dimensions), ((0.5, 0.25),), "1", sparse="scripted")


def key(document_id: str, number: int = 1) -> VersionKey:
    return VersionKey(document_id, number)


def unit_vectors(count: int, seed: int, dimensions: int = DIMENSIONS) -> Vectors:
    rows = np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def embedded(vectors: Vectors) -> list[Embedded]:
    """With token vectors and sparse vectors of other bytes and another length each, and the last without."""
    *others, last = vectors
    made = [
        Embedded(row, row[place::-1].tobytes(), sparse(dict.fromkeys(range(place, 2 * place + 2), 0.5)).pack())
        for place, row in enumerate(others)
    ]
    return [*made, Embedded(last)]


def sparse(weights: Mapping[int, float]) -> SparseVector:
    terms = sorted(weights)
    return SparseVector(np.array(terms, np.uint32), np.array([weights[term] for term in terms], np.float32))


def term_of(word: str) -> int:
    """Any of the numbers that a term may have, so that many words have the same lower half."""
    number = zlib.crc32(word.encode())
    return (number >> 16) % 15_000 * 65_536 + number % 50


def sparse_of(text: str) -> SparseVector:
    """A term for each word of the text, the heavier the more often it is there."""
    return sparse({term: times / 2 for term, times in Counter(map(term_of, text.split())).items()})


def indexed(
    document_id: str,
    texts: Sequence[str],
    *,
    vectors: Vectors | None = None,
    groups: Iterable[str] = (EVERYONE,),
    valid_from: date | None = None,
    valid_to: date | None = None,
    number: int = 1,
    standing: Standing | None = None,
    fields: Mapping[str, FieldValue] | None = None,
    source: str = "",
    replies: Mapping[str, str] | None = None,
) -> IndexedDocument:
    """A document with one chunk and one entry a text, whose tokens are the text's words as they stand, and its terms
    too."""
    name = document_id if number == 1 else f"{document_id}@{number}"
    rights = Rights(frozenset(groups))
    text = "\n".join(texts)
    starts = [sum(len(earlier) + 1 for earlier in texts[:place]) for place in range(len(texts))]
    document = Document(
        id=document_id,
        content_hash=_hash(text),
        title=f"Title of {document_id}",
        source=source or f"file:///{document_id}",
        version=str(number),
        text=text,
        elements=tuple(
            Element(ElementKind.PARAGRAPH, start, start + len(part), ("Top",), 1)
            for start, part in zip(starts, texts, strict=True)
        ),
        rights=rights,
        pages=(Page(1, "i", 0, len(text)),),
        valid_from=valid_from,
        valid_to=valid_to,
        number=number,
        indexed_at=INDEXED_AT,
        fields=fields or {},
    )
    chunks = tuple(
        Chunk(
            id=f"{name}/{place:04d}",
            document_id=document_id,
            title=document.title,
            source=document.source,
            version=str(number),
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
    if vectors is None:
        seed = int(_hash(name)[:8], 16)
        vectors = unit_vectors(len(texts), seed)
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
            ),
            tokens=chunk.text,
            text_hash=_hash(chunk.text),
            token_vectors=vector[::-1].tobytes(),
            sparse=sparse_of(chunk.text).pack(),
        )
        for chunk, vector in zip(chunks, vectors, strict=True)
    )
    standing = standing or Standing(in_force_from=valid_from, in_force_to=valid_to)
    return IndexedDocument(document, "recipe-1", chunks, entries, vectors, standing, replies=replies or {})


def commit(store: Store, put: Sequence[IndexedDocument], drop: Collection[VersionKey] = ()) -> None:
    """A run of one commit."""
    with store.writing():
        store.commit(put, drop)


def declare(store: Store, fields: Mapping[str, FieldType]) -> None:
    with store.writing():
        store.declare(fields)


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


def dot_products(texts: Mapping[str, str], query: SparseVector) -> dict[str, float]:
    """Of the sparse vectors of all texts that have some term of the query, by text id."""
    asked = dict(zip(query.terms.tolist(), query.weights.tolist(), strict=True))
    scores = {name: sum(asked.get(term_of(word), 0.0) / 2 for word in text.split()) for name, text in texts.items()}
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
