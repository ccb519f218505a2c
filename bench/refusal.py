"""Refusals on SQuAD 2.0: what floors do before and after calibration, on articles that nothing was fitted to.

    python bench/refusal.py --data DIR [--unanswerable RATE ...] [--asked N] [--curve DIR]

DIR holds squad2 in BEIR's layout, its queries with `is_impossible` and `paragraph_id`. Every paragraph goes through the
real pipeline, readable by a group named after its article. There are two kinds of unanswerable questions: `impossible`,
which SQuAD's writers made so that the paragraph looks like an answer, beside all the answerable ones; and `absent`,
every second of the answerable ones, beside the others, asked by a reader who may read all articles but its own, which
is then as good as not there. Floors are fitted to the questions of every second article (by name) and put to those of
the others. Intervals are bootstrap 95 % over the questions.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import machine
from beir import read_lines

from citewell import Document, Index, Settings
from citewell.evaluation.calibration import Curve, Evidenced, Figures, figures, fit
from citewell.evaluation.floor_curve import draw
from citewell.evaluation.metrics import Estimate, estimate
from citewell.evaluation.runs import reader_of
from citewell.evaluation.testset import Question
from citewell.loading.given import from_text
from citewell.retrieval.floor import BUILT_IN, COVERAGE_WEIGHT, evidence
from citewell.types import Floor, FloorOrigin

FLOORS = (0.30, 0.35, BUILT_IN, 0.45, 0.50, 0.55, 0.60)
ANSWER_AT_LEAST = 0.99
WEIGHTS = (0.0, COVERAGE_WEIGHT, 0.3, 0.5)
HEADER = "| floor | refusal precision | refusal recall | answerable answered | right decisions |\n" + "| --- " * 5 + "|"


@dataclass(frozen=True, slots=True)
class Signals:
    """A question, and of each passage found its cosine and its evidence."""

    question: Question
    pairs: tuple[tuple[float, float], ...]

    def weighted(self, weight: float) -> Evidenced:
        """The best evidence if the share of the question's words had this weight."""
        values = (
            cosine + weight / COVERAGE_WEIGHT * (value - cosine) if math.isfinite(value) else value
            for cosine, value in self.pairs
        )
        return Evidenced(self.question, max(values, default=-math.inf))


@dataclass(frozen=True, slots=True)
class Task:
    """Questions of one kind of unanswerable ones, of the articles to fit to and of the others."""

    name: str
    fitted: tuple[Evidenced, ...]
    held_out: tuple[Evidenced, ...]


def article(paragraph: str) -> str:
    return paragraph.rpartition("#")[0]


def documents(data: Path) -> Iterable[Document]:
    for line in read_lines(data, "corpus.jsonl"):
        name = line["_id"]
        yield from_text(line["text"], source=f"squad:{name}", title=line["title"], groups=[article(name)])


def questions(data: Path, articles: Sequence[str]) -> dict[str, list[Question]]:
    """By kind; tagged with their article."""
    made: dict[str, list[Question]] = {"answerable": [], "absent": [], "impossible": []}
    for line in read_lines(data, "queries.jsonl"):
        own = article(line["paragraph_id"])
        kind = "impossible" if line["is_impossible"] else "answerable"
        question = Question(
            id=line["_id"],
            question=line["text"],
            answerable=kind == "answerable",
            groups=tuple(articles),
            tags=(own,),
        )
        made[kind].append(question)
        if kind == "answerable" and len(made[kind]) % 2:
            others = tuple(name for name in articles if name != own)
            made["absent"].append(question.model_copy(update={"answerable": False, "groups": others}))
    return made


def searched(index: Index, asked: Sequence[Question]) -> list[Signals]:
    found = []
    for question in asked:
        hits = index.search(question.question, principal=reader_of(question))
        values = evidence(question.question, hits)
        found.append(Signals(question, tuple((hit.cosine, value) for hit, value in zip(hits, values, strict=True))))
    return found


def task(name: str, found: Iterable[Signals], fitted: Sequence[str], weight: float = COVERAGE_WEIGHT) -> Task:
    halves: dict[bool, list[Evidenced]] = {True: [], False: []}
    for each in found:
        halves[each.question.tags[0] in fitted].append(each.weighted(weight))
    return Task(name, tuple(halves[True]), tuple(halves[False]))


