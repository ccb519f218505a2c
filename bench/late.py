"""Late interaction as a first stage, its compression and its pruning, beside the search as the settings have it.

    python bench/late.py --shared DIR [--cache DIR] [--only SET ...] [--json]

`--shared` is the folder with data/; `--cache` keeps the indexes and the vectors of all tokens, some minutes of work. A
"late" list has the first 100 of all passages that the reader may read by MaxSim (Khattab and Zaharia 2020) over the
vectors of the built-in embedder, in the two bits a number that are stored. Intervals are bootstrap 95 % over the
questions, differences are paired.

ways        late alone, and as one more list, beside the default: dense and keyword, joined by scores, re-ranked
lacking     what the candidates of the default lack and late finds
codes       two bits a number against ColBERTv2's residuals: what the default is with each
probing     PLAID's centroids against all passages: the share of the nearest that is kept, and the time
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import machine
import numpy as np
from fusion_sets import DEPTH
from late_codes import Centroids, Code, Residuals, Rotated, Whole, nearness, read_back
from late_plaid import PUBLISHED, Plaid
from late_sets import SETS, Asked, Collection, Half, Lists, Places, collection
from ranked import Row, Values, as_set, change, joined, measured, reranked, row, rows, signed, stored, table

from citewell.evaluation.metrics import Estimate, estimate, recall
from citewell.models.embedder import Vectors
from citewell.models.token_vectors import maxsim
from citewell.retrieval.fusion import Scored

TIMED = 5
"""Questions that the slow ways are timed on."""
PASSAGES_AT_ONCE = 500

Late = Mapping[Asked, Sequence[Scored]]
"""Of each question the nearest of all passages."""
Search = Callable[[Asked], tuple[Places, Places]]
"""A question's candidates, and those of them that are read to the end, best first."""


@dataclass(frozen=True, slots=True)
class Lacking:
    """What the first hundred of the joined list, the candidates, lack.

    `held` is the share of the 10 nearest by MaxSim that are among them. `recall` is that of the candidates, `with_late`
    that of both hundreds, `deeper` that of all that the legs found, up to twice a hundred. `only_late` counts the right
    names that are in late's first 10 and first 100 and not among the candidates, of all the right ones.
    """

    collection: str
    held: Estimate
    recall: Estimate
    deeper: tuple[float, float, float]
    with_late: tuple[float, float, float]
    only_late: tuple[int, int]
    right: int


@dataclass(frozen=True, slots=True)
class Coded:
    """The default with one code of the token vectors; `row` is beside the whole vectors."""

    token_bytes: int
    cosine: float
    row: Row


@dataclass(frozen=True, slots=True)
class Probed:
    """One way to find the nearest: on average so many `candidates`, `reached` of the 10 nearest are among them, and so
    many of the 10 and of the 100 nearest are among those that were read to the end; in `ms` of a core a question."""

    collection: str
    way: str
    candidates: float
    reached: Estimate
    first_10: Estimate
    first_100: Estimate
    ms: float


@dataclass(frozen=True, slots=True)
class Result:
    ways: tuple[Row, ...] = ()
    lacking: tuple[Lacking, ...] = ()
    codes: tuple[Coded, ...] = ()
    probing: tuple[Probed, ...] = ()

    def __add__(self, other: Result) -> Result:
        return Result(
            self.ways + other.ways,
            self.lacking + other.lacking,
            self.codes + other.codes,
            self.probing + other.probing,
        )


def of(found: Collection) -> Result:
    print(f"{found.name}: {len(found.tokens):,} tokens", file=sys.stderr, flush=True)
    late, centroids = late_lists(found), Centroids.of(found.tokens)
    return Result(
        tuple(ways(found, late)),
        (lacking(found, late),),
        tuple(codes(found, centroids)),
        tuple(probing(found, late, centroids)),
    )


