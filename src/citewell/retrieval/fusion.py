"""Lists of different scales joined: by ranks alone, or by scores brought to one scale. docs/fusion.md compares them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Method = Literal["rrf", "convex", "distribution"]


@dataclass(frozen=True, slots=True)
class Scored:
    """An id with a leg's own score, finite: a cosine, BM25 ..."""

    id: str
    score: float


@dataclass(frozen=True, slots=True)
class Fused:
    """An id with its fused score, and its 1-based rank in each list that holds it."""

    id: str
    score: float
    ranks: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Part:
    """What a list adds for each id that it holds, and for every other one."""

    of: Mapping[str, float]
    of_others: float = 0.0

    def __getitem__(self, id_: str) -> float:
        return self.of.get(id_, self.of_others)


def fuse(
    lists: Mapping[str, Sequence[Scored]],
    method: Method = "rrf",
    weights: Mapping[str, float] | None = None,
    rrf_k: int = 5,
) -> list[Fused]:
    """Join the lists of the legs, each best first, by the weighted sum of what each adds for an id; best first.

    A leg that `weights` does not name has weight 1. An id that a list holds twice counts once there, at its better
    place. An empty list takes no part. Ties go to the better single rank, then to the smaller id. What a list adds:

    rrf           1 / (rrf_k + rank), and 0 for an id that it does not hold. Cormack, Clarke and Büttcher, "Reciprocal
                  Rank Fusion outperforms Condorcet and individual Rank Learning Methods", SIGIR 2009; there k = 60
    convex        the score's place between the list's lowest, 0, and its highest, 1. Bruch, Gai and Ingber, "An
                  Analysis of Fusion Functions for Hybrid Retrieval", TOIS 2023 (arXiv:2210.11934)
    distribution  the score's place between 3 standard deviations below the list's mean, 0, and 3 above, 1: Mazzeschi's
                  distribution-based score fusion (2023), as vector databases have it

    With the last two an id that a list does not hold counts as its lowest, but where all its scores are equal: then 1
    is added for these ids and 0 for others. The sum is divided by that of the weights, so that it is from 0 to 1.

    Raises:
        ValueError: a weight is not above 0.
    """
    held = {leg: _once(each) for leg, each in lists.items() if each}
    weight = {leg: 1.0 if weights is None else weights.get(leg, 1.0) for leg in held}
    if any(each <= 0 for each in weight.values()):
        raise ValueError(f"the weights of legs are above 0: {weight}")
    parts = {leg: _part(scores, method, rrf_k) for leg, scores in held.items()}
    whole = 1.0 if method == "rrf" else math.fsum(weight.values())
    ranks: dict[str, dict[str, int]] = {}
    for leg, scores in held.items():
        for rank, id_ in enumerate(scores, start=1):
            ranks.setdefault(id_, {})[leg] = rank
    # fsum: the order of the lists must not make or break a tie.
    fused = [
        Fused(id_, math.fsum(weight[leg] * part[id_] for leg, part in parts.items()) / whole, of)
        for id_, of in ranks.items()
    ]
    return sorted(fused, key=lambda item: (-item.score, min(item.ranks.values()), item.id))


def reciprocal_rank_fusion(lists: Mapping[str, Sequence[str]], k: int) -> list[Fused]:
    """`fuse` by ranks with equal weights, for lists that have no scores."""
    return fuse({leg: [Scored(id_, 0.0) for id_ in ids] for leg, ids in lists.items()}, rrf_k=k)


def _once(scored: Sequence[Scored]) -> dict[str, float]:
    """Each id with the score of its better place, in order."""
    scores: dict[str, float] = {}
    for each in scored:
        scores.setdefault(each.id, each.score)
    return scores


def _part(scores: Mapping[str, float], method: Method, rrf_k: int) -> _Part:
    if method == "rrf":
        return _Part({id_: 1 / (rrf_k + rank) for rank, id_ in enumerate(scores, start=1)})
    lowest = low = min(scores.values())
    high = max(scores.values())
    if method == "distribution":
        mean, deviation = statistics.fmean(scores.values()), statistics.pstdev(scores.values())
        low, high = mean - 3 * deviation, mean + 3 * deviation
    # A lone match, or several that are as good as each other, is all that the leg has to say; it is not its lowest.
    if low == high:
        return _Part(dict.fromkeys(scores, 1.0))
    return _Part({id_: _place(score, low, high) for id_, score in scores.items()}, _place(lowest, low, high))


def _place(score: float, low: float, high: float) -> float:
    """Where a score lies between `low`, 0, and `high`, 1."""
    return min(max((score - low) / (high - low), 0.0), 1.0)
