"""How far the default judge agrees with people and with labels, on the halves it was fitted on and on the others.

    python bench/judges.py --data DIR [--fit] [--example] [--write DIR] [--json]

DIR holds mtrag, halueval-qa and scifact; the fourth set is the running example. --write keeps the halves as files that
`citewell evaluate-judge` reads. --fit fits the five weights to the fitted halves and prints them beside those of the
judge. --example indexes the example, asks its questions and judges the answers. Intervals are bootstrap 95 % over the
questions.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import judges_data
import machine
import numpy as np
from judges_data import BANK
from judges_fit import WEIGHTS, fitted

from citewell import Index
from citewell.checking.aligned import AlignedJudge
from citewell.checking.judge import Judge, Judgement
from citewell.evaluation.answers import Answered
from citewell.evaluation.judging.agreement import Agreement, agreement, spearman
from citewell.evaluation.judging.rated import Rated, read_rated
from citewell.evaluation.judging.remembered import RememberedJudge
from citewell.evaluation.metrics import RESAMPLES, Estimate, percentile_interval
from citewell.evaluation.placing import plain
from citewell.evaluation.runs import run
from citewell.evaluation.testset import read_testset
from citewell.models.minilm import MiniLM


@dataclass(slots=True)
class TimedJudge:
    """A judge, how long it took, and for how many claims."""

    judge_of: Judge
    seconds: float = 0.0
    claims: int = 0

    @property
    def name(self) -> str:
        return self.judge_of.name

    def judge(self, claims: Sequence[str], passages: Sequence[str], question: str = "") -> list[Judgement]:
        begin = time.perf_counter()
        judged = self.judge_of.judge(claims, passages, question)
        self.seconds += time.perf_counter() - begin
        self.claims += len(claims)
        return judged


@dataclass(frozen=True, slots=True)
class Beside:
    """A published score of the same answers: its agreement, and how much larger the judge's is."""

    data: str
    answers: int
    judge: float
    published: float
    difference: Estimate


@dataclass(frozen=True, slots=True)
class Share:
    """How many of the answers of one kind are found unsupported, and contradicted."""

    data: str
    kind: str
    answers: int
    unsupported: float
    contradicted: float


@dataclass(frozen=True, slots=True)
class Asked:
    """The example's answers: quoted sentences found unsupported, and expected claims that are found in the answers."""

    questions: int
    sentences: int
    not_by_what_they_cite: int
    not_by_the_passages: int
    expected_in_right: tuple[int, int]
    expected_in_wrong: tuple[int, int]


def beside_rl_f(judge: Judge, name: str, paths: Iterable[Path]) -> Beside:
    """MTRAG's automatic `rl_f`, a model's faithfulness as RAGAS has it, on the answers that state something."""
    answers, published = list[Rated](), list[float]()
    for path in paths:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for answer, line in zip(read_rated(path), lines, strict=True):
            if answer.claims:
                answers.append(answer)
                published.append(line["automatic"]["rl_f"])
    judged = [judge.judge(each.claims, each.passages, each.question) for each in answers]
    mine = [sum(one.support or 0.0 for one in each) / len(each) for each in judged]
    human = [each.rating or 0.0 for each in answers]
    groups = [each.group for each in answers]
    members = [[at for at, group in enumerate(groups) if group == one] for one in dict.fromkeys(groups)]
    draws = np.random.default_rng(0).integers(len(members), size=(RESAMPLES, len(members)))
    values = []
    for draw in draws:
        rows = [at for group in draw for at in members[group]]
        ours, theirs, people = ([some[at] for at in rows] for some in (mine, published, human))
        values.append(spearman(ours, people) - spearman(theirs, people))
    own, other = spearman(mine, human), spearman(published, human)
    return Beside(name, len(answers), own, other, Estimate(own - other, *percentile_interval(values), len(answers)))


def shares(judge: Judge, name: str, path: Path) -> list[Share]:
    """By the kind that the bench gave each answer; an answer is supported if all of its claims are."""
    kinds = [json.loads(line)["kind"] for line in path.read_text(encoding="utf-8").splitlines()]
    counts, unsupported, contradicted = Counter[str](), Counter[str](), Counter[str]()
    for kind, answer in zip(kinds, read_rated(path), strict=True):
        judged = judge.judge(answer.claims, answer.passages, answer.question)
        counts[kind] += bool(judged)
        unsupported[kind] += any(not one.is_supported for one in judged)
        contradicted[kind] += any(one.contradicted for one in judged)
    return [Share(name, kind, n, unsupported[kind] / n, contradicted[kind] / n) for kind, n in counts.items()]


