"""The store protocol: where documents, chunks and entries live, and the only way to search them.

Every reading call takes a `Scope`: the engine filters by it *before* it ranks or counts. There is no call without one,
but for those of the writer. A store holds every version of a document; what becomes of the older ones when a new one
comes, and what is brought back, is decided above, in `citewell.history`: an engine only puts, drops and fetches.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Protocol

import numpy as np

from citewell.filters import FieldType, Filter
from citewell.models.embedder import Embedded, ModelIdentity, Vectors
from citewell.models.sparse import SparseVector
from citewell.types import Chunk, Document, Ending, Entry, Removed, Rights, Version


@dataclass(frozen=True, slots=True)
class Scope:
    """What a search may see: entries readable by any of `groups`, of versions in force `on` that day.

    `groups=None` is the owner of the index, at the command line or in the writer. `on=None` is the current version of
    each document, in force or not. `where` leaves documents out by their metadata; its fields are declared ones.
    """

    groups: frozenset[str] | None
    on: date | None = None
    where: Filter | None = None

    def __post_init__(self) -> None:
        if self.on is not None and (not isinstance(self.on, date) or isinstance(self.on, datetime)):
            raise TypeError(f"a day must be a datetime.date, not {self.on!r}")


OWNER = Scope(groups=None)

REPLIES_KEPT = timedelta(days=30)
"""For how long stashed replies wait for their documents after the last of them was added."""


@dataclass(frozen=True, slots=True)
class MadeWith:
    """What a store was made with, and must be searched with. `canaries` are the embedder's vectors of fixed texts.

    `token_codec` says how the vectors of tokens are packed; "" where none are kept. `sparse` is the identity of what
    made the sparse vectors; "" where there are none.
    """

    embedder: ModelIdentity
    canaries: tuple[tuple[float, ...], ...]
    analyser: str
    token_codec: str = ""
    sparse: str = ""


@dataclass(frozen=True, slots=True, order=True)
class VersionKey:
    """Names one version of one document."""

    document_id: str
    number: int


@dataclass(frozen=True, slots=True)
class Standing:
    """How a version stands. One that is `searchable` is in every leg, found on the days from `in_force_from` to
    `in_force_to` (both included, None is open); another is only kept, to be brought back.

    One version of a document at most is `current`; it is searchable.
    """

    current: bool = True
    searchable: bool = True
    in_force_from: date | None = None
    in_force_to: date | None = None
    ended_at: datetime | None = None
    ending: Ending | None = None


@dataclass(frozen=True, slots=True)
class IndexedEntry:
    """An entry ready to be stored: its analysed tokens joined by spaces, and the SHA-256 (hex) of what was embedded.

    Its vector is the row of `IndexedDocument.vectors` at the same place. `token_vectors` are those of its tokens,
    packed as `MadeWith.token_codec` says, `sparse` its packed sparse vector; b"" where none are kept.
    """

    entry: Entry
    tokens: str
    text_hash: str
    token_vectors: bytes = b""
    sparse: bytes = b""


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """One version of a document with all that is stored of it.

    `recipe` names the settings that made its chunks and entries. `vectors` has shape (len(entries), dimensions),
    float32, rows of length 1; of a version that is not searchable it may have no rows, and is embedded when brought
    back. `set_aside` is the content hash of the file whose version was rolled back: that file is not taken in again
    until it changes. `replies` are those of a language model that entries were made of, word for word, by the hash of
    what it was asked: of use or not, so that none is asked for twice.

    The days of `standing`, not those that document and entries were given, are what a scope's day is compared with.
    """

    document: Document
    recipe: str
    chunks: tuple[Chunk, ...]
    entries: tuple[IndexedEntry, ...]
    vectors: Vectors
    standing: Standing = Standing()
    set_aside: str = ""
    replies: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> VersionKey:
        return VersionKey(self.document.id, self.document.number)

    def with_vectors(self, made: Mapping[str, Embedded]) -> IndexedDocument:
        """With what was made of its texts, by text hash."""
        if not self.entries:
            return self
        rows = [made[item.text_hash] for item in self.entries]
        entries = tuple(
            replace(item, token_vectors=row.tokens, sparse=row.sparse)
            for item, row in zip(self.entries, rows, strict=True)
        )
        return replace(self, entries=entries, vectors=np.stack([row.vector for row in rows]))

    def without_vectors(self, dimensions: int) -> IndexedDocument:
        """Without what was made of its texts, for a store of vectors of so many dimensions."""
        entries = tuple(replace(item, token_vectors=b"", sparse=b"") for item in self.entries)
        return replace(self, entries=entries, vectors=np.empty((0, dimensions), dtype=np.float32))


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """What the writer knows of a document's current version, to tell whether its file changed. Holds no text of it, and
    in `lost` what the report said could not be read."""

    document_id: str
    source: str
    content_hash: str
    recipe: str
    rights: Rights
    lost: str = ""
    number: int = 1
    expires: date | None = None
    set_aside: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """One entry found by one leg; the score is the leg's own (cosine, BM25, or a dot product)."""

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

    @property
    def fields(self) -> Mapping[str, FieldType]:
        """The metadata fields that a scope's `where` may name beside the built-in ones."""
        ...

    def dense(self, vector: Vectors, k: int, scope: Scope) -> list[Match]:
        """The k entries with the highest cosine to `vector` (shape (dimensions,), length 1), best first.

        Returns min(k, entries in scope) matches, whatever the scope. The exact ones where few are in scope; above that
        an engine may search by an index, at a recall that `docs/engines.md` states. The scores are exact cosines in any
        case. Ties are in the order of entry ids.
        """
        ...

    def keyword(self, tokens: Sequence[str], k: int, scope: Scope) -> list[Match]:
        """The k entries with the highest BM25 score (k1 = 1.2, b = 0.75), best first; only entries with some token.

        The statistics count all searchable entries of the store.
        """
        ...

    def sparse(self, query: SparseVector, k: int, scope: Scope) -> list[Match]:
        """The k entries with the highest dot product of their stored sparse vector and `query`, best first; only
        entries whose score is above 0. Exact whatever the scope; ties are in the order of entry ids.

        [] where the store holds no sparse vectors.
        """
        ...

    def vectors(self, entry_ids: Collection[str], scope: Scope) -> dict[str, Vectors]:
        """The vectors, shape (dimensions,), float32, of the given entries that are in scope."""
        ...

    def token_vectors(self, entry_ids: Collection[str], scope: Scope) -> dict[str, bytes]:
        """The packed token vectors of the given entries that are in scope and have some."""
        ...

    def chunks(self, chunk_ids: Collection[str], scope: Scope) -> dict[str, Chunk]:
        """The given chunks that are in scope, by id. A chunk's id names its version: with no day in the scope, those of
        any searchable version."""
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

    @property
    def made_with(self) -> MadeWith: ...

    def reader(self) -> Reader:
        """The newest committed state. The same object is returned until a commit, of any process, makes a newer one."""
        ...

    def writing(self) -> AbstractContextManager[None]:
        """Hold the writer's lock; what is below may only be called inside, but for what only reads. Entering it ends an
        `erase` that was cut short.

        Raises:
            IndexLocked: another writer holds it; the message names the holder.
            PermissionRefused: the index cannot be written to.
        """
        ...

    def commit(self, put: Sequence[IndexedDocument], drop: Collection[VersionKey] = ()) -> None:
        """Store versions (each replaces what is stored of the same key) and drop others, in one atomic, durable step.

        After a kill at any moment a reader sees the state before or the state after, whole.
        """
        ...

    def fetch(self, keys: Collection[VersionKey]) -> list[IndexedDocument]:
        """All that is stored of these versions, searchable or not, as it was put, in order; those that do not exist are
        left out."""
        ...

    def ledger(self, roots: Collection[str] | None = None) -> dict[str, LedgerLine]:
        """The current versions by document id: all, or those whose source is one of `roots`, lies below it (it goes on
        with `/`) or inside it (with `!/`)."""
        ...

    def versions(self, document_ids: Collection[str] | None = None) -> list[Version]:
        """The history of these documents, or of all: every version stored, by source, document and number."""
        ...

    def expired(self, on: date) -> dict[str, LedgerLine]:
        """Those of `ledger` that expire on that day or before."""
        ...

    def ended_before(self, moment: datetime) -> list[VersionKey]:
        """The versions that are not searchable and ended before a moment, in order."""
        ...

    def embedded(self, text_hashes: Collection[str]) -> dict[str, Embedded]:
        """What the embedder made of the texts of searchable entries, by text hash."""
        ...

    def stash(self, made: Mapping[str, Embedded]) -> None:
        """Keep vectors by text hash before their documents are complete: at once, so that a kill does not lose what was
        paid for. `embedded` finds them, and the end of a run that was not cut short forgets them."""
        ...

    def replies(self, document_ids: Collection[str]) -> dict[str, str]:
        """The replies of a language model that are stored with any version of these documents, and all that were
        stashed, by the hash of what it was asked. Of two to one question the stashed one counts, or else that of the
        version with the higher number: the question was put again because the other was of no use."""
        ...

    def stash_replies(self, replies: Mapping[str, str]) -> None:
        """As `stash`, for replies of a language model: kept at once, and a second reply to a question in place of the
        first. What was paid for waits, through whatever runs come between, until a version that has this very reply is
        committed, until `erase`, or until a run ends when nothing was added for `REPLIES_KEPT`."""
        ...

    def declare(self, fields: Mapping[str, FieldType]) -> None:
        """Make these the fields that a scope's `where` may name. A field that is new, or of another type than it was,
        has no values until documents are put again."""
        ...

    def analysed_by(self, version: str) -> None:
        """Record that this version of the analyser has made the tokens of all that is stored."""
        ...

    @property
    def erasing(self) -> tuple[Removed, ...] | None:
        """What an `erase` that was cut short has dropped, while files may still hold it; None where there is none."""
        ...

    def erase(self, gone: Sequence[Removed] = ()) -> None:
        """Drop these versions, and make all that was ever dropped unrecoverable: afterwards none of its text and none
        of its vectors is in any file of the store. Readers in the middle of a call may have to begin again.

        After a kill at any moment either nothing was dropped, or all of it was and no reader sees it; `erasing` then
        names it until the files are clean as well, and who next enters `writing` cleans them before anything else.
        """
        ...

    def close(self) -> None: ...
