"""What re-ranking by MaxSim adds to the joined lists: alone or with them, of how many candidates, by which tokens.

    python bench/fusion_rerank.py --shared DIR --index DIR [--only SET ...]

The folders are those of `fusion.py`; token vectors of the candidates are kept in the second one too. What does best on
one half of the questions, as the mean of nDCG@10 over the sets, is reported on the other half. The last table asks
whether the nearest passage by MaxSim tells questions that have an answer from others better than the floor's evidence:
the area under the curve (0.5 is a coin), with its bootstrap 95 % interval, each kind drawn by itself.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal

import machine
import numpy as np
from fusion import MEASURES, PLAIN, Leg, Measured, Order, Way, curve_table, difference, halves
from fusion_sets import DEPTH, SETS, Asked, QuestionSet, question_set
from fusion_tokens import Similar, by_text, is_word, similar
from numpy.typing import NDArray

from citewell.evaluation.metrics import RESAMPLES, percentile_interval
from citewell.retrieval.analyser import STOP_WORDS
from citewell.retrieval.fusion import Method, Scored, fuse

CONVEX = Way("convex")
FIRST_STAGES = {"rrf": PLAIN, "convex": CONVEX}
CANDIDATES = (20, 50, 100)
LOOKED_AT = 50
MOST = {"scifact": 50}
"""Candidates that have token vectors, where not all have: 4 in 5 of scifact's passages are enough to wait for."""
Join = Literal["alone", "scores"] | Method
JOINS: Sequence[tuple[Join, float]] = (
    ("alone", 1.0),
    *(("scores", weight) for weight in (0.3, 0.5, 0.7, 0.8)),
    *(("rrf", weight) for weight in (1.0, 2.0, 3.0)),
    *(("convex", weight) for weight in (1.0, 2.0, 3.0, 4.0)),
    *(("distribution", weight) for weight in (1.0, 2.0, 3.0)),
)
JOINS_SHOWN: Sequence[tuple[Join, float]] = (("alone", 1.0), ("rrf", 2.0), ("convex", 1.0), ("convex", 2.0))
Tokens = Literal["all", "words", "no stop words", "idf", "idf, no stop words"]
TOKENS: Sequence[Tokens] = ("all", "words", "no stop words", "idf", "idf, no stop words")
JOINS_BY_TOKENS: Sequence[tuple[Join, float]] = (("alone", 1.0), ("rrf", 2.0), ("convex", 2.0))


@dataclass(frozen=True, slots=True)
class Reranked:
    """The first `candidates` of a first stage scored by MaxSim, and put in order.

    `alone` by MaxSim; `scores` by the sum of MaxSim, with `weight`, and the first stage's score, with the rest, each
    from 0 to 1; otherwise by fusion of three lists, MaxSim with `weight` and the two legs with 2 together, shared as in
    the first stage.
    """

    similar: Similar = field(repr=False)
    join: Join = "convex"
    weight: float = 2.0
    candidates: int = 50
    tokens: Tokens = "no stop words"
    first: Way = CONVEX

    def order(self, asked: Asked) -> list[str]:
        stage = [Scored(item.id, item.score) for item in self.first.fused(asked)]
        nearness = maxsim(self.similar, asked.text, self.tokens)
        first = [each for each in stage[: self.candidates] if each.id in nearness]
        scored = {each.id for each in first}
        after = [each.id for each in stage if each.id not in scored]
        near = [Scored(each.id, nearness[each.id]) for each in first]
        near.sort(key=lambda each: -each.score)
        if self.join == "alone":
            return [each.id for each in near] + after
        if self.join == "scores":
            weights = {"maxsim": self.weight, "first": 1 - self.weight}
            return [item.id for item in fuse({"maxsim": near, "first": first}, "convex", weights)] + after
        legs = {leg: [Scored(*each) for each in found[: self.first.depth]] for leg, found in asked.lists.items()}
        weights = {"maxsim": self.weight, "dense": 2 * self.first.dense, "keyword": 2 - 2 * self.first.dense}
        return [item.id for item in fuse({"maxsim": near, **legs}, self.join, weights, PLAIN.rrf_k)]


@lru_cache(maxsize=1 << 14)
def maxsim(found: Similar, text: str, tokens: Tokens = "no stop words") -> dict[str, float]:
    """The mean over the question's tokens of the highest cosine to a token of the passage, of each candidate."""
    weights = _weights(found, text, tokens)
    return {chunk: float(highest @ weights / weights.sum()) for chunk, highest in found.highest[text].items()}


