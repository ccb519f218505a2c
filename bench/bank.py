"""The running example's test set, question by question: found, answered, cited, refused.

    python bench/bank.py [--settings FILE] [--json] [--verbose]

found      every quote of the expected evidence stands in one of the passages retrieved
answered   the answer holds every string that a right answer contains
cited      a citation stands on a page of the expected evidence (for PDFs)
refused    for questions that are not covered, or not for this reader: the answer abstains
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import machine

from citewell import Answer, Index, Principal, Settings

BANK = Path(__file__).parents[1] / "examples" / "bank"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one question; None where a measure does not apply to it."""

    id: str
    kind: str
    found: bool | None
    answered: bool | None
    cited: bool | None
    refused: bool


def plain(text: str) -> str:
    return " ".join(text.replace("|", " ").split()).casefold()


def judge(question: dict[str, Any], answer: Answer) -> Outcome:
    if not question["answerable"]:
        return Outcome(question["id"], question["kind"], None, None, None, answer.abstained)
    passages = [plain(hit.passage.text) for hit in answer.hits]
    pages = {str(item["page"]) for item in question["evidence"] if item["page"]}
    return Outcome(
        id=question["id"],
        kind=question["kind"],
        found=all(any(plain(item["quote"]) in passage for passage in passages) for item in question["evidence"]),
        answered=all(plain(part) in plain(answer.text) for part in question["must_contain"]),
        cited=any(citation.page in pages for citation in answer.citations) if pages else None,
        refused=answer.abstained,
    )


def share(values: Iterable[bool | None]) -> str:
    given = [value for value in values if value is not None]
    return f"{sum(given):>3}/{len(given):<3}" if given else "   -   "


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--settings", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="show the answers that are not right")
    options = parser.parse_args()
    questions = [json.loads(line) for line in (BANK / "testset.jsonl").read_text(encoding="utf-8").splitlines()]
    outcomes = []
    with (
        tempfile.TemporaryDirectory() as scratch,
        Index.create(Path(scratch, "index"), settings=Settings.load(options.settings)) as index,
    ):
        index.add(BANK / "documents")
        for question in questions:
            day = date.fromisoformat(question["as_of"]) if question["as_of"] else None
            who = Principal(groups=frozenset(question["groups"]))
            answer = index.ask(question["question"], principal=who, as_of=day)
            outcomes.append(judge(question, answer))
            if options.verbose and not right(outcomes[-1]):
                print(f"{outcomes[-1]}\n  asked    {question['question']}\n  answered {answer.text}")
                print(f"  expected {question['expected_answer']}")
    print_json(outcomes) if options.json else print_table(outcomes)


def right(outcome: Outcome) -> bool:
    return outcome.refused if outcome.answered is None else outcome.answered


def print_table(outcomes: list[Outcome]) -> None:
    kinds: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        kinds[outcome.kind].append(outcome)
    kinds["answerable"] = [outcome for outcome in outcomes if outcome.answered is not None]
    kinds["not answerable"] = [outcome for outcome in outcomes if outcome.answered is None]
    print(machine.header())
    print(f"{'':<16}found    answered cited    refused")
    for kind, group in kinds.items():
        columns = ([getattr(each, name) for each in group] for name in ("found", "answered", "cited", "refused"))
        print(f"{kind:<16}" + "  ".join(share(column) for column in columns))


def print_json(outcomes: list[Outcome]) -> None:
    found = [{name: getattr(each, name) for name in each.__slots__} for each in outcomes]
    print(json.dumps({"machine": machine.describe(), "questions": found}, allow_nan=False))


if __name__ == "__main__":
    main()
