"""How the lists of the legs are best joined: every method of `retrieval.fusion` on four sets of questions.

    python bench/fusion.py --shared DIR --index DIR [--only SET ...]

`--shared` is the folder with data/; `--index` keeps the indexes and what the legs found, so that a second run takes
seconds. Each method is tried with every weight and k below. What does best on one half of the questions, as the mean of
nDCG@10 over the sets, is reported on the other half, beside plain reciprocal rank fusion (k = 5). Differences are
paired, with bootstrap 95 % intervals over the questions.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, Protocol

import machine
import numpy as np
from fusion_sets import DEPTH, SETS, Asked, QuestionSet, question_set
from numpy.typing import NDArray

from citewell.evaluation.metrics import ndcg, recall, reciprocal_rank
from citewell.evaluation.paired import Pairs, interval
from citewell.retrieval.fusion import Fused, Method, Scored, fuse

MEASURES = ("nDCG@10", "recall@5", "MRR@10")
LEAST = {"dense": -1.0, "keyword": 0.0}
WEIGHTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
KS = (1, 2, 5, 10, 20, 60)

Values = NDArray[np.float64]
"""Of each question (rows) the `MEASURES` (columns)."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to join the lists: `dense` is the weight of that leg, the keyword leg has the rest.

    `lowest` is where a list's scale begins: at its own lowest score, at the least that its leg could give, or `filled`:
    the dense list has the cosines of what only the other one found.
    """

    method: Method
    dense: float = 0.5
    rrf_k: int = 5
    depth: int = DEPTH
    lowest: Literal["own", "least", "filled"] = "own"

    def order(self, asked: Asked) -> list[str]:
        return [item.id for item in self.fused(asked)]

    @lru_cache(maxsize=1 << 14)  # noqa: B019 - ways are few, and live as long as the program
    def fused(self, asked: Asked) -> list[Fused]:
        lists = {leg: [Scored(*each) for each in found[: self.depth]] for leg, found in asked.lists.items()}
        if self.lowest == "least":
            for leg, found in lists.items():
                found += [Scored("", LEAST[leg])] if found else []
        elif self.lowest == "filled":
            every = {each.id for found in lists.values() for each in found}
            lists["dense"] = sorted((Scored(id_, asked.cosines[id_]) for id_ in every), key=lambda one: -one.score)
        weights = {"dense": self.dense, "keyword": 1 - self.dense}
        return [item for item in fuse(lists, self.method, weights, self.rrf_k) if item.id]


@dataclass(frozen=True, slots=True)
class Leg:
    """One leg alone."""

    name: str

    def order(self, asked: Asked) -> list[str]:
        return [id_ for id_, _ in asked.lists[self.name]]


class Order(Protocol):
    """A ranking of a question's chunks. Two that are equal order alike."""

    def order(self, asked: Asked) -> list[str]: ...


PLAIN = Way("rrf")
FAMILIES: Mapping[str, Sequence[Order]] = {
    "dense": [Leg("dense")],
    "keyword": [Leg("keyword")],
    "rrf, k": [Way("rrf", rrf_k=k) for k in KS],
    "rrf, k and weight": [Way("rrf", weight, k) for k in KS for weight in WEIGHTS],
    "convex": [Way("convex", weight) for weight in WEIGHTS],
    "convex, from the least": [Way("convex", weight, lowest="least") for weight in WEIGHTS],
    "convex, filled": [Way("convex", weight, lowest="filled") for weight in WEIGHTS],
    "distribution": [Way("distribution", weight) for weight in WEIGHTS],
    "distribution, filled": [Way("distribution", weight, lowest="filled") for weight in WEIGHTS],
}


def measured(asked: Asked, order: Iterable[str]) -> tuple[float, ...]:
    """The `MEASURES` of one ranking."""
    ranking, grades = asked.ranking(order), asked.grades
    return ndcg(ranking, grades, 10), recall(ranking, grades, 5), reciprocal_rank(ranking, grades, 10)


def halves(questions: int) -> tuple[list[int], list[int]]:
    """To choose on, and to report on."""
    order = list(range(questions))
    random.Random(0).shuffle(order)
    return order[::2], order[1::2]