def _weights(found: Similar, text: str, tokens: Tokens) -> NDArray[np.float64]:
    """How much each token of the question counts; equally where none would."""
    of = found.tokens[text]
    weights = np.array([tokens == "all" or is_word(token) for token in of], dtype=np.float64)
    if tokens.startswith("idf"):
        weights *= found.idf[text]
    if tokens.endswith("no stop words"):
        weights *= [token not in STOP_WORDS for token in of]
    return weights if weights.any() else np.ones(len(of))


def named(way: Reranked) -> str:
    return way.join if way.join == "alone" else f"{way.join}, {way.weight:g}"


def held_out_table(found: Measured, rows: Mapping[str, Order]) -> Iterator[str]:
    """Rankings on the half of the questions that nothing was chosen on, and their difference from plain fusion."""
    yield f"\n| set | ranking | {' | '.join(MEASURES)} | difference in nDCG@10 | in recall@5 |\n" + "| --- " * 7 + "|"
    for name, asked in found.sets.items():
        half = halves(len(asked))[1]
        base = found.values(name, PLAIN)[half]
        for row, way in rows.items():
            values = found.values(name, way)[half]
            means = " | ".join(f"{value:.3f}" for value in values.mean(axis=0))
            changes = " | ".join(difference(base[:, at], values[:, at]) for at in (0, 1))
            yield f"| {name} | {row} | {means} | {changes} |"


def beside_table(found: Measured, default: Order, rows: Mapping[str, Order], measure: int) -> Iterator[str]:
    """How far the default is above each of the others, on all questions."""
    yield f"\n| {MEASURES[measure]}, above | {' | '.join(found.sets)} |\n" + "| --- " * (1 + len(found.sets)) + "|"
    for row, way in rows.items():
        pairs = ((found.values(name, way)[:, measure], found.values(name, default)[:, measure]) for name in found.sets)
        yield f"| {row} | {' | '.join(difference(*pair) for pair in pairs)} |"


def kinds_table(found: Measured, name: str, rows: Mapping[str, Order]) -> Iterator[str]:
    """recall@5 on the kinds of questions of one set."""
    asked = found.sets[name]
    kinds = {
        kind: [at for at, one in enumerate(asked) if one.kind == kind]
        for kind in dict.fromkeys(one.kind for one in asked)
    }
    yield (
        f"\n| recall@5 | {' | '.join(f'{kind} ({len(of)})' for kind, of in kinds.items())} |\n"
        + "| --- " * (1 + len(kinds))
        + "|"
    )
    for row, way in rows.items():
        recalls = found.values(name, way)[:, 1]
        yield f"| {row} | {' | '.join(f'{recalls[of].mean():.3f}' for of in kinds.values())} |"


def signals(found: Similar, asked: Asked) -> dict[str, float]:
    """What could say that a question has an answer."""
    chosen = [item.id for item in PLAIN.fused(asked)[:LOOKED_AT]]
    nearest = {
        tokens: max((maxsim(found, asked.text, tokens)[id_] for id_ in chosen), default=-1.0)
        for tokens in ("words", "no stop words", "idf")
    }
    best = nearest["no stop words"]
    return {
        "evidence": asked.evidence,
        "cosine": max(asked.cosines.values(), default=-1.0),
        **{f"MaxSim, {tokens}": value for tokens, value in nearest.items()},
        # A code decides by itself, as it does in the evidence.
        "MaxSim, no stop words, and codes": best if math.isfinite(asked.evidence) else asked.evidence,
        "evidence + MaxSim, no stop words": asked.evidence + best,
    }


def separation_table(sets: Mapping[str, tuple[QuestionSet, Similar]]) -> Iterator[str]:
    yield "| set | unanswerable | signal | AUC |\n| --- | --- | --- | --- |"
    for name, (questions, found) in sets.items():
        kinds: dict[str, list[dict[str, float]]] = {}
        for one in questions.asked:
            kind = "answerable" if one.grades else one.kind if name == "squad2" else "unanswerable"
            kinds.setdefault(kind, []).append(signals(found, one))
        answerable = kinds.pop("answerable")
        for kind, unanswerable in kinds.items():
            for signal in answerable[0]:
                yes, no = ([each[signal] for each in side] for side in (answerable, unanswerable))
                yield f"| {name} | {kind} ({len(no)}) | {signal} | {area(yes, no)} |"


