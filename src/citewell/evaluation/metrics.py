"""Retrieval metrics for one question, and their mean with a bootstrap interval over many.

`ranking` lists ids best first, each once. `grades` maps every judged id to its relevance; above 0 is relevant. All are
trec_eval's definitions (Sanderson 2010, "Test collection based evaluation of information retrieval systems").

Raises:
    ValueError: no id is relevant; such a question has no retrieval metrics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2_000
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over questions with its bootstrap percentile interval (Efron 1979)."""

    mean: float
    low: float
    high: float
    questions: int


def hit_rate(ranking: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """1 if a relevant id is among the first k (trec_eval's success@k)."""
    return float(not _relevant(grades).isdisjoint(ranking[:k]))


def recall(ranking: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Share of the relevant ids that are among the first k."""
    relevant = _relevant(grades)
    return len(relevant.intersection(ranking[:k])) / len(relevant)


def all_found(ranking: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """1 if every relevant id is among the first k: pass@k of a question that needs all of its passages."""
    return float(_relevant(grades) <= set(ranking[:k]))


def precision(ranking: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Share of k that the relevant ids among the first k make up; a ranking shorter than k is filled with others."""
    return len(_relevant(grades).intersection(ranking[:k])) / k


def reciprocal_rank(ranking: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """1 over the rank of the first relevant id, 0 where it is not among the first k."""
    relevant = _relevant(grades)
    return next((1 / rank for rank, item in enumerate(ranking[:k], start=1) if item in relevant), 0.0)


def average_precision(ranking: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Precision at the rank of each relevant id among the first k, summed, over the number of relevant ids."""
    relevant = _relevant(grades)
    ranks = (rank for rank, item in enumerate(ranking[:k], start=1) if item in relevant)
    return sum(count / rank for count, rank in enumerate(ranks, start=1)) / len(relevant)


def ndcg(ranking: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """DCG over ideal DCG (Järvelin and Kekäläinen 2002), gain = grade, discount = log2(rank + 1)."""
    _relevant(grades)
    ideal = _dcg(sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:k])
    return _dcg([max(grades.get(item, 0), 0) for item in ranking[:k]]) / ideal


def estimate(values: Sequence[float], seed: int = 0) -> Estimate:
    """Mean of one value a question, with its percentile interval over `RESAMPLES` resamples of the questions.

    Raises:
        ValueError: no values.
    """
    if not values:
        raise ValueError("no questions to average over")
    sample = np.asarray(values, dtype=np.float64)
    draws = np.random.default_rng(seed).integers(len(sample), size=(RESAMPLES, len(sample)))
    return Estimate(float(sample.mean()), *percentile_interval(sample[draws].mean(axis=1)), len(sample))


def estimate_share(has: Sequence[bool], *, among: Sequence[bool], seed: int = 0) -> Estimate | None:
    """Share of the questions in `among` for which `has` holds, with the interval over resamples of all questions.

    A ratio of two sums that both vary, so that all questions are drawn anew. None where `among` is empty.
    """
    base = np.asarray(among, dtype=bool)
    if not base.any():
        return None
    both = base & np.asarray(has, dtype=bool)
    draws = np.random.default_rng(seed).integers(len(base), size=(RESAMPLES, len(base)))
    sizes = base[draws].sum(axis=1)
    shares = both[draws].sum(axis=1)[sizes > 0] / sizes[sizes > 0]
    return Estimate(float(both.sum() / base.sum()), *percentile_interval(shares), int(base.sum()))


def percentile_interval(values: Sequence[float] | NDArray[np.float64]) -> tuple[float, float]:
    """What the middle `CONFIDENCE` of the values of resamples lies between; of none, NumPy's error."""
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return float(low), float(high)


def _relevant(grades: Mapping[str, int]) -> set[str]:
    relevant = {item for item, grade in grades.items() if grade > 0}
    if not relevant:
        raise ValueError("a question without a relevant id has no retrieval metrics")
    return relevant


def _dcg(gains: Sequence[int]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))
