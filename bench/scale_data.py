"""Documents for `scale.py`: any number, always the same, with vectors that lie in clusters and texts of the bank."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from citewell.loading import discover, load
from citewell.models.embedder import Vectors
from citewell.retrieval.analyser import analyse, analyse_query
from citewell.settings import Loading
from citewell.stores.store import IndexedDocument, IndexedEntry
from citewell.types import EVERYONE, Chunk, Document, ElementKind, Entry, EntryKind, Rights, Trust

BANK = Path(__file__).parents[1] / "examples" / "bank" / "documents"
DIMENSIONS = 384
CHUNKS_A_DOCUMENT = 20
DOCUMENTS_A_BATCH = 500

WIDE, NARROW = 50, 20
SHARE_OF_CLUSTERED = 0.01
SHARES = {"50%": 0.5, "10%": 0.1, "1%": 0.01, "0.1%": 0.001}
PIECE = 22
INDEXED_AT = datetime(2026, 1, 1, tzinfo=UTC)

QUESTIONS = (
    "How many days does a customer have to dispute a card payment?",
    "What is the chargeback fee for a business customer?",
    "What does decline code R-17 mean?",
    "Which branch is open on Saturday?",
    "Who approves a provisional credit above the limit?",
)


@dataclass(frozen=True, slots=True)
class Batch:
    """Some documents: `vectors` has shape (documents, chunks, dimensions), `groups` the names of each one's groups."""

    first: int
    seed: int
    vectors: Vectors
    groups: tuple[tuple[str, ...], ...]
    places: NDArray[np.int64]

    def documents(self) -> list[IndexedDocument]:
        return [self._document(place) for place in range(len(self.vectors))]

    def ids(self, place: int) -> list[str]:
        """Of a document's entries."""
        return [f"{self._name(place)}#{ordinal}/e" for ordinal in range(self.vectors.shape[1])]

    def _name(self, place: int) -> str:
        return f"{self.seed}-{self.first + place}"

    def _document(self, place: int) -> IndexedDocument:
        name, rights = self._name(place), Rights(frozenset(self.groups[place]))
        words = [[*range(start, start + PIECE)] for start in self.places[place].ravel()]
        pairs = [first + second for first, second in zip(words[::2], words[1::2], strict=True)]
        texts = [" ".join(bank_words()[word] for word in pair) for pair in pairs]
        tokens = [" ".join(token for word in pair for token in bank_tokens()[word]) for pair in pairs]
        document = Document(
            id=name,
            content_hash=name,
            title=f"Document {name}",
            source=f"file:///bench/{name}.txt",
            version="",
            text="\n\n".join(texts),
            elements=(),
            rights=rights,
            indexed_at=INDEXED_AT,
        )
        chunks = tuple(_chunk(document, ordinal, text) for ordinal, text in enumerate(texts))
        entries = tuple(_entry(chunk, some) for chunk, some in zip(chunks, tokens, strict=True))
        return IndexedDocument(document, "bench", chunks, entries, self.vectors[place])


def batches(documents: int, *, seed: int = 0, first: int = 0) -> Iterator[Batch]:
    """So many documents, from the `first` on, which is to be a multiple of the batch's size."""
    for start in range(first, first + documents, DOCUMENTS_A_BATCH):
        random = np.random.default_rng([seed, start])
        clusters = random.choice(WIDE * NARROW, size=DOCUMENTS_A_BATCH, p=_chances())
        vectors = _around(np.repeat(clusters, CHUNKS_A_DOCUMENT), random)
        draws = {name: random.random(DOCUMENTS_A_BATCH) < share for name, share in SHARES.items()}
        draws["clustered"] = np.isin(clusters, _set_apart())
        count = min(DOCUMENTS_A_BATCH, first + documents - start)
        yield Batch(
            start,
            seed,
            vectors.reshape(DOCUMENTS_A_BATCH, CHUNKS_A_DOCUMENT, DIMENSIONS)[:count],
            tuple((EVERYONE, *(name for name in draws if draws[name][place])) for place in range(count)),
            random.integers(len(bank_words()) - PIECE, size=(DOCUMENTS_A_BATCH, CHUNKS_A_DOCUMENT, 2)),
        )


def queries(count: int) -> Vectors:
    """Vectors near any cluster but those of the scope `clustered`."""
    random = np.random.default_rng(10**6)
    chances = _chances().copy()
    chances[_set_apart()] = 0
    return _around(random.choice(WIDE * NARROW, size=count, p=chances / chances.sum()), random)


def query_words(count: int) -> list[list[str]]:
    """Tokens of questions: five about the bank, the others three words from somewhere in its documents."""
    random = np.random.default_rng(10**6)
    starts = random.integers(len(bank_words()) - 9, size=count)
    others = (" ".join(bank_words()[start : start + 9 : 3]) for start in starts)
    return [analyse_query(QUESTIONS[place] if place < len(QUESTIONS) else text) for place, text in enumerate(others)]


@cache
def bank_words() -> list[str]:
    files = discover([BANK]).files
    return " ".join(load(file, Loading(ocr="off")).document.text for file in files).split()


@cache
def bank_tokens() -> list[list[str]]:
    """Of each word. Analysing each text whole would take longer than all the rest of the bench."""
    known = {word: analyse(word) for word in set(bank_words())}
    return [known[word] for word in bank_words()]


@cache
def _centres() -> Vectors:
    random = np.random.default_rng(7)
    wide, narrow = random.standard_normal((WIDE, 1, DIMENSIONS)), random.standard_normal((WIDE, NARROW, DIMENSIONS))
    wide /= np.linalg.norm(wide, axis=2, keepdims=True)
    narrow /= np.linalg.norm(narrow, axis=2, keepdims=True)
    return np.asarray((wide + 0.7 * narrow).reshape(WIDE * NARROW, DIMENSIONS), dtype=np.float32)


@cache
def _chances() -> NDArray[np.float64]:
    """Of each cluster: the largest has 4 % of the documents, most have less than 0.1 %."""
    chances: NDArray[np.float64] = 1 / np.arange(1, WIDE * NARROW + 1) ** 0.7
    return np.random.default_rng(8).permutation(chances / chances.sum())


@cache
def _set_apart() -> NDArray[np.int64]:
    """A few clusters that together have 1 % of the documents."""
    order = np.argsort(-_chances())[20:]
    shares = np.cumsum(_chances()[order])
    return order[: 1 + int(np.searchsorted(shares, SHARE_OF_CLUSTERED))]


def _around(clusters: NDArray[np.int64], random: np.random.Generator) -> Vectors:
    noise = 0.35 / np.sqrt(DIMENSIONS) * random.standard_normal((len(clusters), DIMENSIONS), dtype=np.float32)
    vectors = _centres()[clusters] + noise
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def _chunk(document: Document, ordinal: int, text: str) -> Chunk:
    return Chunk(
        id=f"{document.id}#{ordinal}",
        document_id=document.id,
        title=document.title,
        source=document.source,
        version=document.version,
        text=text,
        start=0,
        end=len(text),
        heading_path=(),
        pages=(),
        kind=ElementKind.PARAGRAPH,
        rights=document.rights,
        trust=Trust.UNREVIEWED,
    )


def _entry(chunk: Chunk, tokens: str) -> IndexedEntry:
    entry = Entry(
        id=f"{chunk.id}/e",
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        kind=EntryKind.CHUNK,
        text=chunk.text,
        rights=chunk.rights,
        derived_from=(chunk.id,),
    )
    return IndexedEntry(entry, tokens, hashlib.sha256(chunk.text.encode()).hexdigest())