def difference(before: Values, after: Values) -> str:
    """After less before, of one measure, with its interval."""
    low, high = interval(Pairs.of_values(list(before), list(after)))
    return f"{after.mean() - before.mean():+.3f} ({low:+.3f} to {high:+.3f})"


class Measured:
    """The values of every way on every set, each made once."""

    def __init__(self, sets: Sequence[QuestionSet]) -> None:
        self.sets = {one.name: one.answerable for one in sets}
        self._values: dict[tuple[str, Order], Values] = {}

    def values(self, name: str, way: Order) -> Values:
        if (name, way) not in self._values:
            self._values[name, way] = np.array([measured(one, way.order(one)) for one in self.sets[name]])
        return self._values[name, way]

    def mean(self, way: Order, half: int) -> float:
        """Of nDCG@10 over the sets, on the half to choose on (0) or to report on (1)."""
        return float(
            np.mean([self.values(name, way)[halves(len(one))[half], 0].mean() for name, one in self.sets.items()])
        )

    def best(self, family: Sequence[Order]) -> Order:
        return max(family, key=lambda way: self.mean(way, 0))


def chosen_table(found: Measured) -> Iterator[str]:
    """Of each family what does best on one half of the questions, measured on the other half."""
    for name, asked in found.sets.items():
        half = halves(len(asked))[1]
        base = found.values(name, PLAIN)[half]
        yield f"\n{name}, {len(half)} questions; plain: " + ", ".join(
            f"{measure} {value:.3f}" for measure, value in zip(MEASURES, base.mean(axis=0), strict=True)
        )
        yield f"\n| method | chosen | {' | '.join(MEASURES)} | difference in nDCG@10 | in recall@5 |"
        yield "| --- " * 7 + "|"
        for family, ways in FAMILIES.items():
            way = found.best(ways)
            values = found.values(name, way)[half]
            means = " | ".join(f"{value:.3f}" for value in values.mean(axis=0))
            changes = " | ".join(difference(base[:, at], values[:, at]) for at in (0, 1))
            yield f"| {family} | {described(way)} | {means} | {changes} |"


def described(way: Order) -> str:
    if not isinstance(way, Way):
        return "-"
    return f"dense {way.dense}" + (f", k = {way.rrf_k}" if way.method == "rrf" else "")


def curve_table(found: Measured, ways: Mapping[str, Order], measure: int = 0) -> Iterator[str]:
    """A measure on all questions of each set, way by way."""
    yield f"\n| {MEASURES[measure]} | {' | '.join(found.sets)} | mean |"
    yield "| --- " * (len(found.sets) + 2) + "|"
    for name, way in ways.items():
        means = [found.values(each, way)[:, measure].mean() for each in found.sets]
        yield f"| {name} | {' | '.join(f'{mean:.3f}' for mean in means)} | {np.mean(means):.4f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, required=True)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--only", nargs="+", choices=SETS, default=SETS)
    options = parser.parse_args()
    print(machine.header())
    found = Measured([question_set(name, options.shared, options.index) for name in options.only])
    print("\nChosen on one half, measured on the other:", *chosen_table(found), sep="\n", flush=True)
    print("\nAll questions, reciprocal rank fusion, equal weights:")
    print(*curve_table(found, {f"k = {k}": Way("rrf", rrf_k=k) for k in KS}), sep="\n")
    for measure in (0, 1):
        for family in ("rrf, k and weight", "convex", "convex, from the least", "convex, filled", "distribution"):
            ways = [way for way in FAMILIES[family] if isinstance(way, Way) and way.rrf_k == PLAIN.rrf_k]
            print(f"\nAll questions, {family}, by the weight of the dense leg:")
            print(*curve_table(found, {f"{way.dense}": way for way in ways}, measure), sep="\n")
    print("\nAll questions, by how many of each list are joined:")
    deep = {
        f"{method}, first {depth}": Way(method, depth=depth)
        for method in ("rrf", "convex", "distribution")
        for depth in (20, 50, 100)
    }
    print(*curve_table(found, deep), sep="\n")


if __name__ == "__main__":
    main()
