"""Which way questions go, by rule: no index and no model are needed.

    python bench/routing.py --shared DIR [--json]

First the test set of the example, by way and by the kind that its author gave each question. Then the questions of
squad2 and the claims of scifact, which ask one thing each: how many go which way, and how many are chains, for which a
name in the first passage would be searched on.

DIR holds data/squad2 and data/scifact.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

import machine
from beir import read_lines

from citewell.queries.routing import Way, route
from citewell.queries.second_hop import onward

BANK = Path(__file__).parents[1] / "examples" / "bank"
SETS = ("squad2", "scifact")
A_NAME = "Zebulon Quarrington"
"""A passage that is a name and nothing else, which no question has."""


@dataclass(frozen=True, slots=True)
class Row:
    """What becomes of the questions of one set."""

    name: str
    questions: int
    ways: dict[Way, int]
    chains: int


def measure(name: str, questions: list[str]) -> Row:
    return Row(
        name,
        len(questions),
        dict(Counter(map(route, questions))),
        sum(bool(onward(question, [A_NAME])) for question in questions),
    )


def routed() -> dict[Way, Counter[str]]:
    """The kinds of the test set's questions, by the way they go."""
    kinds: dict[Way, Counter[str]] = {way: Counter() for way in Way}
    for question in read_lines(BANK, "testset.jsonl"):
        kinds[route(question["question"])][question["kind"]] += 1
    return kinds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, required=True)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    kinds = routed()
    rows = [
        measure(name, [line["text"] for line in read_lines(options.shared / "data" / name, "queries.jsonl")])
        for name in SETS
    ]
    if options.json:
        found = {"machine": machine.describe(), "routed": kinds, "sets": [asdict(row) for row in rows]}
        print(json.dumps(found, allow_nan=False))
        return
    print(machine.header())
    for way, counts in kinds.items():
        print(f"{way:<11} {counts.total():>4}  {', '.join(f'{kind} {n}' for kind, n in counts.most_common())}")
    for row in rows:
        ways = ", ".join(f"{way} {row.ways.get(way, 0)}" for way in Way)
        print(f"{row.name}: {row.questions} questions: {ways}; chains {row.chains}")


if __name__ == "__main__":
    main()
