"""Conversational rewriting: does it see what leans, how near is it to what people write, and does it find more?

    python bench/rewriting.py --shared DIR [--llm-url URL --llm-questions N]

DIR holds data/cast and data/mtrag. CAsT has rewrites written by people and no passages, MTRAG-UN passages and no such
rewrites: so words are compared on the one, recall on the other. The passages of all its tasks, pooled, are the corpus.
Intervals are bootstrap 95 % over the questions. With --llm-url a model at an OpenAI-compatible endpoint rewrites the
first N questions that lean of each.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import machine

from citewell import Index, Settings
from citewell.evaluation.metrics import Estimate, estimate, recall
from citewell.loading.given import from_text
from citewell.models import configured
from citewell.models.llm import LLM
from citewell.queries.joining import joined
from citewell.queries.marks import marks
from citewell.queries.rewrite import needs_rewriting, rewrite, rewrite_by
from citewell.queries.rewriting.subjects import roots_of
from citewell.retrieval.fusion import reciprocal_rank_fusion
from citewell.types import Turn

T = TypeVar("T")

SEARCHED = 40
DEPTHS = (5, 10)


@dataclass(frozen=True, slots=True)
class Turned:
    """A question in its conversation, the rewrite to compare with, and whether one is needed."""

    group: str
    question: str
    turns: tuple[Turn, ...]
    reference: str
    needs: bool


@dataclass(frozen=True, slots=True)
class Task:
    """A question in its conversation, and the ids of its own passages."""

    question: str
    turns: tuple[Turn, ...]
    passages: frozenset[str]


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    data = path.read_bytes()
    for line in (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8").splitlines():
        yield json.loads(line)


def cast(shared: Path) -> Iterator[Turned]:
    """The rules were written with the topics of the first group in view, and the others unseen."""
    for line in read_lines(shared / "data" / "cast" / "rewrites.jsonl"):
        seen = line["topic"] % (3 if line["year"] == 2019 else 2) == 0
        turns = tuple(map(Turn, line["history"]))
        group = "cast, topics seen" if seen else "cast, held out"
        yield Turned(group, line["utterance"], turns, line["rewrite"], line["needs_rewrite"])


def mtrag(shared: Path) -> Iterator[Turned]:
    """Most of its rewrites change the style only: one is needed where it takes a word from the turns before."""
    for line in read_lines(shared / "data" / "mtrag" / "rewrites.jsonl.gz"):
        before, question = line["user_turns"][:-1], line["last_turn"]
        brought = (roots_of(line["rewrite"]) - roots_of(question)) & roots_of(" ".join(before))
        group = "mtrag, clapnq seen" if line["domain"] == "clapnq" else "mtrag, cloud held out"
        yield Turned(group, question, tuple(map(Turn, before)), line["rewrite"], bool(brought))


def tasks(shared: Path) -> tuple[list[Task], dict[str, str]]:
    """Questions that can be answered and come after another one, and all passages by id."""
    passages: dict[str, str] = {}
    found = []
    for line in read_lines(shared / "data" / "mtrag" / "un_tasks.jsonl.gz"):
        own = {hashlib.sha256(one["text"].encode()).hexdigest()[:16]: one["text"] for one in line["contexts"]}
        passages |= own
        said = [entry["text"] for entry in line["history"]]
        turns = tuple(Turn(*pair) for pair in zip(said[:-1:2], said[1::2], strict=True))
        if own and turns and line["answerability"] in ("ANSWERABLE", "PARTIAL"):
            found.append(Task(said[-1], turns, frozenset(own)))
    return found, passages


def overlap(text: str, reference: str) -> tuple[float, float, float]:
    """Recall, precision and F1 of content words."""
    ours, theirs = roots_of(text), roots_of(reference)
    both = len(ours & theirs)
    share, right = both / (len(theirs) or 1), both / (len(ours) or 1)
    return share, right, 2 * share * right / (share + right) if both else 0.0


def shown(value: Estimate) -> str:
    return f"{value.mean:.3f} [{value.low:.3f}, {value.high:.3f}]"


def print_decisions(group: str, rows: Sequence[Turned]) -> None:
    needed = [row.needs for row in rows]
    for name, said in (
        ("every later turn", [bool(row.turns) for row in rows]),
        ("rules", [needs_rewriting(row.question, row.turns) for row in rows]),
    ):
        right = sum(a and b for a, b in zip(said, needed, strict=True))
        print(f"{group:<23}{name:<18}{right / sum(said):.3f}      {right / sum(needed):.3f}")


def print_words(group: str, rows: Sequence[Turned], texts: dict[str, list[str]]) -> None:
    for name, written in texts.items():
        scores = [overlap(text, row.reference) for text, row in zip(written, rows, strict=True)]
        kept = [marks(row.question) <= marks(text) for text, row in zip(written, rows, strict=True)]
        means = "  ".join(f"{estimate([score[n] for score in scores]).mean:.3f}" for n in (0, 1))
        f1 = shown(estimate([score[2] for score in scores]))
        print(f"{group:<23}{name:<12}{len(rows):>4}  {means}  {f1}  {sum(kept)}/{len(kept)}")


class Searcher:
    """The ids of the passages found for a text; each text is searched once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._found: dict[str, list[str]] = {}

    def __call__(self, text: str) -> list[str]:
        if text not in self._found:
            hits = self._index.search(text, k=SEARCHED)
            self._found[text] = list(dict.fromkeys(hit.chunk.source.removeprefix("mtrag:") for hit in hits))
        return self._found[text]


