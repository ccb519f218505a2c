"""Answers whose support is known, in two halves each: one that the default judge was fitted on, and one held out.

Each set has its own rule, so that what is held out has nothing to do with what is fitted: every second conversation of
MTRAG by id, every second line of HaluEval and every second question of the example; SciFact by its train and test.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

from beir import read_lines

Record = dict[str, Any]
"""A line as `citewell evaluate-judge` reads it; keys that it does not know are for the bench."""

BANK = Path(__file__).parents[1] / "examples" / "bank"
HALVES = ("fitted", "held-out")
NEEDED = (
    "mtrag/human_faithfulness.jsonl.gz",
    "halueval-qa/qa.jsonl",
    "scifact/claims_evidence.jsonl",
    "scifact/sentences.jsonl.gz",
)
CHANGE = 3  # added to the first figure of an expected answer
OTHER = 7  # questions further on stands an answer that does not answer this one
LONGEST_FIGURE = 8  # digits; what is longer is a code


def missing(data: Path) -> list[str]:
    """The files that are not there."""
    return [name for name in NEEDED if not (data / name).is_file()]


def write(data: Path, folder: Path) -> dict[str, Path]:
    """Every half of every set as a file of the folder, by its name."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {}
    for name, records in halves(data).items():
        paths[name] = folder / f"{name}.jsonl"
        lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        paths[name].write_text("".join(lines), encoding="utf-8")
    return paths


def halves(data: Path) -> dict[str, list[Record]]:
    """By name: `mtrag-fitted`, `mtrag-held-out` and so on."""
    sets = {"mtrag": _mtrag(data), "halueval-qa": _halueval(data), "scifact": _scifact(data), "example": _example()}
    found: dict[str, list[Record]] = {f"{name}-{half}": [] for name in sets for half in HALVES}
    for name, records in sets.items():
        for half, record in records:
            found[f"{name}-{half}"].append(record)
    return found


def _mtrag(data: Path) -> Iterator[tuple[str, Record]]:
    records = list(read_lines(data / "mtrag", "human_faithfulness.jsonl"))
    conversations = sorted({_conversation(record) for record in records})
    half = dict(zip(conversations, cycle(HALVES), strict=False))
    return ((half[_conversation(record)], record) for record in records)


def _conversation(record: Record) -> str:
    return str(record["task_id"]).partition("<")[0]


def _halueval(data: Path) -> Iterator[tuple[str, Record]]:
    return zip(cycle(HALVES), read_lines(data / "halueval-qa", "qa.jsonl"), strict=False)


def _scifact(data: Path) -> Iterator[tuple[str, Record]]:
    """A claim beside each abstract that has evidence of it, or else beside the first that it cites, which is silent."""
    abstracts = {str(each["_id"]): each["sentences"] for each in read_lines(data / "scifact", "sentences.jsonl")}
    for claim in read_lines(data / "scifact", "claims_evidence.jsonl"):
        labels = {str(each["doc_id"]): each["label"] for each in claim["evidence"]}
        for document, label in (labels or dict.fromkeys(map(str, claim["cited_doc_ids"][:1]), "SILENT")).items():
            yield (
                "fitted" if claim["split"] == "train" else "held-out",
                {
                    "answer": claim["claim"],
                    "passages": [" ".join(abstracts[document])],
                    "supported": label == "SUPPORT",
                    "kind": label,
                },
            )


def _example() -> Iterator[tuple[str, Record]]:
    """Each expected answer beside its evidence: as it is, with another figure, and another question's answer."""
    lines = (json.loads(line) for line in (BANK / "testset.jsonl").read_text(encoding="utf-8").splitlines())
    questions = [line for line in lines if line["answerable"] and line["expected_answer"] and _quotes(line)]
    for at, (half, question) in enumerate(zip(cycle(HALVES), questions, strict=False)):
        right = question["expected_answer"]
        other = questions[(at + OTHER) % len(questions)]["expected_answer"]
        answers = {right: "expected", other: "other", _refigured(right): "figure"}
        for answer, kind in (answers | {right: "expected"}).items():
            yield (
                half,
                {
                    "question": question["question"],
                    "answer": answer,
                    "passages": _quotes(question),
                    "supported": kind == "expected",
                    "kind": kind,
                },
            )


def _quotes(question: Record) -> list[str]:
    return [each["quote"] for each in question["evidence"] if each["quote"]]


def _refigured(answer: str) -> str:
    return re.sub(rf"(?<!\d)\d{{1,{LONGEST_FIGURE}}}(?!\d)", lambda found: str(int(found[0]) + CHANGE), answer, count=1)