def area(yes: Sequence[float], no: Sequence[float]) -> str:
    """The chance that one of `yes` is above one of `no` (Mann and Whitney 1947), with its interval."""
    above = np.sign(np.subtract.outer(_ranks(yes, no), _ranks(no, yes))) / 2 + 0.5
    rng = np.random.default_rng(0)
    drawn = [
        above[np.ix_(rng.integers(len(yes), size=len(yes)), rng.integers(len(no), size=len(no)))].mean()
        for _ in range(RESAMPLES)
    ]
    low, high = percentile_interval(drawn)
    return f"{above.mean():.3f} ({low:.3f} to {high:.3f})"


def _ranks(values: Sequence[float], others: Sequence[float]) -> NDArray[np.float64]:
    """Places in the order of both: infinite values have no difference."""
    ranks: NDArray[np.float64] = np.searchsorted(np.unique([*values, *others]), values).astype(np.float64)
    return ranks


def candidates_of(asked: Asked, most: int) -> list[str]:
    """The first of any first stage."""
    return list(dict.fromkeys(item.id for way in FIRST_STAGES.values() for item in way.fused(asked)[:most]))


def report(sets: Mapping[str, tuple[QuestionSet, Similar]]) -> Iterator[str]:
    found = Measured([questions for questions, _ in sets.values()])
    every = Similar.of_all([of for _, of in sets.values()])
    ways = list[Reranked]()
    for first, stage in FIRST_STAGES.items():
        for number in CANDIDATES:
            among = [Reranked(every, join, weight, number, first=stage) for join, weight in JOINS]
            ways += among
            for measure in (0, 1):
                yield f"\nAll questions, {number} candidates of {first}:"
                yield from curve_table(found, {first: stage, **{named(way): way for way in among}}, measure)
    yield "\nAll questions, 50 candidates of convex, joined as convex, by the weights of dense / keyword / MaxSim:"
    shared = [
        Reranked(every, "convex", weight, first=Way("convex", dense))
        for dense in (0.3, 0.4, 0.5, 0.6)
        for weight in (0.5, 1.0, 1.5, 2.0)
    ]
    for measure in (0, 1):
        yield from curve_table(
            found,
            {f"{2 * way.first.dense:.1f} / {2 - 2 * way.first.dense:.1f} / {way.weight}": way for way in shared},
            measure,
        )
    yield "\nAll questions, 50 candidates, joined as convex, 2, by how many of each leg are joined:"
    deep = {f"first {depth}": Reranked(every, first=Way("convex", depth=depth)) for depth in (50, DEPTH)}
    yield from curve_table(found, deep)
    yield from curve_table(found, deep, 1)
    yield "\nAll questions, 50 candidates of convex, by the question's tokens:"
    by_tokens = [Reranked(every, join, weight, tokens=tokens) for join, weight in JOINS_BY_TOKENS for tokens in TOKENS]
    yield from curve_table(found, {f"{named(way)}, {way.tokens}": way for way in by_tokens})
    best = found.best([*ways, *shared, *by_tokens])
    yield f"\nMeasured on one half; chosen on the other half: {best}"
    rows: dict[str, Order] = {"dense": Leg("dense"), "keyword": Leg("keyword"), **FIRST_STAGES}
    for join, weight in JOINS_SHOWN:
        way = Reranked(every, join, weight)
        rows[f"MaxSim, {named(way)}"] = way
    rows["MaxSim, convex, 2, stop words too"] = Reranked(every, tokens="words")
    yield from held_out_table(found, {**rows, "MaxSim, chosen": best})
    yield "\nThe default (MaxSim, convex, 2) beside others, all questions:"
    for measure in (0, 1):
        yield from beside_table(found, Reranked(every), rows, measure)
    if "bank" in sets:
        yield from kinds_table(found, "bank", rows)
    yield "\nTelling questions that have an answer from others:"
    yield from separation_table(sets)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, required=True)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--only", nargs="+", choices=SETS, default=SETS)
    options = parser.parse_args()
    sets: dict[str, tuple[QuestionSet, Similar]] = {}
    for name in options.only:
        questions = question_set(name, options.shared, options.index)
        candidates = by_text(questions.asked, [candidates_of(one, MOST.get(name, DEPTH)) for one in questions.asked])
        sets[name] = questions, similar(questions, candidates, options.index)
    print(machine.header())
    for line in report(sets):
        print(line, flush=True)


if __name__ == "__main__":
    main()