def late_lists(found: Collection) -> Late:
    """The nearest of all passages that the reader may read."""
    scores = exhaustive(found, read_back(Rotated(2, found.tokens.shape[1]), found.tokens)[0])
    lists: dict[Asked, Sequence[Scored]] = {}
    for at, asked in enumerate(found.asked):
        of = scores[asked.seen, at]
        best = np.lexsort((asked.seen, -of))[:DEPTH]
        lists[asked] = [Scored(found.ids[asked.seen[place]], float(of[place])) for place in best]
    return lists


def exhaustive(found: Collection, tokens: Half) -> Vectors:
    """MaxSim of every passage (rows) for every question (columns)."""
    queries = np.concatenate([asked.tokens for asked in found.asked])
    lengths = np.array([len(asked.tokens) for asked in found.asked])
    columns = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    scores = np.empty((len(found.ids), len(found.asked)), np.float32)
    for begin in range(0, len(found.ids), PASSAGES_AT_ONCE):
        end = min(begin + PASSAGES_AT_ONCE, len(found.ids))
        first, last = found.starts[begin], found.starts[end]
        cosines = tokens[first:last].astype(np.float32) @ queries.T
        highest = np.maximum.reduceat(cosines, found.starts[begin:end] - first, axis=0)
        scores[begin:end] = np.add.reduceat(highest, columns, axis=1) / lengths
    return scores


def ways(found: Collection, late: Late) -> list[Row]:
    near = stored(found)

    def with_late(asked: Asked) -> Lists:
        return {**asked.lists, "late": late[asked]}

    each: dict[str, Callable[[Asked], Sequence[str]]] = {
        "default": as_set(near),
        "not re-ranked": lambda asked: joined(asked.lists),
        "late alone": lambda asked: [one.id for one in late[asked]],
        "late joined, weight 1": lambda asked: joined(with_late(asked)),
        "late joined, weight 2": lambda asked: joined(with_late(asked), {"late": 2}),
        "late joined, weight 1, and re-ranked": lambda asked: reranked(asked, with_late(asked), near),
    }
    return rows(found, each, "default")


def lacking(found: Collection, late: Late) -> Lacking:
    held, only = list[float](), [0, 0]
    base, deeper, both = list[float](), list[float](), list[float]()
    for asked in found.asked:
        every, nearest = joined(asked.lists), [one.id for one in late[asked]]
        candidates = every[:DEPTH]
        held.append(len(set(nearest[:10]) & set(candidates)) / min(10, len(nearest)))
        names = [found.ranking(asked, ids) for ids in (candidates, every, [*candidates, *nearest])]
        for values, ranking in zip((base, deeper, both), names, strict=True):
            values.append(recall(ranking, asked.grades, len(ranking)))
        missing = {name for name, grade in asked.grades.items() if grade > 0}.difference(names[0])
        for place, depth in enumerate((10, DEPTH)):
            only[place] += len(missing.intersection(found.ranking(asked, nearest[:depth])))
    before = np.array(base)
    return Lacking(
        found.name,
        estimate(held),
        estimate(base),
        change(before, np.array(deeper)),
        change(before, np.array(both)),
        (only[0], only[1]),
        sum(grade > 0 for asked in found.asked for grade in asked.grades.values()),
    )


def codes(found: Collection, centroids: Centroids) -> Iterator[Coded]:
    width = found.tokens.shape[1]
    tried: list[Code] = [Whole(width), Rotated(2, width), Rotated(1, width)]
    tried += [Residuals.of(bits, centroids, found.tokens) for bits in (2, 1)]
    base: Values | None = None
    for code in tried:
        left, cosine = read_back(code, found.tokens)
        near = nearness(found, left)
        values = measured(found, as_set(near))
        base = values if base is None else base
        yield Coded(code.token_bytes, cosine, row(found.name, code.name, values, tried[0].name, base))


