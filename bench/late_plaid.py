"""Centroids as an index of tokens: the passages that are worth an exact MaxSim, without reading the others.

Santhanam et al. 2022, "PLAID" (arXiv:2205.09707), figure 5 and table 2: the passages with a token at one of the
centroids that are nearest to a token of the query; of these the best by MaxSim over centroids, first over those alone
that are near enough to any token of the query, then over all; and of these the best by MaxSim over their vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from late_codes import Centroids
from late_sets import Asked, Collection, Places

from citewell.models.embedder import Vectors
from citewell.models.token_vectors import interaction

Exact = Callable[[Asked, Places], Vectors]
"""The MaxSim of some passages, by their places."""


@dataclass(frozen=True, slots=True)
class Probing:
    """How far is looked: centroids for a token of the query, the least cosine of one that counts, and passages."""

    centroids: int
    least: float
    passages: int

    @property
    def name(self) -> str:
        return f"{self.centroids} centroids, {self.passages // 4} read"


PUBLISHED = (Probing(1, 0.5, 256), Probing(2, 0.45, 1024))
"""For the first 10, and for the first 100."""


@dataclass(frozen=True, eq=False)
class Plaid:
    found: Collection
    centroids: Centroids

    @cached_property
    def _holding(self) -> tuple[Places, Places]:
        """The passages that have a token at each centroid, one centroid after the other, and where each begins."""
        passages = np.repeat(np.arange(len(self.found.ids)), self.found.lengths)
        pairs = np.unique(np.stack([self.centroids.nearest, passages], axis=1), axis=0)
        return pairs[:, 1], np.searchsorted(pairs[:, 0], np.arange(len(self.centroids.vectors) + 1))

    def candidates(self, asked: Asked, similar: Vectors, number: int) -> Places:
        """The passages with a token at one of the `number` centroids that are nearest to each token of the query."""
        passages, starts = self._holding
        probed = np.unique(np.argpartition(-similar, number - 1, axis=0)[:number])
        held = np.concatenate([passages[starts[at] : starts[at + 1]] for at in probed])
        return np.intersect1d(held, asked.seen)

    def search(self, asked: Asked, how: Probing, exact: Exact) -> tuple[Places, Places]:
        """All candidates, and those whose MaxSim is worked out, best first."""
        similar = self.centroids.vectors @ asked.tokens.T
        every = self.candidates(asked, similar, how.centroids)
        near = np.where(similar.max(axis=1, keepdims=True) >= how.least, similar, 0)
        some = _best(every, self._by_centroids(every, near), how.passages)
        few = _best(some, self._by_centroids(some, similar), how.passages // 4)
        return every, _best(few, exact(asked, few), len(few))

    def _by_centroids(self, places: Places, similar: Vectors) -> Vectors:
        at = self.centroids.nearest[self.found.rows_of(places)]
        return interaction(similar[at], self.found.lengths[places].tolist())


def _best(places: Places, scores: Vectors, number: int) -> Places:
    return places[np.argsort(-scores, kind="stable")[:number]]
