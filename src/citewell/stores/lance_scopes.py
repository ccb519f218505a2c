"""The vectors of small scopes, kept in memory and compared one by one.

Lance reads 10,000 scattered rows of a million in some 100 ms, by 10,000 calls of the system. The same few scopes are
asked for again and again (those of the principals), and a state never changes, so they are read once: after that a
search of 10,000 rows takes 2 ms, and nothing is left out, however the scope lies to the query.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from citewell.stores.store import Match, Scope

if TYPE_CHECKING:
    import pyarrow as pa

    from citewell.models.embedder import Vectors

MAX_BYTES = 256 * 2**20
"""Of vectors in memory, by all scopes of one state."""

ROUNDING = 1e-5
"""More than a product of two vectors in single precision is off."""


@dataclass(frozen=True, slots=True)
class Compared:
    """All entries of a scope, in any order: their `id` and `chunk_id`, and vectors of shape (rows, dimensions)."""

    rows: pa.Table
    vectors: Vectors

    def first(self, vector: Vectors, k: int) -> list[Match]:
        """The k entries with the highest cosine, best first, ties in the order of their ids.

        A library's product of a matrix gives the same row another last bit at another place, which would break ties at
        random: it only says who may be among the first, and those are compared once more, in double precision.
        """
        cosines = self.vectors @ vector
        some = min(k, len(cosines))
        if some <= 0:
            return []
        least = np.partition(cosines, -some)[-some] - ROUNDING
        places = np.flatnonzero(cosines >= least)
        exact = (self.vectors[places].astype(np.float64) @ vector.astype(np.float64)).astype(np.float32)
        named = self.rows.take(places).to_pylist()
        found = [Match(row["id"], row["chunk_id"], float(cosine)) for row, cosine in zip(named, exact, strict=True)]
        return sorted(found, key=lambda match: (-match.score, match.entry_id))[:k]


class SmallScopes:
    """The scopes asked for last, as many as fit. Threads may share it."""

    def __init__(self, load: Callable[[Scope], Compared], max_bytes: int = MAX_BYTES) -> None:
        self._load = load
        self._max_bytes = max_bytes
        self._kept: OrderedDict[Scope, Compared] = OrderedDict()
        self._lock = threading.Lock()

    def fits(self, rows: int, dimensions: int) -> bool:
        """Whether a scope of so many entries is kept beside others."""
        return rows * dimensions * 4 <= self._max_bytes // 2

    def get(self, scope: Scope) -> Compared:
        with self._lock:
            if scope in self._kept:
                self._kept.move_to_end(scope)
                return self._kept[scope]
        # Read outside the lock: two threads may read the same scope, but none waits for another's.
        found = self._load(scope)
        with self._lock:
            self._kept[scope] = found
            while sum(kept.vectors.nbytes for kept in self._kept.values()) > self._max_bytes:
                self._kept.popitem(last=False)
        return found