def report(task: Task, rate: float | None) -> Curve:
    """Print the floors' figures on the held-out half; returns the curve of the other."""
    curve = fit(task.fitted, unanswerable=rate)
    careful = fit(task.fitted, unanswerable=rate, answer_at_least=ANSWER_AT_LEAST)
    print(f"\n{task.name}: fitted to {sides(task.fitted)} questions, held out {sides(task.held_out)}")
    print(f"weighed as {curve.objective.unanswerable:.1%} unanswerable")
    print(f"AUC fitted {interval(curve.auc)}, held out {interval(fit(task.held_out).auc)}")
    print(f"gain by cross-validation {interval(curve.gain)}; separates: {curve.separates}\n\n{HEADER}")
    rows = {"off": Floor(FloorOrigin.OFF), "rule on codes": Floor(FloorOrigin.NOT_CALIBRATED)}
    rows |= {f"{least:.2f}": Floor(FloorOrigin.SETTINGS, least) for least in FLOORS}
    rows[f"{curve.best.floor:.3f}, most right"] = Floor(FloorOrigin.CALIBRATED, curve.best.floor)
    rows[f"{careful.best.floor:.3f}, answers 99 %"] = Floor(FloorOrigin.CALIBRATED, careful.best.floor)
    for name, floor in rows.items():
        print(row(name, figures(task.held_out, floor, rate)))
    return curve


def compare_weights(name: str, found: Sequence[Signals], fitted: Sequence[str]) -> None:
    """Print what each weight tells apart, and what the floor that answers 99 % of one half refuses of the other."""
    print(f"\n{name}, by the weight of the share of words\n\n| weight | AUC | floor | answered | refusal recall |")
    print("| --- " * 5 + "|")
    for weight in WEIGHTS:
        halves = task(name, found, fitted, weight)
        best = fit(halves.fitted, answer_at_least=ANSWER_AT_LEAST).best
        done = figures(halves.held_out, Floor(FloorOrigin.CALIBRATED, best.floor))
        auc = fit([*halves.fitted, *halves.held_out]).auc
        columns = (interval(auc), f"{best.floor:.3f}", interval(done.answered), interval(done.refusal_recall))
        print(f"| {weight} | {' | '.join(columns)} |")


def sides(found: Sequence[Evidenced]) -> str:
    answerable = sum(each.question.answerable for each in found)
    return f"{answerable:,} + {len(found) - answerable:,}"


def row(name: str, found: Figures) -> str:
    columns = (found.refusal_precision, found.refusal_recall, found.answered, found.right)
    return f"| {name} | {' | '.join(interval(each) if each is not None else '-' for each in columns)} |"


def interval(value: Estimate) -> str:
    return f"{value.mean:.3f} ({value.low:.3f} to {value.high:.3f})"


def refused_by_answer(index: Index, asked: Mapping[str, Sequence[Question]], floor: str) -> None:
    """How many questions the whole of `ask` refuses, the check for a sentence about the question included."""
    for kind, some in asked.items():
        refused = [float(index.ask(each.question, principal=reader_of(each)).abstained) for each in some]
        print(f"  floor {floor}, {kind}: refused {interval(estimate(refused))} of {len(some)}")


def with_floor(floor: Any) -> Settings:
    settings = Settings()
    return settings.model_copy(update={"retrieval": settings.retrieval.model_copy(update={"floor": floor})})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--unanswerable", type=float, nargs="+", help="their shares; without, that of the data")
    parser.add_argument("--asked", type=int, default=100, help="held-out questions of each kind put to ask as a whole")
    parser.add_argument("--curve", type=Path, help="a folder for the curves, as PNG")
    options = parser.parse_args()
    paragraphs = list(documents(options.data))
    articles = sorted({group for each in paragraphs for group in each.rights.groups})
    made = questions(options.data, articles)
    print(machine.header())
    print(f"fitted to: {', '.join(articles[::2])}; held out: {', '.join(articles[1::2])}")
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "index")
        with Index.create(path) as index:
            index.add_documents(paragraphs)
            found = {}
            for kind, some in made.items():
                print(f"{len(some):,} {kind} questions", file=sys.stderr)
                found[kind] = searched(index, some)
        twice = {each.question.id for each in found["absent"]}
        once = [each for each in found["answerable"] if each.question.id not in twice]
        for kind, answerable in (("absent", once), ("impossible", found["answerable"])):
            both = [*answerable, *found[kind]]
            compare_weights(kind, both, articles[::2])
            halves = task(kind, both, articles[::2])
            curves = [report(halves, rate) for rate in options.unanswerable or (None,)]
            if options.curve:
                draw(curves[0], options.curve / f"floor-{kind}.png")
        print("\nthe whole of ask, without a language model:")
        held_out = {kind: [each for each in some if each.tags[0] in articles[1::2]] for kind, some in made.items()}
        asked = {kind: some[:: max(1, len(some) // max(1, options.asked))] for kind, some in held_out.items()}
        for floor in ("off", BUILT_IN):
            with Index.open(path, settings=with_floor(floor)) as index:
                refused_by_answer(index, asked, str(floor))


if __name__ == "__main__":
    main()
