"""No search, one or many (`queries.route`): which questions go which way, and what that finds and costs.

    python bench/adaptive.py --shared DIR --indexes DIR [--fit] [--most N] [--json]

DIR of --shared holds the project's data. The collections of 2wiki, squad2 and scifact go through the real pipeline
once, into indexes under --indexes, which later runs take. --fit first fits the classifier to the first halves, and
writes src/citewell/queries/complexity.json. All figures are of questions that it was not fitted to.

First, how many real questions are taken for small talk (none should be). Then the share that each way of routing calls
many-step, by set; `label` is the paper's: one step where one search finds all right passages, otherwise by the kind of
the set. Then recall@5 and the share with all right passages among the first 8, of at most --most questions a set,
with bootstrap 95 % intervals, and the searches for a question.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import machine
from adaptive_fit import K, Ranked, fitted, label, write
from adaptive_sets import Asked, Asking, never_learnt_from, of_two_halves, turns_of_people
from beir import ranking
from multihop import opened

from citewell import Index, clock, queries
from citewell.evaluation.metrics import Estimate, all_found, estimate, recall
from citewell.evaluation.paired import Pairs, interval
from citewell.models.minilm import MiniLM
from citewell.queries.complexity import FILE, needs_many
from citewell.queries.finding import find, understand
from citewell.queries.routing import Way, route
from citewell.queries.small_talk import is_small_talk
from citewell.retrieval.query import Query
from citewell.settings import Queries
from citewell.types import Hit, Trace

SEARCHED_CHUNKS = 30
ROUTES = {
    "off": Queries(),
    "rules": Queries(route="rules"),
    "trained": Queries(route="trained"),
    "all many": Queries(decompose="rules", second_hop=True),
}


@dataclass(frozen=True, slots=True)
class Told:
    """What the held-out questions of a set are taken for. `labels` counts (label, rules, trained); True is many."""

    name: str
    questions: int
    small_talk: int
    rules: float
    trained: float
    labels: dict[tuple[bool, bool, bool], int]


@dataclass(frozen=True, slots=True)
class Row:
    """One set, searched by one way of routing. `change` is of `all_found`, from the way that is off."""

    name: str
    route: str
    recall: Estimate
    all_found: Estimate
    change: tuple[float, float]
    searches: float


class Searcher:
    """An index, searched once for each query."""

    def __init__(self, index: Index, embedder: MiniLM) -> None:
        self._embedder = embedder
        self._hits = cache(lambda text, day: index.search(text, k=SEARCHED_CHUNKS, as_of=day))

    def plain(self, question: str) -> list[str]:
        return ranking(self._search(Query(question)))

    def routed(self, question: str, settings: Queries) -> tuple[list[str], int]:
        """The documents, best first, and how many searches found them."""
        trace = Trace()
        asked = understand(question, (), settings, clock.today(), llm=None, embedder=self._embedder, trace=trace)
        found = find(asked, self._search, SEARCHED_CHUNKS)
        return ranking(found.hits), len(found.queries)

    def _search(self, query: Query) -> tuple[Hit, ...]:
        # No question of these sets is a code alone, which the keyword leg would get.
        hits: tuple[Hit, ...] = self._hits(query.text, query.as_of)
        return hits


def told(of: Asking, searcher: Searcher | None, embedder: MiniLM) -> Told:
    texts = [asked.text for asked in of.held_out]
    rules = [route(text) is Way.MANY for text in texts]
    trained = [needs_many(embedder, text) for text in texts]
    labels: Counter[tuple[bool, bool, bool]] = Counter()
    for asked, *ways in zip(of.held_out, rules, trained, strict=True):
        if asked.many is not None:
            labels[label(asked, searcher.plain if searcher else None), ways[0], ways[1]] += 1
    small = sum(is_small_talk(text) for text in (asked.text for asked in of.asked))
    return Told(of.name, len(texts), small, sum(rules) / len(texts), sum(trained) / len(texts), dict(labels))


def measure(name: str, asked: Sequence[Asked], searcher: Searcher) -> list[Row]:
    rows, before = [], list[float]()
    for way, settings in ROUTES.items():
        found = [searcher.routed(each.text, settings) for each in asked]
        right = [each.grades for each in asked]
        share = [recall(documents, grades, 5) for (documents, _), grades in zip(found, right, strict=True)]
        every = [all_found(documents, grades, K) for (documents, _), grades in zip(found, right, strict=True)]
        before = before or every
        change = interval(Pairs.of_values(before, every))
        searches = sum(number for _, number in found) / len(found)
        rows.append(Row(name, way, estimate(share), estimate(every), change, searches))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, required=True)
    parser.add_argument("--indexes", type=Path, required=True)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--most", type=int, default=150)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    embedder = MiniLM(1)
    halves = of_two_halves(options.shared)
    options.indexes.mkdir(parents=True, exist_ok=True)
    indexes = {each.name: opened(each.folder, options.indexes / each.name) for each in halves if each.folder}
    searchers = {name: Searcher(index, embedder) for name, index in indexes.items()}
    if options.fit:
        ranked: dict[str, Ranked] = {name: searcher.plain for name, searcher in searchers.items()}
        write(Path(queries.__file__).with_name(FILE), fitted(halves, ranked, embedder), embedder)
    said = [told(each, searchers.get(each.name), embedder) for each in [*halves, *never_learnt_from(options.shared)]]
    turns = turns_of_people(options.shared)
    talk = [turn for turn in turns if is_small_talk(turn)]
    rows = [
        row
        for each in halves
        if each.folder
        for row in measure(each.name, chosen(each.held_out, options.most), searchers[each.name])
    ]
    for index in indexes.values():
        index.close()
    if options.json:
        print_json(said, talk, rows)
    else:
        print_tables(said, turns, talk, rows)


def chosen(asked: Sequence[Asked], most: int) -> list[Asked]:
    """So many of those whose right documents are known, evenly spread."""
    judged = [each for each in asked if each.grades]
    return judged[:: -(-len(judged) // most)]


def print_tables(said: list[Told], turns: list[str], talk: list[str], rows: list[Row]) -> None:
    print(f"{machine.header()}\n{len(turns)} turns of people: small talk are {talk}")
    print(f"{'set':<9} {'held out':>8} {'small talk':>10}  many: {'rules':>6} {'trained':>7}")
    for each in said:
        print(f"{each.name:<9} {each.questions:>8} {each.small_talk:>10}  {each.rules:>12.1%} {each.trained:>7.1%}")
    for at, way in enumerate(("rules", "trained"), start=1):
        print(f"{way}: as it is labelled, down; as it is told, across")
        for name, of in {each.name: each.labels for each in said if each.labels}.items():
            table = [[sum(n for key, n in of.items() if (key[0], key[at]) == (is_, told_)) for told_ in (False, True)]
                     for is_ in (False, True)]  # fmt: skip
            print(
                f"  {name:<9} one: {table[0][0]} one, {table[0][1]} many; many: {table[1][0]} one, {table[1][1]} many"
            )
    print(f"{'set':<9} {'route':<9} {'recall@5':<22} {'all in ' + str(K):<22} {'change':<18} searches")
    for row in rows:
        cells = [f"{each.mean:.3f} [{each.low:.3f}, {each.high:.3f}]" for each in (row.recall, row.all_found)]
        change = f"[{row.change[0]:+.3f}, {row.change[1]:+.3f}]"
        print(f"{row.name:<9} {row.route:<9} {cells[0]:<22} {cells[1]:<22} {change:<18} {row.searches:.2f}")


def print_json(said: list[Told], talk: list[str], rows: list[Row]) -> None:
    sets = [
        {**asdict(each), "labels": [[*map(int, key), number] for key, number in each.labels.items()]} for each in said
    ]
    found = {"machine": machine.describe(), "small_talk": talk, "sets": sets, "rows": [asdict(row) for row in rows]}
    print(json.dumps(found, allow_nan=False))


if __name__ == "__main__":
    main()
