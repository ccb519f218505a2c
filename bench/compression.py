"""What compression leaves of a prompt's passages, and whether the answer is still among it.

    python bench/compression.py --index DIR [--squad2 DIR] [--near SHARE ...] [--json]

At --index is kept what is searched, made where it is not there yet: the bank of examples/, and squad2 (--squad2 is its
folder, in BEIR's layout with `answers`), of which 300 questions are asked, and 300 more that the default threshold was
not chosen by ("held out"). Of the questions that have an answer, those count whose evidence is among the passages kept.
`evidence` is the share of which all that was found is still shown whole, `answer` the share of which every text of the
right answer still is. --near are values for `compression.NEAR`. Intervals are bootstrap 95 % over the questions. No
language model is asked: this is the way "sentences".
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, median
from unittest.mock import patch

import machine
import numpy as np
import refusal
from bank import BANK
from beir import read_lines

from citewell import Index
from citewell.evaluation.metrics import Estimate, estimate
from citewell.evaluation.placing import held, plain
from citewell.evaluation.runs import reader_of
from citewell.evaluation.testset import retrieval_questions
from citewell.generation import compression
from citewell.generation.compression import Shown, compress
from citewell.generation.prompt import body, build_prompt
from citewell.generation.units import units
from citewell.models.embedder import Vectors
from citewell.models.llm import Completion, Prompt
from citewell.models.minilm import MiniLM
from citewell.settings import Settings
from citewell.types import Hit, Trace

HELD_OUT = "held out"
SQUAD_QUESTIONS = 300
SETTINGS = Settings.model_validate({"generation": {"compress": "sentences"}})


@dataclass(frozen=True, slots=True)
class Case:
    """A question, the passages kept, and what must still be shown.

    Of each group of `evidence` one pair must: the id of a passage, and a text that stands in it. Of each group of
    `answer` one text must, in any passage.
    """

    id: str
    question: str
    hits: tuple[Hit, ...]
    evidence: tuple[tuple[tuple[str, str], ...], ...]
    answer: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Left:
    """What one prompt shows after compression; `prompt` are all its characters, `chars` those of the passages."""

    evidence: bool
    answer: bool
    chars: int
    prompt: int
    passages: int
    units: int


@dataclass(frozen=True, slots=True)
class Row:
    """One set of questions at one threshold; characters, passages and units are those of one prompt.

    `mean_prompt` are the characters of all of it, rules and tags too; the others are the passages' own.
    """

    name: str
    near: float
    questions: int
    evidence: Estimate
    answer: Estimate
    mean_chars: float
    median_chars: float
    share_of_chars: float
    mean_prompt: float
    mean_passages: float
    mean_units: float
    lost: tuple[str, ...]


class Remembering(MiniLM):
    """Embeds a passage once: the same units come for every threshold."""

    def __init__(self) -> None:
        super().__init__(threads=1)
        self._known: dict[str, Vectors] = {}

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known |= zip(new, super().embed_passages(new), strict=True) if new else ()
        return np.stack([self._known[text] for text in texts])


class NeverAsked:
    """No language model: the way "sentences" needs none."""

    def complete(self, prompt: Prompt) -> Completion:
        raise AssertionError(f"asked: {prompt.user}")


def bank_cases(place: Path) -> Iterator[Case]:
    if not place.exists():
        with Index.create(place) as index:
            index.add(BANK / "documents")
    with Index.open(place) as index:
        for question in retrieval_questions(BANK / "testset.jsonl"):
            hits = index.search(question.question, principal=reader_of(question), as_of=question.as_of)
            groups: dict[int, list[tuple[str, str]]] = {}
            for hit, numbers in zip(hits, held(question, hits), strict=True):
                for at in numbers:
                    groups.setdefault(at, []).append((hit.passage.id, question.evidence[at].quote))
            answer = tuple((text,) for text in question.must_contain)
            yield Case(question.id, question.question, hits, tuple(map(tuple, groups.values())), answer)


def squad_cases(name: str, data: Path, place: Path) -> Iterator[Case]:
    lines = {line["_id"]: line for line in read_lines(data, "queries.jsonl")}
    articles = sorted({refusal.article(line["_id"]) for line in read_lines(data, "corpus.jsonl")})
    answerable = refusal.questions(data, articles)["answerable"]
    asked = random.Random(0).sample(answerable, SQUAD_QUESTIONS)
    if name == HELD_OUT:
        chosen_by = {question.id for question in asked}
        others = [question for question in answerable if question.id not in chosen_by]
        asked = random.Random(1).sample(others, SQUAD_QUESTIONS)
    if not place.exists():
        with Index.create(place) as index:
            index.add_documents(list(refusal.documents(data)))
    with Index.open(place) as index:
        for question in asked:
            hits = index.search(question.question, principal=reader_of(question))
            source, answers = f"squad:{lines[question.id]['paragraph_id']}", tuple(lines[question.id]["answers"])
            found = [hit.passage for hit in hits if hit.passage.source == source]
            spans = tuple((each.id, text) for each in found for text in answers if plain(text) in plain(each.text))
            yield Case(question.id, question.question, hits, (spans,) if spans else (), (answers,))


def measure(name: str, cases: Sequence[Case], thresholds: Sequence[float]) -> list[Row]:
    """The passages whole, then at each threshold."""
    embedder = Remembering()
    before = [whole(case) for case in cases]
    rows = [row(name, 0.0, cases, before, before)]
    for near in thresholds:
        with patch.object(compression, "NEAR", near):
            after = [compressed(case, embedder) for case in cases]
        rows.append(row(name, near, cases, before, after))
    return rows


def cpu_ms(cases: Sequence[Case]) -> float:
    """The median time of one core that a question takes, over every fourth."""
    embedder, times = MiniLM(threads=1), []
    embedder.embed_queries(["loads the model"])
    for case in cases[::4]:
        began = time.process_time()
        compressed(case, embedder)
        times.append((time.process_time() - began) * 1000)
    return median(times)


def whole(case: Case) -> Left:
    return left(case, Shown(case.hits), sum(len(units(hit.passage)) for hit in case.hits))


def compressed(case: Case, embedder: MiniLM) -> Left:
    trace = Trace()
    shown = compress(case.question, case.hits, SETTINGS, embedder=embedder, llm=NeverAsked(), trace=trace)
    return left(case, shown, trace.steps[0].count_out)


def left(case: Case, shown: Shown, count: int) -> Left:
    bodies = {hit.passage.id: body(hit.passage, shown.strips) for hit in shown.hits}
    plainly = {id_: plain(text) for id_, text in bodies.items()}
    together = " ".join(plainly.values())
    prompt = build_prompt(case.question, shown.hits, SETTINGS, shown.strips).prompt
    return Left(
        evidence=all(any(plain(text) in plainly.get(id_, "") for id_, text in group) for group in case.evidence),
        answer=all(any(plain(text) in together for text in group) for group in case.answer),
        chars=sum(map(len, bodies.values())),
        prompt=len(prompt.system) + len(prompt.user),
        passages=len(bodies),
        units=count,
    )


def row(name: str, near: float, cases: Sequence[Case], before: Sequence[Left], after: Sequence[Left]) -> Row:
    return Row(
        name=name,
        near=near,
        questions=len(cases),
        evidence=estimate([float(each.evidence) for each in after]),
        answer=estimate([float(each.answer) for each in after]),
        mean_chars=fmean(each.chars for each in after),
        median_chars=median(each.chars for each in after),
        share_of_chars=sum(each.chars for each in after) / sum(each.chars for each in before),
        mean_prompt=fmean(each.prompt for each in after),
        mean_passages=fmean(each.passages for each in after),
        mean_units=fmean(each.units for each in after),
        lost=tuple(case.id for case, each in zip(cases, after, strict=True) if not (each.evidence and each.answer)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--squad2", type=Path)
    parser.add_argument("--near", type=float, nargs="+", default=[compression.NEAR])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.index.mkdir(parents=True, exist_ok=True)
    sets = {"bank": bank_cases(options.index / "bank")}
    if options.squad2:
        for name in ("squad2", HELD_OUT):
            sets[name] = squad_cases(name, options.squad2, options.index / "squad2")
    found = {name: [case for case in cases if case.evidence] for name, cases in sets.items()}
    rows = [row for name, cases in found.items() for row in measure(name, cases, options.near)]
    times = {name: cpu_ms(cases) for name, cases in found.items()}
    if options.json:
        line = {"machine": machine.describe(), "rows": [asdict(row) for row in rows], "cpu_ms": times}
        print(json.dumps(line, allow_nan=False))
        return
    print_table(rows)
    for name, ms in times.items():
        print(f"{name}: {ms:.0f} ms of one core a question")


def print_table(rows: Sequence[Row]) -> None:
    print(f"{machine.header()}\nnear 0 is the passages whole")
    print(
        f"{'set':<9} {'near':<5} {'questions':<10} {'evidence':<21} {'answer':<21} {'chars':>6} {'median':>7}"
        f" {'share':>6} {'prompt':>7} {'passages':>9} {'units':>6}"
    )
    for each in rows:
        kept = (f"{it.mean:.3f} [{it.low:.3f}, {it.high:.3f}]" for it in (each.evidence, each.answer))
        print(
            f"{each.name:<9} {each.near:<5} {each.questions:<10} {' '.join(kept)} {each.mean_chars:>6.0f}"
            f" {each.median_chars:>7.0f} {each.share_of_chars:>6.2f} {each.mean_prompt:>7.0f}"
            f" {each.mean_passages:>9.1f} {each.mean_units:>6.1f}"
        )
        if each.lost:
            print(f"          without: {', '.join(each.lost)}")


if __name__ == "__main__":
    main()