def fused(lists: Sequence[list[str]], k: int) -> list[str]:
    return [item.id for item in reciprocal_rank_fusion({str(n): ids for n, ids in enumerate(lists)}, k)]


def print_recall(asked: Sequence[Task], search: Searcher, written: Sequence[str | None]) -> None:
    plain = [search(task.question) for task in asked]
    alone = [search(text or task.question) for task, text in zip(asked, written, strict=True)]
    pairs = [[one] if one is other else [other, one] for one, other in zip(plain, alone, strict=True)]
    ways = {
        "last turn": plain,
        "rewrite alone": alone,
        "both, RRF k = 60": [fused(pair, 60) for pair in pairs],
        "both, RRF k = 5": [fused(pair, 5) for pair in pairs],
        "both in turn, rewrite first": [list(joined(pair, str)) for pair in pairs],
        "turn before put before it": [search(f"{task.turns[-1].question} {task.question}") for task in asked],
    }
    first: list[list[float]] = []
    for name, lists in ways.items():
        rows = list(zip(asked, lists, strict=True))
        values = [[recall(found, dict.fromkeys(task.passages, 1), k) for task, found in rows] for k in DEPTHS]
        first = first or values
        gains = [[a - b for a, b in zip(*pair, strict=True)] for pair in zip(values, first, strict=True)]
        print(f"{name:<29}" + "   ".join(shown(estimate(each)) for each in (*values, gains[0])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, required=True)
    parser.add_argument("--llm-url")
    parser.add_argument("--llm-model", default="model")
    parser.add_argument("--llm-questions", type=int, default=20)
    options = parser.parse_args()
    groups: dict[str, list[Turned]] = {}
    for row in [*cast(options.shared), *mtrag(options.shared)]:
        groups.setdefault(row.group, []).append(row)
    print(machine.header())
    print(f"\n{'needs rewriting':<23}{'said so by':<18}precision  recall")
    for group, rows in groups.items():
        print_decisions(group, rows)
    print(f"\n{'those that need it':<23}{'text':<12}   n  recall precision F1              codes and numbers kept")
    for group, rows in groups.items():
        needing = [row for row in rows if row.needs]
        ours = [rewrite(row.question, row.turns) or row.question for row in needing]
        print_words(group, needing, {"last turn": [row.question for row in needing], "rules": ours})
    asked, passages = tasks(options.shared)
    begin = time.perf_counter()
    by_rule = {task: rewrite(task.question, task.turns) for task in asked}
    print(f"\nby rule: {(time.perf_counter() - begin) * 1000 / len(asked):.1f} ms a question")
    with tempfile.TemporaryDirectory() as scratch, Index.create(Path(scratch, "index")) as index:
        index.add_documents([from_text(text, source=f"mtrag:{id_}") for id_, text in passages.items()])
        search = Searcher(index)
        leaning = [task for task in asked if needs_rewriting(task.question, task.turns)]
        for name, some in (("all", asked), ("those that lean", leaning)):
            print(
                f"\nMTRAG-UN, {name}: {len(some)} questions, {len(passages)} passages; recall@5, recall@10, gain at 5"
            )
            print_recall(some, search, [by_rule[task] for task in some])
        if options.llm_url:
            models = Settings().models.model_copy(
                update={"llm": f"openai:{options.llm_model}", "llm_url": options.llm_url, "llm_timeout_s": 600}
            )
            llm = configured.llm(models)
            assert llm is not None
            held_out = [
                row for row in groups["cast, held out"] if row.needs and needs_rewriting(row.question, row.turns)
            ]
            print_model(llm, spread(held_out, options.llm_questions), spread(leaning, options.llm_questions), search)


def spread(rows: Sequence[T], most: int) -> list[T]:
    return [rows[place * len(rows) // most] for place in range(most)] if len(rows) > most else list(rows)


def print_model(llm: LLM, rows: Sequence[Turned], some: Sequence[Task], search: Searcher) -> None:
    print("\nwith a language model")
    ours = [rewrite(row.question, row.turns) or row.question for row in rows]
    theirs = [rewrite_by(llm, row.question, row.turns) or row.question for row in rows]
    print_words("cast, held out", rows, {"last turn": [row.question for row in rows], "rules": ours, "model": theirs})
    for row, text in zip(rows, theirs, strict=True):
        print(f"    {row.question} | {text} | {row.reference}")
    print(f"MTRAG-UN, {len(some)} questions: by rule, then by the model")
    print_recall(some, search, [rewrite(task.question, task.turns) for task in some])
    print_recall(some, search, [rewrite_by(llm, task.question, task.turns) for task in some])


if __name__ == "__main__":
    main()
