"""Questions to learn from and questions to try what was learnt on, for `adaptive.py`."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beir import read_lines, read_qrels

BANK = Path(__file__).parents[1] / "examples" / "bank"


@dataclass(frozen=True, slots=True)
class Asked:
    """One question. `grades` judge documents; {} where no collection is at hand. `many` is the kind of its set: whether
    people wrote it to need several passages, one after the other or side by side; None where the set has both."""

    text: str
    train: bool
    many: bool | None
    grades: dict[str, int]


@dataclass(frozen=True, slots=True)
class Asking:
    """A set of questions. With `folder`, its collection can be searched."""

    name: str
    asked: list[Asked]
    folder: Path | None = None

    @property
    def held_out(self) -> list[Asked]:
        return [each for each in self.asked if not each.train]


def of_two_halves(shared: Path) -> list[Asking]:
    """The sets that are learnt from. Their other half is held out: every second question of 2wiki and HaluEval, whose
    questions are HotpotQA's; every second article of SQuAD; scifact's own test set."""
    data = shared / "data"
    return [_two_wiki(data / "2wiki-multihop"), _hotpot(data / "halueval-qa"), _squad(data / "squad2"), _scifact(data)]


def never_learnt_from(shared: Path) -> list[Asking]:
    """The example's test set, what people asked in conversations (as rewritten to stand alone), and about code."""
    data = shared / "data"
    texts = {
        "bank": [line["question"] for line in read_lines(BANK, "testset.jsonl")],
        "mtrag": [line["rewrite"] for line in _packed(data / "mtrag" / "rewrites.jsonl.gz")],
        "cast": [line["rewrite"] for line in read_lines(data / "cast", "rewrites.jsonl")],
        "codebase": [line["text"] for line in read_lines(data / "contextual-codebase", "queries.jsonl")],
    }
    return [
        Asking(name, [Asked(text, False, None, {}) for text in dict.fromkeys(each)]) for name, each in texts.items()
    ]


def turns_of_people(shared: Path) -> list[str]:
    """What people said in the conversations of MTRAG and MTRAG-UN, each once, as they said it."""
    said = [
        turn["text"]
        for name in ("un_tasks", "human_faithfulness")
        for line in _packed(shared / "data" / "mtrag" / f"{name}.jsonl.gz")
        for turn in line["history"]
        if turn["speaker"] == "user"
    ]
    rewritten = _packed(shared / "data" / "mtrag" / "rewrites.jsonl.gz")
    return list(dict.fromkeys([*said, *(turn for line in rewritten for turn in line["user_turns"])]))


def _two_wiki(folder: Path) -> Asking:
    judged = read_qrels(folder / "qrels" / "test.tsv")
    lines = read_lines(folder, "queries.jsonl")
    asked = [Asked(line["text"], place % 2 == 0, True, judged[line["_id"]]) for place, line in enumerate(lines)]
    return Asking("2wiki", asked, folder)


def _hotpot(folder: Path) -> Asking:
    lines = read_lines(folder, "qa.jsonl")
    return Asking("hotpot", [Asked(line["question"], place % 2 == 0, True, {}) for place, line in enumerate(lines)])


def _squad(folder: Path) -> Asking:
    judged = read_qrels(folder / "qrels" / "test.tsv")
    article = {line["_id"]: line["title"] for line in read_lines(folder, "corpus.jsonl")}
    learnt = set(sorted(set(article.values()))[::2])
    asked = [
        Asked(line["text"], article[line["paragraph_id"]] in learnt, False, judged.get(line["_id"], {}))
        for line in read_lines(folder, "queries.jsonl")
    ]
    return Asking("squad2", asked, folder)


def _scifact(data: Path) -> Asking:
    folder = data / "scifact"
    judged = {name: read_qrels(folder / "qrels" / f"{name}.tsv") for name in ("train", "test")}
    texts = {line["_id"]: line["text"] for line in read_lines(folder, "queries.jsonl")}
    asked = [
        Asked(texts[id_], name == "train", False, grades) for name, of in judged.items() for id_, grades in of.items()
    ]
    return Asking("scifact", asked, folder)


def _packed(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)
