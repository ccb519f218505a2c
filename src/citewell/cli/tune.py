"""`citewell tune TESTSET`"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.bench_options import DEFAULT_WORKBENCH, JudgeName, TestSet, WorkbenchFolder, asking, read_questions
from citewell.cli.options import DEFAULT_INDEX, IndexPlace, Json, SettingsFile, load_settings
from citewell.cli.progress import shown
from citewell.cli.terminal import complain, count, one_line, out, print_json, print_table
from citewell.shapes import VERSION, Shape

if TYPE_CHECKING:
    from rich.table import Table

    from citewell.checking.judge import Judge
    from citewell.evaluation.arms import Ask, Tried
    from citewell.evaluation.techniques import Patch
    from citewell.evaluation.tuning import Budget, Confirmation, Tuned
    from citewell.evaluation.variants import Workbench

MINUTES = 15

Minutes = Annotated[
    float | None,
    typer.Option("--budget", metavar="MINUTES", min=0.1, help=f"How long it may take; {MINUTES} by default."),
]
Runs = Annotated[
    int | None,
    typer.Option("--questions", metavar="N", min=1, help="How many questions may be asked for trying, in its place."),
]
OutFile = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", readable=False, help="Write what is worth keeping to a new file."),
]


def tune(  # noqa: PLR0913, PLR0917 - each is an option of the command
    testset: TestSet,
    budget: Minutes = None,
    runs: Runs = None,
    to: OutFile = None,
    judge: JudgeName = "aligned",
    workbench: WorkbenchFolder = DEFAULT_WORKBENCH,
    at: IndexPlace = DEFAULT_INDEX,
    settings: SettingsFile = None,
    as_json: Json = False,
) -> None:
    """Try what diagnose proposes on half of a test set, and confirm the best on the other half.

    The settings stay as they are: what to add to them is printed.
    """
    from citewell.errors import PathError

    limit = _budget(budget, runs)
    if to is not None and to.exists():
        raise PathError(f"{to} exists already.", remedy="Name a file that does not, or remove it.")
    questions = read_questions(testset)
    loaded = load_settings(settings)
    from citewell.evaluation.judging.configured import judge_for
    from citewell.evaluation.tuning import tune as tuned
    from citewell.evaluation.variants import Workbench

    judging, bench = judge_for(judge, loaded, workbench), Workbench(at, loaded, workbench)
    found = tuned(bench, questions, ask=_asking(bench, judging), judge=judging, budget=limit)
    if to is not None:
        _write(to, found)
    if as_json:
        print_json(_shape(found))
    else:
        _print(found)


def _budget(minutes: float | None, questions: int | None) -> Budget:
    from citewell.evaluation.tuning import Budget

    if minutes is not None and questions is not None:
        raise typer.BadParameter("Give --budget or --questions, not both.")
    return Budget(questions=questions) if questions is not None else Budget(minutes=minutes or MINUTES)


def _asking(bench: Workbench, judge: Judge) -> Ask:
    from citewell.evaluation.judging.configured import remembering_llm
    from citewell.evaluation.scored import Scored, score
    from citewell.evaluation.testset import Question
    from citewell.models.minilm import MiniLM
    from citewell.settings import Settings

    embedder, llm = MiniLM(bench.settings.models.threads), remembering_llm(bench.settings, bench.folder)

    def ask(name: str, settings: Settings, questions: Sequence[Question]) -> Scored:
        with shown("documents") as on_progress:
            index = bench.opened(settings, llm=llm, on_progress=on_progress)
        with index, asking(one_line(name)) as on_question:
            return score(index, questions, judge=judge, embedder=embedder, llm=llm, on_question=on_question)

    return ask


def as_toml(patch: Patch) -> str:
    """The lines of a settings file: JSON's way to write these values is TOML's, too."""
    tables: dict[str, list[str]] = {}
    for key, value in patch.items():
        table, _, name = key.partition(".")
        tables.setdefault(table, []).append(f"{name} = {json.dumps(value)}\n")
    return "\n".join(f"[{table}]\n{''.join(lines)}" for table, lines in tables.items())


def _write(path: Path, found: Tuned) -> None:
    from citewell.errors import PathError

    if found.best is None or found.confirmation is None or not found.confirmation.is_kept:
        complain(f"Nothing is written to {path}: there is nothing that was confirmed.")
        return
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(as_toml(found.best.arm.patch))
    except OSError as error:
        raise PathError(f"{path} cannot be written: {error.strerror}.", remedy="Check the path.") from None


def _print(found: Tuned) -> None:
    halves = f"{count(found.tuning, 'question')} to tune on, {found.confirming:,} to confirm with"
    out().print(f"{halves}. Of the first {len(found.diagnosis.failed):,} failed.", style="bold", soft_wrap=True)
    if found.tried:
        print()
        print_table(_table(found.tried))
    if found.not_tried:
        names = ", ".join(arm.name for arm in found.not_tried)
        out().print(f"Not tried, for want of budget: {names}.", soft_wrap=True)
    print()
    if found.best is None or found.confirmation is None:
        out().print("Nothing that was tried fails less often.", style="bold")
        return
    _print_confirmation(found.best, found.confirmation)


def _table(tried: Sequence[Tried]) -> Table:
    from rich.table import Table

    table = Table("tried", "questions", "failed", "as it is", "ms a question", box=None, pad_edge=False)
    for each in tried:
        figures = (each.questions, each.failed, each.failed_before)
        table.add_row(each.arm.name, *(f"{figure:,}" for figure in figures), f"{each.ms:,.0f}")
    return table


def _print_confirmation(best: Tried, confirmation: Confirmation) -> None:
    share, compared = confirmation.succeeded, confirmation.compared
    verdict = "Keep" if confirmation.is_kept else "Not confirmed"
    out().print(f"{verdict}: {best.arm.name}", style="bold")
    before, after = (round((1 - succeeded) * share.questions) for succeeded in (share.before, share.after))
    changed, low, high = (0 - value for value in (share.difference, share.high, share.low))
    interval = f"{changed:+.3f}, 95 % interval {low:+.3f} to {high:+.3f}, p {share.p:.3f}"
    out().print(
        f"Of the {share.questions:,} other questions {before:,} failed before and {after:,} after ({interval}): "
        f"{share.verdict}.",
        soft_wrap=True,
    )
    if share.needed is not None:
        out().print(f"About {share.needed:,} questions would tell.", soft_wrap=True)
    out().print(f"By all measures: {compared.verdict}, {one_line(compared.reason)}", soft_wrap=True)
    for cost in compared.costs:
        if cost.before or cost.after:
            out().print(f"{cost.average} {cost.name} a question: {cost.before:.3g} to {cost.after:.3g}")
    print()
    out().print("Add to citewell.toml:" if confirmation.is_kept else "To try it all the same, in citewell.toml:")
    print(as_toml(best.arm.patch), end="")


def _shape(found: Tuned) -> Shape:
    from citewell.evaluation.comparison import as_shape

    best, confirmation = found.best, found.confirmation
    return {
        "version": VERSION,
        "tuning": found.tuning,
        "confirming": found.confirming,
        "failed": len(found.diagnosis.failed),
        "asked": found.asked,
        "tried": [_tried(each) for each in found.tried],
        "not_tried": [arm.name for arm in found.not_tried],
        "best": _tried(best) if best is not None else None,
        "kept": confirmation is not None and confirmation.is_kept,
        "confirmation": {
            "questions": confirmation.succeeded.questions,
            "before": confirmation.succeeded.before,
            "after": confirmation.succeeded.after,
            "difference": confirmation.succeeded.difference,
            "low": confirmation.succeeded.low,
            "high": confirmation.succeeded.high,
            "p": confirmation.succeeded.p,
            "verdict": confirmation.succeeded.verdict,
            "needed": confirmation.succeeded.needed,
            "compared": as_shape(confirmation.compared),
        }
        if confirmation is not None
        else None,
    }


def _tried(tried: Tried) -> Shape:
    return {
        "name": tried.arm.name,
        "settings": dict(tried.arm.patch),
        "questions": tried.questions,
        "failed": tried.failed,
        "failed_before": tried.failed_before,
        "gain": tried.gain,
        "ms": tried.ms,
    }
