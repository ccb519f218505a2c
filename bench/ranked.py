"""Rankings of the collections of `late_sets.py`, measured: means and paired differences with 95 % intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from late_sets import Asked, Collection, Lists
from numpy.typing import NDArray

from citewell.evaluation.metrics import Estimate, estimate, ndcg, recall
from citewell.evaluation.paired import Pairs, interval
from citewell.models.token_vectors import maxsim
from citewell.retrieval.fusion import Scored, fuse
from citewell.retrieval.reranking import DIGITS
from citewell.settings import Retrieval

DEFAULT = Retrieval()
MEASURES = ("nDCG@10", "recall@1", "recall@5", "recall@10")

Values = NDArray[np.float64]
"""Of each question (rows) the `MEASURES` (columns)."""
Way = Callable[[Asked], Sequence[str]]
"""The ids of a question's passages, best first."""
Near = Callable[[Asked, Sequence[str]], Sequence[float]]
"""How near some passages are to a question."""


@dataclass(frozen=True, slots=True)
class Row:
    """A way to rank one set. `change` is how far it is above the way `beside` in each measure: mean, low, high."""

    collection: str
    way: str
    measures: Mapping[str, Estimate]
    beside: str
    change: Mapping[str, tuple[float, float, float]]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def measured(found: Collection, way: Way) -> Values:
    return np.array([_measures(found.ranking(asked, way(asked)), asked.grades) for asked in found.asked])


def _measures(ranking: Sequence[str], grades: Mapping[str, int]) -> tuple[float, ...]:
    return ndcg(ranking, grades, 10), *(recall(ranking, grades, k) for k in (1, 5, 10))


def rows(found: Collection, ways: Mapping[str, Way], beside: str) -> list[Row]:
    """Each way, beside the one of that name."""
    values = {name: measured(found, way) for name, way in ways.items()}
    return [row(found.name, name, each, beside, values[beside]) for name, each in values.items()]


def row(collection: str, way: str, values: Values, beside: str, base: Values) -> Row:
    columns = range(len(MEASURES))
    return Row(
        collection,
        way,
        {MEASURES[at]: estimate(list(values[:, at])) for at in columns},
        beside,
        {MEASURES[at]: change(base[:, at], values[:, at]) for at in columns},
    )


def change(before: Values, after: Values) -> tuple[float, float, float]:
    """After less before, with its interval."""
    low, high = interval(Pairs.of_values(list(before), list(after)))
    return float(after.mean() - before.mean()), low, high


def table(found: Iterable[Row]) -> Iterator[str]:
    """Means, and differences from the way beside."""
    yield "| set | way | " + " | ".join(f"{name} | difference" for name in MEASURES) + " |"
    yield "| --- " * (2 + 2 * len(MEASURES)) + "|"
    for one in found:
        cells = " | ".join(f"{one.measures[name].mean:.3f} | {signed(one.change[name])}" for name in MEASURES)
        yield f"| {one.collection} | {one.way} | {cells} |"


def signed(change: tuple[float, float, float]) -> str:
    mean, low, high = change
    return f"{mean:+.3f} [{low:+.3f}, {high:+.3f}]" if any(change) else "0"


def joined(lists: Lists, weights: Mapping[str, float] | None = None) -> list[str]:
    """The lists joined as the settings have it, those that are no setting with weight 1 or their own of `weights`."""
    return [item.id for item in fuse(lists, DEFAULT.fusion, {**DEFAULT.weights.of_legs, **(weights or {})})]


def best_first(ids: Sequence[str], scores: Iterable[float]) -> list[Scored]:
    found = [Scored(id_, round(float(score), DIGITS)) for id_, score in zip(ids, scores, strict=True)]
    return sorted(found, key=lambda each: (-each.score, each.id))


def reranked(asked: Asked, lists: Lists, near: Near) -> list[str]:
    """As a search does: the first of the joined lists scored again, and joined with them once more."""
    first = joined(lists)[: DEFAULT.rerank_candidates]
    return joined({**lists, "maxsim": best_first(first, near(asked, first))}, {"maxsim": DEFAULT.weights.rerank})


def as_set(near: Near) -> Way:
    """As a search does with the settings as they come."""
    return lambda asked: reranked(asked, asked.lists, near)


def stored(found: Collection) -> Near:
    """MaxSim over the vectors as they are stored."""

    def near(asked: Asked, ids: Sequence[str]) -> Sequence[float]:
        return list(maxsim(asked.tokens, [found.packed[found.place[id_]] for id_ in ids]))

    return near
