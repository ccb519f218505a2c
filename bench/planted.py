"""Regressions planted in the running example, and changes that are none: does the comparison tell them apart?

    python bench/planted.py

keyword only     hybrid search against the keyword leg alone
keep = 1         one passage to answer from instead of five
no digits        an analyser that loses every token with a digit in it
no tokens        an analyser that loses all of them
built anew       the same settings, and an index that is made once more of the documents in another order
dealt by chance  hybrid and keyword, of each question the one or the other as the first: a change that is none

Each is compared on all questions of the test set, and on 20 random halves of it. Before and after of the first three
are dealt by chance 150 times: how often does a change that is none get a verdict? Last: what diagnose says of two.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import machine
import numpy as np

from citewell import Document, Index, Settings
from citewell.checking.judge import Judge
from citewell.evaluation.answers import measured
from citewell.evaluation.comparison import Compared, compare
from citewell.evaluation.diagnosing import diagnose
from citewell.evaluation.judging.configured import judge_for
from citewell.evaluation.measures import Measured
from citewell.evaluation.runs import Outcome, run
from citewell.evaluation.scored import score
from citewell.evaluation.testset import Question, read_testset
from citewell.models.minilm import MiniLM
from citewell.retrieval import analyser
from citewell.retrieval.analyser import analyse_query
from citewell.retrieval.words import Reading
from citewell.settings import Retrieval

BANK = Path(__file__).parents[1] / "examples" / "bank"
SPLITS = 20
DEALS = 150
PLAIN = Retrieval(fusion="rrf", rerank=False, candidates=50)
"""Without what mends most of it: the better the first passage, the less `keep = 1` costs."""
BY_WORDS: dict[str, Any] = {"legs": ("keyword",)}
ONE: dict[str, Any] = {"keep": 1}

Runs = dict[str, tuple[Sequence[Measured], Sequence[Measured]]]


@contextmanager
def losing(lost: re.Pattern[str]) -> Iterator[None]:
    """A broken analyser, of questions and of texts, everywhere."""
    whole = analyser._tokens

    def broken(text: str, lumps: list[str], reading: Reading) -> list[str]:
        return [token for token in whole(text, lumps, reading) if not lost.search(token)]

    analyser._tokens = broken
    try:
        yield
    finally:
        analyser._tokens = whole


def asked(index: Path, settings: Settings, questions: Sequence[Question]) -> tuple[Outcome, ...]:
    with Index.open(index, settings=settings) as opened:
        return run(opened, questions)


def runs(folder: Path, questions: Sequence[Question]) -> Runs:
    plain, keyword, one = (Settings(retrieval=PLAIN.model_copy(update=change)) for change in ({}, BY_WORDS, ONE))
    with Index.create(folder / "index", settings=plain) as index:
        index.add(BANK / "documents")
        documents = index.stored()

    def built(name: str, some: Sequence[Document]) -> tuple[Outcome, ...]:
        with Index.create(folder / name, settings=plain) as index:
            index.add_documents(some)
        return asked(folder / name, plain, questions)

    hybrid, words, few = (asked(folder / "index", settings, questions) for settings in (plain, keyword, one))
    anew = built("again", documents[::-1])
    with losing(re.compile(r"\d")):
        no_digits = built("no digits", documents)
    with losing(re.compile("")):
        no_tokens = built("no tokens", documents)
    # Judged here, as the judge has the analyser, too.
    judge, embedder = judge_for("aligned", plain, folder), MiniLM(plain.models.threads)
    whole, *changed = (
        [measured(outcome, judge, embedder) for outcome in outcomes]
        for outcomes in (hybrid, words, few, no_digits, no_tokens, anew)
    )
    chance = np.random.default_rng(0).random(len(questions)) < 0.5
    either = [(b, a) if swap else (a, b) for a, b, swap in zip(whole, changed[0], chance, strict=True)]
    names = ("keyword only", "keep = 1", "no digits", "no tokens", "built anew")
    return {
        **{name: (whole, after) for name, after in zip(names, changed, strict=True)},
        "dealt by chance": ([a for a, _ in either], [b for _, b in either]),
    }


def halves(before: Sequence[Measured], after: Sequence[Measured]) -> Counter[str]:
    """The verdicts on random halves of the questions."""
    rng, verdicts = np.random.default_rng(1), Counter[str]()
    for _ in range(SPLITS):
        chosen = rng.choice(len(before), size=len(before) // 2, replace=False)
        verdicts[compare([before[at] for at in chosen], [after[at] for at in chosen]).verdict] += 1
    return verdicts


def dealt(before: Sequence[Measured], after: Sequence[Measured]) -> tuple[float, float]:
    """The share of random deals that are kept or dropped, and of those in which a part is beyond chance."""
    rng, verdicts, parts = np.random.default_rng(2), 0, 0
    for _ in range(DEALS):
        swapped = rng.random(len(before)) < 0.5
        pairs = [(b, a) if swap else (a, b) for a, b, swap in zip(before, after, swapped, strict=True)]
        compared = compare([one for one, _ in pairs], [other for _, other in pairs])
        verdicts += compared.verdict in {"keep", "drop"}
        parts += any(each.is_beyond_chance for each in compared.slices)
    return verdicts / DEALS, parts / DEALS


def diagnosed(index: Path, settings: Settings, questions: Sequence[Question], judge: Judge) -> str:
    """How many questions fail, where they were lost, and what is proposed first."""
    with Index.open(index, settings=settings) as opened:
        scored = score(opened, questions, judge=judge, embedder=MiniLM(settings.models.threads))
        found = diagnose(opened, scored, judge)
    lost = ", ".join(f"{kind} {number}" for kind, number in found.by_kind.items())
    first = ", ".join(each.technique.name for each in found.proposals[:3])
    return f"{len(found.failed)} failed: {lost}\n  to try first: {first}"


def show(name: str, compared: Compared, verdicts: Counter[str]) -> None:
    print(f"\n{name}\n  {compared.verdict}: {compared.reason}")
    for title, some in (("also", compared.others), ("in", compared.slices)):
        for each in some:
            if each.is_beyond_chance:
                where = f" {each.slice}," if title == "in" else ""
                print(f"  {title}{where} {each.measure} {each.before:.3f} to {each.after:.3f} ({each.p_text})")
    print(f"  {len(compared.better)} questions better, {len(compared.worse)} worse")
    print(f"  {SPLITS} halves: " + ", ".join(f"{verdict} {times}" for verdict, times in verdicts.most_common()))


def main() -> None:
    questions = read_testset(BANK / "testset.jsonl")
    print(f"{machine.header()}\n{len(questions)} questions")
    with tempfile.TemporaryDirectory() as scratch:
        made = runs(Path(scratch), questions)
        for name, (before, after) in made.items():
            show(name, compare(before, after), halves(before, after))
        for name in ("keyword only", "keep = 1", "no digits"):
            verdicts, parts = dealt(*made[name])
            print(f"\n{name}, dealt {DEALS} times: {verdicts:.1%} keep or drop, {parts:.1%} name a part")
        judge, one = judge_for("aligned", Settings(), Path(scratch)), Settings(retrieval=PLAIN.model_copy(update=ONE))
        print(f"\nkeep = 1, diagnosed\n  {diagnosed(Path(scratch) / 'index', one, questions, judge)}")
        with patch(
            "citewell.retrieval.search.analyse_query", lambda text: [token[::-1] for token in analyse_query(text)]
        ):
            said = diagnosed(Path(scratch) / "index", Settings(retrieval=PLAIN), questions, judge)
        print(f"\nan analyser of queries that turns words around, diagnosed\n  {said}")


if __name__ == "__main__":
    main()
