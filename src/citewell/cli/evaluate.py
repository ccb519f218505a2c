"""`citewell evaluate TESTSET`"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.bench_options import (
    DEFAULT_WORKBENCH,
    JudgeName,
    RetrievalOnly,
    TestSet,
    WorkbenchFolder,
    asking,
    read_questions,
)
from citewell.cli.doubts import tell_of_dead_evidence
from citewell.cli.estimates import figures, not_judged
from citewell.cli.options import DEFAULT_INDEX, IndexPlace, Json, SettingsFile, load_settings
from citewell.cli.terminal import complain, count, one_line, out, print_json, print_table

if TYPE_CHECKING:
    from rich.table import Table

    from citewell.evaluation.scored import Scored
    from citewell.evaluation.summary import Score, Slice

SHOWN = (
    "recall@1",
    "recall@5",
    "recall@10",
    "hit@5",
    "pass@5",
    "precision@5",
    "MRR@10",
    "nDCG@10",
    "MAP@10",
    "correct",
    "claim F1",
    "faithfulness",
    "relevance",
    "citation precision",
    "citation recall",
    "context precision",
    "context recall",
    "refusal precision",
    "refusal recall",
    "seconds",
    "tokens",
    "cost_usd",
)
IN_PARTS = ("recall@5", "MRR@10", "correct", "faithfulness", "refusal recall")

ReportFile = Annotated[
    list[Path] | None,
    typer.Option(
        "--report",
        metavar="FILE",
        readable=False,
        help="Write a report: .html (one file, no network), .md or .json. May be given several times.",
    ),
]


def evaluate(
    testset: TestSet,
    judge: JudgeName = "aligned",
    retrieval_only: RetrievalOnly = False,
    report: ReportFile = None,
    workbench: WorkbenchFolder = DEFAULT_WORKBENCH,
    at: IndexPlace = DEFAULT_INDEX,
    settings: SettingsFile = None,
    as_json: Json = False,
) -> None:
    """Measure retrieval and answers on a test set, with intervals."""
    questions = read_questions(testset)
    loaded = load_settings(settings)
    from citewell.evaluation.judging.agreement import agreement_of
    from citewell.evaluation.judging.configured import judge_for, remembering_llm
    from citewell.evaluation.report.evaluated import Evaluated
    from citewell.evaluation.report.shape import as_shape
    from citewell.evaluation.report.written import format_of, write
    from citewell.evaluation.scored import score
    from citewell.index import Index
    from citewell.models.minilm import MiniLM

    files = [(path, format_of(path)) for path in report or ()]  # a wrong name is refused before anything else
    judging = judge_for(judge, loaded, workbench)
    llm = None if retrieval_only else remembering_llm(loaded, workbench)
    with Index.open(at, settings=loaded, llm=llm) as index, asking("questions") as on_question:
        scored = score(
            index,
            questions,
            judge=judging,
            embedder=MiniLM(loaded.models.threads),
            answers=not retrieval_only,
            llm=llm,
            on_question=on_question,
        )
        tell_of_dead_evidence(index, testset, scored)
        made = Evaluated.of(index, testset, scored, judge=judging.name, agreement=agreement_of(judging.name))
    for path, form in files:
        write(made, path, form)
        complain(f"{path} is written, for your eyes only: it holds texts of documents.")
    for outcome in scored.unanswered:
        complain(f"{outcome.question.id} has no answer: {outcome.error}")
    if as_json:
        print_json(as_shape(made))
    else:
        _print(scored, () if retrieval_only else made.agreement, judging.name)
    if scored.unanswered:
        raise typer.Exit(1)


def _print(scored: Scored, agreement: Sequence[str], judge: str) -> None:
    whole, *parts = scored.slices
    out().print(f"{count(whole.questions, 'question')}", style="bold")
    print_table(_measures(whole))
    for line in agreement:
        out().print(f"judge {one_line(judge)}: {one_line(line)}", style="dim", soft_wrap=True)
    if parts:
        print()
        print_table(_parts(scored.slices))


def _measures(whole: Slice) -> Table:
    from rich.table import Table

    table = Table("", "mean", "95 % interval", "questions", "not judged", box=None, pad_edge=False)
    for score in _in_order(whole):
        table.add_row(score.name, *figures(score.estimate), not_judged(score.failed))
    return table


def _in_order(whole: Slice) -> list[Score]:
    by_name = {score.name: score for score in whole.scores}
    return [by_name[name] for name in SHOWN if name in by_name]


def _parts(slices: Sequence[Slice]) -> Table:
    from rich.table import Table

    columns = [name for name in IN_PARTS if any(_has(part, name) for part in slices)]
    table = Table("", "questions", *columns, box=None, pad_edge=False)
    for part in slices:
        means = _means(part)
        table.add_row(one_line(part.name), f"{part.questions:,}", *(means.get(name, "-") for name in columns))
    return table


def _has(part: Slice, name: str) -> bool:
    return name in _means(part)


def _means(part: Slice) -> Mapping[str, str]:
    return {score.name: f"{score.estimate.mean:.3f}" for score in part.scores if score.estimate is not None}
