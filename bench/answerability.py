"""Answered or refused, against the four classes of MTRAG-UN: answerable, in part, underspecified, unanswerable.

    python bench/answerability.py --data DIR [--llm-url URL --llm NAME] [--each N] [--json]

DIR holds mtrag. All passages of a collection are indexed and readable to its tasks, so that an unanswerable turn meets
passages of its subject. Each task is asked as the last turn of its conversation, through the whole of `Index.ask`. An
underspecified turn should be asked back, which Citewell does not do: a refusal is the nearest to it. Intervals are
Wilson's, 95 %.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import machine
from beir import read_lines
from shares import Share

from citewell import Document, Index, Principal, Settings, Turn
from citewell.loading.given import from_text

CLASSES = ("ANSWERABLE", "PARTIAL", "UNDERSPECIFIED", "UNANSWERABLE")


@dataclass(frozen=True, slots=True)
class Told:
    """What came of one task."""

    task: str
    answerability: str
    collection: str
    abstained: bool
    reason: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--each", type=int, default=0, help="tasks of each class; 0 takes all")
    parser.add_argument("--llm-url", default="")
    parser.add_argument("--llm", default="none", help="openai:NAME at that URL")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    tasks = list(read_lines(options.data / "mtrag", "un_tasks.jsonl"))
    settings = Settings.model_validate({"models": {"llm": options.llm, "llm_url": options.llm_url}})
    with tempfile.TemporaryDirectory() as scratch, Index.create(Path(scratch, "index"), settings=settings) as index:
        index.add_documents(list(documents(tasks)))
        told = [asked(index, task) for task in chosen(tasks, options.each)]
    rates = table(told)
    if options.json:
        print(json.dumps({"machine": machine.describe(), "rates": rates, "told": told}, default=asdict))
        return
    print(machine.header())
    print("\n| class | refused |\n| --- | --- |")
    for rate in rates:
        print(f"| {rate.name} | {rate} |")


def documents(tasks: Sequence[dict[str, Any]]) -> Iterator[Document]:
    """Each passage once, for the readers of its collection."""
    seen: set[tuple[str, str]] = set()
    for task in tasks:
        for passage in task["contexts"]:
            key = (task["collection"], passage["id"])
            if key not in seen and passage["text"].strip():
                seen.add(key)
                source = f"mtrag:{'/'.join(key)}"
                yield from_text(passage["text"], source=source, title=passage["title"], groups=[task["collection"]])


def chosen(tasks: Sequence[dict[str, Any]], each: int) -> Iterator[dict[str, Any]]:
    for name in CLASSES:
        of = [task for task in tasks if task["answerability"] == name]
        yield from of[:: max(len(of) // each, 1)][:each] if each else of


def asked(index: Index, task: dict[str, Any]) -> Told:
    said = task["history"]
    turns = [
        Turn(one["text"], other["text"])
        for one, other in pairwise(said[:-1])
        if one["speaker"] == "user" and other["speaker"] == "agent"
    ]
    reader = Principal(groups=frozenset({task["collection"]}))
    answer = index.ask(said[-1]["text"], turns=turns, principal=reader)
    return Told(task["id"], task["answerability"], task["collection"], answer.abstained, answer.reason)


def table(told: Sequence[Told]) -> list[Share]:
    return [Share.of_all(name, (one.abstained for one in told if one.answerability == name)) for name in CLASSES]


if __name__ == "__main__":
    main()
