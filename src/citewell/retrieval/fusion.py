"""Reciprocal rank fusion: lists of different scales joined by rank alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fused:
    """An id with its fused score, and its 1-based rank in each list that holds it."""

    id: str
    score: float
    ranks: Mapping[str, int]


def reciprocal_rank_fusion(lists: Mapping[str, Sequence[str]], k: int) -> list[Fused]:
    """Join lists of ids, each best first, by the sum of 1 / (k + rank); best first.

    An id that a list holds twice counts once there, at its better rank. Ties go to the better single rank, then to the
    smaller id. Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
    Learning Methods", SIGIR 2009; they use k = 60.
    """
    ranks: dict[str, dict[str, int]] = {}
    for leg, ids in lists.items():
        for rank, id_ in enumerate(dict.fromkeys(ids), start=1):
            ranks.setdefault(id_, {})[leg] = rank
    # fsum: the order of the lists must not make or break a tie.
    fused = [Fused(id_, math.fsum(1 / (k + rank) for rank in of.values()), of) for id_, of in ranks.items()]
    return sorted(fused, key=lambda item: (-item.score, min(item.ranks.values()), item.id))