def asked(judge: Judge, index: Index) -> Asked:
    """The questions of the example, answered without a language model, and judged."""
    questions = read_testset(BANK / "testset.jsonl")
    sentences = cited = passages = 0
    expected = {True: [0, 0], False: [0, 0]}
    for outcome in run(index, questions):
        question, answer = outcome.question, outcome.answer
        if answer is None or answer.abstained:
            continue
        of = Answered(outcome, answer, judge)
        for sentence in answer.sentences:
            quotes = [answer.citations[number - 1].quote for number in sentence.citations]
            sentences += 1
            cited += not of.judged([sentence.text], quotes)[0].is_supported
            passages += not of.judged([sentence.text], of.passages)[0].is_supported
        if question.answerable and question.must_contain:
            is_right = all(plain(part) in plain(of.text) for part in question.must_contain)
            is_right &= not any(plain(part) in plain(of.text) for part in question.must_not_contain)
            found = of.judged(of.expected, [of.text])
            expected[is_right][0] += sum(one.is_supported for one in found)
            expected[is_right][1] += len(found)
    right, wrong = ((found, claims) for found, claims in (expected[True], expected[False]))
    return Asked(len(questions), sentences, cited, passages, right, wrong)


def asked_of_new_index(judge: Judge, folder: Path) -> Asked:
    with Index.create(folder / "index") as index:
        index.add(BANK / "documents")
        return asked(judge, index)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--example", action="store_true")
    parser.add_argument("--write", type=Path, metavar="DIR")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if absent := judges_data.missing(options.data):
        sys.exit(f"{options.data} has no {', no '.join(absent)}")
    embedder = MiniLM()
    timed = TimedJudge(AlignedJudge(embedder))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        paths = judges_data.write(options.data, options.write or folder)
        judge = RememberedJudge(timed, folder / "judgements.jsonl")  # each table asks for the same judgements
        found = [agreement(judge, read_rated(path), name) for name, path in paths.items()]
        mtrag = {name: [path] for name, path in paths.items() if name.startswith("mtrag")}
        mtrag["mtrag"] = [path for (path,) in mtrag.values()]
        kinds = [(name, path) for name, path in paths.items() if name.startswith(("scifact", "example"))]
        result: dict[str, Any] = {
            "judge": judge.name,
            "ms_a_claim": timed.seconds / timed.claims * 1000,
            "claims": timed.claims,
            "agreements": found,
            "beside": [beside_rl_f(judge, name, some) for name, some in mtrag.items()],
            "shares": [share for name, path in kinds for share in shares(judge, name, path)],
            "weights": dict(zip(WEIGHTS, fitted(paths, embedder).tolist(), strict=True)) if options.fit else None,
            "asked": asked_of_new_index(judge, folder) if options.example else None,
        }
    if options.json:
        print(json.dumps({"machine": machine.describe(), **result}, default=asdict, allow_nan=False))
    else:
        print_tables(result)


def print_tables(result: dict[str, Any]) -> None:
    print(machine.header())
    print(f"{result['judge']}, {result['ms_a_claim']:.0f} ms a claim ({result['claims']:,} claims)\n")
    print("| set | agreement | where a wrong answer is no longer | words alone | false alarms |\n" + "| --- " * 5 + "|")
    for one in result["agreements"]:
        print(f"| {one.data} | {one.measure} {figure(one.estimate)} | {' | '.join(of_labels(one))} |")
    print("\n| MTRAG | answers | judge | rl_f | difference |\n" + "| --- " * 5 + "|")
    for each in result["beside"]:
        columns = f"{each.answers} | {each.judge:.3f} | {each.published:.3f} | {figure(each.difference)}"
        print(f"| {each.data} | {columns} |")
    print("\n| set | kind | answers | found unsupported | found contradicted |\n" + "| --- " * 5 + "|")
    for each in result["shares"]:
        columns = f"{each.kind} | {each.answers} | {each.unsupported:.3f} | {each.contradicted:.3f}"
        print(f"| {each.data} | {columns} |")
    if result["weights"]:
        print("\n| weight | fitted | in the judge |\n" + "| --- " * 3 + "|")
        for name, value in result["weights"].items():
            print(f"| {name} | {value:.2f} | {WEIGHTS[name]} |")
    if of := result["asked"]:
        print(f"\nthe example, {of.questions} questions: {of.sentences} sentences quoted, found unsupported by")
        print(f"what they cite {of.not_by_what_they_cite}, by the passages {of.not_by_the_passages}")
        print(f"expected claims found in right answers {'/'.join(map(str, of.expected_in_right))}, ", end="")
        print(f"in wrong ones {'/'.join(map(str, of.expected_in_wrong))}")


def figure(value: Estimate | None) -> str:
    return f"{value.mean:.3f} ({value.low:.3f} to {value.high:.3f}), {value.questions}" if value else "-"


def of_labels(one: Agreement) -> list[str]:
    shown = [f"{value:.3f}" if value is not None else "-" for value in (one.by_length, one.false_alarms)]
    return [figure(one.matched), *shown]


if __name__ == "__main__":
    main()
