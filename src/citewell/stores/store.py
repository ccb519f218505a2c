"""The store protocol: where documents, chunks and entries live, and the only way to search them.

Every reading call takes a `Scope`: the engine filters by it *before* it ranks or counts. There is no call without one,
but for the writer's `ledger`, which returns hashes and no text.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from citewell.models.embedder import Vectors
from citewell.types import Chunk, Document, Entry, Rights


@dataclass(frozen=True, slots=True)
class Scope:
    """What a search may see: entries readable by any of `groups`, of documents in force `on` that day.

    `groups=None` is the owner of the index, at the command line or in the writer; `on=None` is any day.
    """

    groups: frozenset[str] | None
    on: date | None = None


OWNER = Scope(groups=None)


@dataclass(frozen=True, slots=True)
class IndexedEntry:
    """An entry ready to be stored: its analysed tokens joined by spaces, and the SHA-256 (hex) of what was embedded.

    Its vector is the row of `IndexedDocument.vectors` at the same place.
    """

    entry: Entry
    tokens: str
    text_hash: str


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document with all that is stored of it. `recipe` names the settings that made its chunks and entries.

    `vectors` has shape (len(entries), dimensions), float32, rows of length 1.
    """

    document: Document
    recipe: str
    chunks: tuple[Chunk, ...]
    entries: tuple[IndexedEntry, ...]
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """What the writer knows of a stored document, to tell whether its file changed. Holds no text of it, and in `lost`
    what the report said could not be read."""

    document_id: str
    source: str
    content_hash: str
    recipe: str
    rights: Rights
    lost: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """One entry found by one leg; the score is the leg's own (cosine, or BM25)."""

    entry_id: str
    chunk_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Counts:
    documents: int
    chunks: int
    entries: int


class Reader(Protocol):
    """One state of the store, whole: what is committed later is not in it. Safe to use from several threads."""

    def dense(self, vector: Vectors, k: int, scope: Scope) -> list[Match]:
        """The k entries with the highest cosine to `vector` (shape (dimensions,), length 1), best first.

        Exact: returns min(k, entries in scope) matches. Ties are in the order of entry ids.
        """
        ...

    def keyword(self, tokens: Sequence[str], k: int, scope: Scope) -> list[Match]:
        """The k entries with the highest BM25 score (k1 = 1.2, b = 0.75), best first; only entries with some token."""
        ...

    def cosines(self, vector: Vectors, entry_ids: Collection[str], scope: Scope) -> dict[str, float]:
        """Cosines to `vector` of the given entries that are in scope."""
        ...

    def chunks(self, chunk_ids: Collection[str], scope: Scope) -> dict[str, Chunk]:
        """The given chunks that are in scope, by id."""
        ...

    def documents(self, scope: Scope) -> list[Document]:
        """All documents in scope, ordered by source, with empty `text` and `elements` (fetch one for those)."""
        ...

    def lossy(self, scope: Scope) -> list[Document]:
        """Those of `documents` of which something could not be read (`lost` is not empty)."""
        ...

    def document(self, document_id: str, scope: Scope) -> Document | None:
        """One whole document, or None where it does not exist or is out of scope."""
        ...

    def document_chunks(self, document_id: str, scope: Scope) -> list[Chunk]:
        """A document's chunks in scope, in order."""
        ...

    def counts(self, scope: Scope) -> Counts: ...


class Store(Protocol):
    """Implementations are in this folder; `tests/stores/` holds the conformance suite that each of them passes."""

    def reader(self) -> Reader:
        """The newest committed state. The same object is returned until a commit, of any process, makes a newer one."""
        ...

    def writing(self) -> AbstractContextManager[None]:
        """Hold the writer's lock; `commit` may only be called inside.

        Raises:
            IndexLocked: another writer holds it; the message names the holder.
            PermissionRefused: the index cannot be written to.
        """
        ...

    def commit(self, added: Sequence[IndexedDocument], removed: Collection[str] = ()) -> None:
        """Store documents (each replaces what has its id) and remove others by id, in one atomic, durable step.

        After a kill at any moment a reader sees the state before or the state after, whole.
        """
        ...

    def ledger(self) -> dict[str, LedgerLine]:
        """What is stored, by document id."""
        ...

    def known_vectors(self, text_hashes: Collection[str]) -> dict[str, Vectors]:
        """Stored vectors, each of shape (dimensions,), of the texts that have been embedded before, by text hash."""
        ...

    def close(self) -> None: ...