def probing(found: Collection, late: Late, centroids: Centroids) -> Iterator[Probed]:
    def exact(asked: Asked, places: Places) -> Vectors:
        return maxsim(asked.tokens, [found.packed[at] for at in places])

    def every(asked: Asked) -> tuple[Places, Places]:
        parts = np.array_split(asked.seen, -(-len(asked.seen) // PASSAGES_AT_ONCE))
        scores = np.concatenate([exact(asked, part) for part in parts])
        return asked.seen, asked.seen[np.argsort(-scores)]

    def candidates(asked: Asked) -> tuple[Places, Places]:
        places = np.array([found.place[id_] for id_ in joined(asked.lists)[:DEPTH]])
        return places, places[np.argsort(-exact(asked, places))]

    yield _probed(found, late, "all passages", every, found.asked[:TIMED])
    yield _probed(found, late, "the default's candidates", candidates, found.asked)
    plaid = Plaid(found, centroids)
    for how in PUBLISHED:
        yield _probed(found, late, how.name, partial(plaid.search, how=how, exact=exact), found.asked)


def _probed(found: Collection, late: Late, way: str, search: Search, some: Sequence[Asked]) -> Probed:
    search(some[0])  # what is made once
    begin = time.process_time()
    each = [search(asked) for asked in some]
    ms = (time.process_time() - begin) * 1000 / len(some)
    reached, first_10, first_100 = [], [], []
    for asked, (candidates, read) in zip(some, each, strict=True):
        nearest = [found.place[one.id] for one in late[asked]]
        reached.append(_share(nearest[:10], candidates))
        first_10.append(_share(nearest[:10], read))
        first_100.append(_share(nearest, read))
    mean = float(np.mean([len(candidates) for candidates, _ in each]))
    return Probed(found.name, way, mean, estimate(reached), estimate(first_10), estimate(first_100), ms)


def _share(wanted: Sequence[int], places: Places) -> float:
    return len(set(wanted).intersection(places.tolist())) / len(wanted)


def printed(result: Result) -> Iterator[str]:
    yield machine.header()
    yield "\nWays; differences are from the default:\n"
    yield from table(result.ways)
    yield "\nWhat the default's candidates, the first 100, lack; differences are from their recall:\n"
    yield "| set | hold of the 10 nearest | recall | + the rest of both legs | + late's 100 | only in late's 10 / 100 |"
    yield "| --- " * 6 + "|"
    for one in result.lacking:
        changes = f"{signed(one.deeper)} | {signed(one.with_late)}"
        only = " / ".join(map(str, one.only_late))
        shares = f"{between(one.held)} | {between(one.recall)}"
        yield f"| {one.collection} | {shares} | {changes} | {only} of {one.right} |"
    yield "\nCodes; differences are from whole vectors:\n"
    yield "| code | bytes a token | 1 - cosine | set | nDCG@10 of the default | difference |\n" + "| --- " * 6 + "|"
    for each in result.codes:
        cells = f"{each.row.measures['nDCG@10'].mean:.3f} | {signed(each.row.change['nDCG@10'])}"
        yield f"| {each.row.way} | {each.token_bytes} | {1 - each.cosine:.4f} | {each.row.collection} | {cells} |"
    yield "\nProbing; shares of the nearest by MaxSim over all passages:\n"
    yield "| set | way | candidates | 10 reached | 10 kept | 100 kept | ms of a core |\n" + "| --- " * 7 + "|"
    for way in result.probing:
        cells = " | ".join(map(between, (way.reached, way.first_10, way.first_100)))
        yield f"| {way.collection} | {way.way} | {way.candidates:.0f} | {cells} | {way.ms:.1f} |"


def between(value: Estimate) -> str:
    return f"{value.mean:.3f} [{value.low:.3f}, {value.high:.3f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, required=True)
    parser.add_argument("--cache", type=Path, help="kept from one run to the next; without it a temporary folder")
    parser.add_argument("--only", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.cache or Path(scratch)
        result = sum((of(collection(name, options.shared, folder)) for name in options.only), Result())
    if options.json:
        print(json.dumps({"machine": machine.describe(), **asdict(result)}, allow_nan=False))
    else:
        print(*printed(result), sep="\n")


if __name__ == "__main__":
    main()
