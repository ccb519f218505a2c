"""What a batch must be before a store takes it. Checked before anything is written, by every engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from citewell.models.sparse import PACKED
from citewell.stores.store import IndexedDocument
from citewell.types import Rights

LENGTH_TOLERANCE = 1e-3

MAX_TERMS, TERMS_BELOW = 16_000, 1_000_000_000
"""Of a sparse vector, and how high they may be: what pgvector's type holds. No vocabulary comes near."""


def check(put: Sequence[IndexedDocument], dimensions: int) -> None:
    """Refuse a batch that would leave a store wrong.

    Raises:
        ValueError: an id is there twice, a part belongs to another document, a vector is not one of this space, or a
            name cannot be stored, or a sparse vector is none.
    """
    _unique("version", (f"{indexed.document.id}@{indexed.document.number}" for indexed in put))
    _unique("document", (indexed.document.id for indexed in put if indexed.standing.current))
    _unique("chunk", (chunk.id for indexed in put for chunk in indexed.chunks))
    _unique("entry", (item.entry.id for indexed in put for item in indexed.entries))
    for indexed in put:
        _check_standing(indexed)
        _check_parts(indexed)
        _check_names(indexed)
        _check_vectors(indexed, dimensions)
        _check_sparse(indexed)


def _unique(what: str, ids: Iterable[str]) -> None:
    twice = [known for known, times in Counter(ids).items() if times > 1]
    if twice:
        raise ValueError(f"the {what} id {twice[0]!r} is in the batch more than once")


def _check_parts(indexed: IndexedDocument) -> None:
    # Deleting goes by document id: a part under another's id would stay readable when its document is gone.
    own = indexed.document.id
    chunk_ids = {chunk.id for chunk in indexed.chunks}
    strays = [chunk.id for chunk in indexed.chunks if chunk.document_id != own]
    strays += [
        item.entry.id
        for item in indexed.entries
        if item.entry.document_id != own or item.entry.chunk_id not in chunk_ids
    ]
    if strays:
        raise ValueError(f"{strays[0]!r} does not belong to the document {own!r} that it came with")


def _check_names(indexed: IndexedDocument) -> None:
    names = [indexed.document.id, *_groups(indexed.document.rights)]
    for chunk in indexed.chunks:
        names += [chunk.id, *_groups(chunk.rights)]
    for item in indexed.entries:
        names += [item.entry.id, *_groups(item.entry.rights)]
    if any("\0" in name for name in names):
        raise ValueError(f"an id or a group of {indexed.document.id!r} holds a NUL character")


def _check_standing(indexed: IndexedDocument) -> None:
    standing, own = indexed.standing, indexed.document.id
    if standing.current and not standing.searchable:
        raise ValueError(f"the current version of {own!r} must be searchable")
    if indexed.document.indexed_at is None:
        raise ValueError(f"{own!r} does not say when it was indexed")


def _groups(rights: Rights) -> frozenset[str]:
    return rights.groups


def _check_vectors(indexed: IndexedDocument, dimensions: int) -> None:
    vectors, own = indexed.vectors, indexed.document.id
    if not indexed.standing.searchable and len(vectors) == 0:
        return
    wanted = (len(indexed.entries), dimensions)
    if vectors.shape != wanted or vectors.dtype != np.float32:
        raise ValueError(f"vectors of {own!r} are {vectors.dtype} {vectors.shape}, expected float32 {wanted}")
    lengths = np.linalg.norm(vectors, axis=1)
    # Written so that NaN fails too.
    if not np.all(np.abs(lengths - 1) <= LENGTH_TOLERANCE):
        raise ValueError(f"vectors of {own!r} are not all of length 1")


def _check_sparse(indexed: IndexedDocument) -> None:
    for item in indexed.entries:
        if item.sparse and not _is_sparse_vector(item.sparse):
            raise ValueError(f"the sparse vector of {item.entry.id!r} is none of ascending terms and weights above 0")


def _is_sparse_vector(packed: bytes) -> bool:
    if len(packed) % PACKED.itemsize or len(packed) // PACKED.itemsize > MAX_TERMS:
        return False
    rows = np.frombuffer(packed, PACKED)
    terms, weights = rows["term"], rows["weight"]
    ascending = bool(np.all(terms[1:] > terms[:-1])) and int(terms[-1]) < TERMS_BELOW
    return ascending and bool(np.all((weights > 0) & np.isfinite(weights)))
