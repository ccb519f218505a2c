"""`citewell compare A.toml B.toml TESTSET`"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.bench_options import (
    DEFAULT_WORKBENCH,
    JudgeName,
    RetrievalOnly,
    WorkbenchFolder,
    asking,
    read_questions,
)
from citewell.cli.doubts import tell_of_dead_evidence
from citewell.cli.options import DEFAULT_INDEX, IndexPlace, Json, SettingsFile, load_settings
from citewell.cli.progress import shown
from citewell.cli.terminal import complain, count, one_line, out, print_json, print_table

if TYPE_CHECKING:
    from rich.table import Table

    from citewell.checking.judge import Judge
    from citewell.evaluation.comparison import Change, Cost
    from citewell.evaluation.report.evaluated import Evaluated
    from citewell.evaluation.scored import Scored
    from citewell.evaluation.testset import Question
    from citewell.evaluation.trials import Trial
    from citewell.evaluation.variants import Workbench
    from citewell.evaluation.verdicts import Difference
    from citewell.settings import Settings

OF_JUDGE = ("correct", "faithfulness")
LISTED = 5
"""Questions shown of those that lost most, and of those that gained most."""

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="A.toml B.toml ... TESTSET",
        readable=False,
        help="Settings files, the first to compare the others with, and the questions last.",
    ),
]
Worth = Annotated[
    float | None,
    typer.Option(
        "--worth", metavar="SHARE", min=0.0001, max=1, help="The smallest difference worth having; 0.02 by default."
    ),
]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FILE", readable=False, help="Write both runs side by side, of two settings, as .html."
    ),
]


def compare(  # noqa: PLR0913, PLR0917 - each is an option of the command
    files: Files,
    judge: JudgeName = "aligned",
    retrieval_only: RetrievalOnly = False,
    report: ReportFile = None,
    worth: Worth = None,
    workbench: WorkbenchFolder = DEFAULT_WORKBENCH,
    at: IndexPlace = DEFAULT_INDEX,
    settings: SettingsFile = None,
    as_json: Json = False,
) -> None:
    """Compare settings on a test set: what gets better, what gets worse, what it costs, and whether it is chance.

    --settings are those that the index was made with. Where others make another index, it is built in the workbench.
    """
    *names, testset = files
    if len(names) < 2:
        raise typer.BadParameter("Give two settings files or more, and then the test set.")
    if report is not None and (len(names) > 2 or report.suffix != ".html"):
        raise typer.BadParameter("--report writes an .html file of two settings.")
    wanted = [load_settings(name) for name in names]
    made_with = load_settings(settings)
    questions = read_questions(testset)
    from citewell.evaluation.judging.configured import judge_for
    from citewell.evaluation.report import compared
    from citewell.evaluation.report.written import format_of
    from citewell.evaluation.saved import save
    from citewell.evaluation.trials import Variant, compare_settings, trials_shape
    from citewell.evaluation.variants import Workbench
    from citewell.evaluation.verdicts import WORTH

    judging, bench = judge_for(judge, made_with, workbench), Workbench(at, made_with, workbench)
    if report is not None:
        format_of(report)  # what cannot be written is refused before anything else
    runs = [
        _scored(str(name), each, bench, testset, questions, judging, answers=not retrieval_only)
        for name, each in zip(names, wanted, strict=True)
    ]
    variants = [Variant(str(name), each, scored) for name, each, (scored, _) in zip(names, wanted, runs, strict=True)]
    trials = compare_settings(variants, worth=WORTH if worth is None else worth)
    if report is not None:
        save(compared.as_html(trials[0].compared, runs[0][1], runs[1][1]), report)
        complain(f"{report} is written, for your eyes only: it holds texts of documents.")
    unanswered = [(each.name, outcome) for each in variants for outcome in each.scored.unanswered]
    for name, outcome in unanswered:
        complain(f"{name}: {outcome.question.id} has no answer: {outcome.error}")
    if as_json:
        print_json(trials_shape(trials, judging.name))
    else:
        for trial in trials:
            _print(trial, judging.name)
    if unanswered:
        raise typer.Exit(1)


def _scored(
    name: str,
    settings: Settings,
    bench: Workbench,
    testset: Path,
    questions: Sequence[Question],
    judge: Judge,
    *,
    answers: bool,
) -> tuple[Scored, Evaluated]:
    from citewell.evaluation.judging.agreement import agreement_of
    from citewell.evaluation.judging.configured import remembering_llm
    from citewell.evaluation.report.evaluated import Evaluated
    from citewell.evaluation.scored import score
    from citewell.models.minilm import MiniLM

    llm = remembering_llm(settings, bench.folder) if answers else None
    with shown("documents") as on_progress:
        index = bench.opened(settings, llm=llm, on_progress=on_progress)
    embedder = MiniLM(bench.settings.models.threads)
    with index, asking(one_line(name)) as on_question:
        scored = score(
            index, questions, judge=judge, embedder=embedder, answers=answers, llm=llm, on_question=on_question
        )
        tell_of_dead_evidence(index, testset, scored, under=name)
        agreed = agreement_of(judge.name)
        return scored, Evaluated.of(index, testset, scored, judge=judge.name, agreement=agreed, title=Path(name).name)


def _print(trial: Trial, judge: str) -> None:
    compared = trial.compared
    out().print(
        f"{one_line(trial.after.name)} against {one_line(trial.before.name)}, {count(compared.questions, 'question')}",
        style="bold",
    )
    for line in trial.differing or ["the same settings"]:
        print(f"  {one_line(line)}")
    print()
    print_table(_measures(compared.headline))
    if any(each.measure in OF_JUDGE for each in compared.headline):
        print(f"judge: {one_line(judge)}")
    _print_named("Other measures that changed beyond chance:", compared.others)
    _print_named("Parts of the test set that changed beyond chance:", compared.slices)
    if compared.not_compared:
        print(f"In both runs no question has {', '.join(compared.not_compared)}.")
    _print_changes("worse", compared.worse)
    _print_changes("better", compared.better)
    if compared.costs:
        print()
        print_table(_costs(compared.costs))
    print()
    out().print(f"{compared.verdict}: {one_line(compared.reason)}", style="bold", soft_wrap=True)
    print()


def _measures(differences: Sequence[Difference], *, of_parts: bool = False) -> Table:
    from rich.table import Table

    columns = ("before", "after", "difference", "95 % interval", "p (Holm)", "questions", "left out")
    table = Table("", *columns, *(() if of_parts else ("verdict",)), box=None, pad_edge=False)
    for each in differences:
        named = f"{each.measure}, {each.slice}" if of_parts else each.measure
        table.add_row(
            one_line(named),
            f"{each.before:.3f}",
            f"{each.after:.3f}",
            f"{each.difference:+.3f}",
            f"{each.low:+.3f} to {each.high:+.3f}",
            each.p_text.removeprefix("p "),
            f"{each.questions:,}",
            _left_out(each),
            *(() if of_parts else (_verdict(each),)),
        )
    return table


def _left_out(of: Difference) -> str:
    """`3 not judged, 1 in one run only`."""
    parts = [(of.not_judged, "not judged"), (of.in_one, "in one run only")]
    return ", ".join(f"{number:,} {what}" for number, what in parts if number)


def _verdict(of: Difference) -> str:
    return f"{of.verdict} ({of.needed:,} needed)" if of.needed is not None else of.verdict


def _print_named(title: str, differences: Sequence[Difference]) -> None:
    beyond = [each for each in differences if each.is_beyond_chance]
    if beyond:
        print(f"\n{title}")
        print_table(_measures(beyond, of_parts=True))


def _print_changes(how: str, changes: Sequence[Change]) -> None:
    if not changes:
        return
    first = f", the first {LISTED}" if len(changes) > LISTED else ""
    print(f"\n{count(len(changes), 'question')} {how}{first}:")
    for change in changes[:LISTED]:
        moved = ", ".join(f"{name} {old:.2f} to {new:.2f}" for name, (old, new) in change.values.items() if old != new)
        out().print(f"  {one_line(change.question.id)}: {one_line(change.question.question)}", soft_wrap=True)
        print(f"    {moved}")


def _costs(costs: Sequence[Cost]) -> Table:
    from rich.table import Table

    table = Table("cost of a question", "before", "after", "ratio", "95 % interval", box=None, pad_edge=False)
    for each in costs:
        ratio = ("-", "")
        if each.ratio is not None:
            value, low, high = each.ratio
            ratio = (f"{value:.2f}", f"{low:.2f} to {high:.2f}")
        table.add_row(f"{each.average} {each.name}", f"{each.before:.4g}", f"{each.after:.4g}", *ratio)
    return table
