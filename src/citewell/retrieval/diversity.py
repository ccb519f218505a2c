"""Diversity: passages that are relevant and say something other than those already taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from citewell.models.embedder import Vectors
from citewell.retrieval.fusion import Fused
from citewell.stores.store import Reader, Scope

AMONG = 50
"""Of the candidates, how many change places."""


def diverse(
    fused: Sequence[Fused], entries: Mapping[str, str], share: float, store: Reader, scope: Scope
) -> list[Fused]:
    """The first `AMONG` in the order in which `mmr` takes them, the others after them.

    `share` is that of difference, 0 to 1; relevance is the fused score over the best one. `entries` names the entry
    that each chunk was found by, whose vector it is compared by.
    """
    first = list(fused[:AMONG])
    if not first:
        return []
    vectors = store.vectors([entries[item.id] for item in first], scope)
    best = first[0].score or 1.0
    rows = np.stack([vectors[entries[item.id]] for item in first])
    places = mmr([item.score / best for item in first], rows, len(first), 1 - share)
    return [*(first[place] for place in places), *fused[AMONG:]]


def mmr(relevance: Sequence[float], vectors: Vectors, k: int, trade: float) -> list[int]:
    """The places of k candidates, or of all where there are fewer, in the order in which they are taken.

    Each time the one with the highest trade * relevance - (1 - trade) * (its highest cosine to one already taken): with
    trade = 1 by relevance alone, with 0 by difference alone, beginning with the most relevant one. Carbonell and
    Goldstein, "The Use of MMR, Diversity-Based Reranking", SIGIR 1998. A tie goes to the place that comes first.

    `vectors` has shape (candidates, dimensions), rows of length 1; `relevance` is best on the scale of cosines, as a
    cosine or a fused score from 0 to 1. Both are only of passages that the reader may read.

    Raises:
        ValueError: there are not as many vectors as candidates, or `trade` is not from 0 to 1.
    """
    if len(relevance) != len(vectors):
        raise ValueError(f"{len(relevance)} candidates have {len(vectors)} vectors")
    if not 0 <= trade <= 1:
        raise ValueError(f"trade is {trade}; it is from 0 to 1")
    wanted = np.asarray(relevance, dtype=np.float64)
    left = np.ones(len(wanted), dtype=bool)
    nearest = np.full(len(wanted), -np.inf)
    taken: list[int] = []
    while len(taken) < min(k, len(wanted)):
        gain = trade * wanted - (1 - trade) * nearest if taken else wanted
        best = int(np.argmax(np.where(left, gain, -np.inf)))
        taken.append(best)
        left[best] = False
        nearest = np.maximum(nearest, vectors @ vectors[best])
    return taken
