"""Reading from a base with a vector engine at its side."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

import numpy as np

from citewell.filters import FieldType
from citewell.models.embedder import Vectors
from citewell.models.sparse import SparseVector
from citewell.stores.beside.points import to_allowed
from citewell.stores.beside.vector_index import Allowed, VectorIndex
from citewell.stores.store import Counts, Match, Reader, Scope
from citewell.types import Chunk, Document

SPARE = 16
"""How many more than k are asked for, to see whether the cut at k goes through near ties."""

CLOSE = 1e-5
"""Two engines' cosines of the same vectors differ by less than half of it."""


class NamedReader(Reader, Protocol):
    """A reader that tells which state it reads."""

    @property
    def state(self) -> str:
        """Names what is stored: another at each commit and change of fields, never the same again. "" names nothing."""
        ...


def follows(engine_state: str, reader: NamedReader) -> bool:
    """Whether an engine that calls its state so holds what this reader reads. See `VectorsBeside`."""
    return reader.state != "" and engine_state.rpartition("/")[0] == reader.state


class BesideReader:
    """A `Reader`: one state of the base. The engine answers `dense` while it agrees with that state.

    The planner: count the entries in scope; ask the engine to compare all of them where they are few; look up what it
    found in the base, within the scope, for exact cosines; and if anything is missing let the base answer.
    """

    def __init__(self, base: NamedReader, engine: VectorIndex, exact_up_to: int) -> None:
        self.base = base
        self._engine = engine
        self._exact_up_to = exact_up_to

    @property
    def state(self) -> str:
        return self.base.state

    @property
    def fields(self) -> Mapping[str, FieldType]:
        return self.base.fields

    def dense(self, vector: Vectors, k: int, scope: Scope) -> list[Match]:
        """See `Reader.dense`.

        Raises:
            ServiceUnreachable, ServiceRefused: the engine cannot be asked.
        """
        in_scope, allowed = self.base.counts(scope).entries, to_allowed(scope)
        limit = min(k + SPARE, in_scope)
        if k <= 0 or limit == 0:
            return []
        while allowed is not None:
            found = self._by_engine(vector, limit, scope, allowed, exact=in_scope <= self._exact_up_to)
            if len(found) < limit:
                break
            if limit == in_scope or found[k - 1].score - found[-1].score > CLOSE:
                return found[:k]
            limit = min(limit * 4, in_scope)
        return self.base.dense(vector, k, scope)

    def keyword(self, tokens: Sequence[str], k: int, scope: Scope) -> list[Match]:
        return self.base.keyword(tokens, k, scope)

    def sparse(self, query: SparseVector, k: int, scope: Scope) -> list[Match]:
        return self.base.sparse(query, k, scope)

    def vectors(self, entry_ids: Collection[str], scope: Scope) -> dict[str, Vectors]:
        return self.base.vectors(entry_ids, scope)

    def token_vectors(self, entry_ids: Collection[str], scope: Scope) -> dict[str, bytes]:
        return self.base.token_vectors(entry_ids, scope)

    def chunks(self, chunk_ids: Collection[str], scope: Scope) -> dict[str, Chunk]:
        return self.base.chunks(chunk_ids, scope)

    def documents(self, scope: Scope) -> list[Document]:
        return self.base.documents(scope)

    def lossy(self, scope: Scope) -> list[Document]:
        return self.base.lossy(scope)

    def document(self, document_id: str, scope: Scope) -> Document | None:
        return self.base.document(document_id, scope)

    def document_chunks(self, document_id: str, scope: Scope) -> list[Chunk]:
        return self.base.document_chunks(document_id, scope)

    def counts(self, scope: Scope) -> Counts:
        return self.base.counts(scope)

    def _by_engine(self, vector: Vectors, k: int, scope: Scope, allowed: Allowed, *, exact: bool) -> list[Match]:
        """What the engine found and the base confirms, best first; nothing where they do not agree."""
        state = self._engine.state()
        if not follows(state, self.base):
            return []
        found = self._engine.search(vector, k, allowed, exact=exact)
        if self._engine.state() != state:
            return []
        vectors = self.base.vectors([one.entry_id for one in found], scope)
        matches = [
            Match(one.entry_id, one.chunk_id, float(np.dot(vectors[one.entry_id], vector)))
            for one in found
            if one.entry_id in vectors
        ]
        return sorted(matches, key=lambda match: (-match.score, match.entry_id))
