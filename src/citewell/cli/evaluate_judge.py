"""`citewell evaluate-judge DATA...`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.bench_options import DEFAULT_WORKBENCH, JudgeName, WorkbenchFolder, asking
from citewell.cli.estimates import figures, not_judged
from citewell.cli.options import Json, SettingsFile, load_settings
from citewell.cli.terminal import count, one_line, out, print_json, print_table
from citewell.shapes import VERSION, Shape

if TYPE_CHECKING:
    from citewell.evaluation.judging.agreement import Agreement
    from citewell.evaluation.metrics import Estimate

Data = Annotated[
    list[Path],
    typer.Argument(
        metavar="DATA...", readable=False, help="Rated answers, a JSON object a line, plain or gzip (docs/judges.md)."
    ),
]


def evaluate_judge(
    data: Data,
    judge: JudgeName = "aligned",
    workbench: WorkbenchFolder = DEFAULT_WORKBENCH,
    settings: SettingsFile = None,
    as_json: Json = False,
) -> None:
    """Measure how far a judge agrees with people."""
    from citewell.evaluation.judging.agreement import agreement
    from citewell.evaluation.judging.configured import judge_for
    from citewell.evaluation.judging.rated import read_rated

    sets = [(path, read_rated(path)) for path in data]  # a wrong file is refused before anything else
    judging = judge_for(judge, load_settings(settings), workbench)
    found: list[Agreement] = []
    for path, answers in sets:
        with asking("answers") as on_answer:
            found.append(agreement(judging, answers, path.name.split(".")[0], on_answer))
    if as_json:
        print_json({"version": VERSION, "judge": judging.name, "agreements": [_shape(one) for one in found]})
    else:
        _print(judging.name, found)
    if any(one.failed for one in found):
        raise typer.Exit(1)


def _shape(of: Agreement) -> Shape:
    estimate = of.estimate
    return {
        "data": of.data,
        "measure": of.measure,
        "value": estimate.mean if estimate else None,
        "low": estimate.low if estimate else None,
        "high": estimate.high if estimate else None,
        "answers": estimate.questions if estimate else 0,
        "false_alarms": of.false_alarms,
        "by_length": of.by_length,
        "matched": _matched(of.matched),
        "without_claims": of.without_claims,
        "not_judged": {failure.value: times for failure, times in of.failed.items()},
    }


def _matched(of: Estimate | None) -> Shape | None:
    return {"value": of.mean, "low": of.low, "high": of.high, "answers": of.questions} if of else None


def _print(judge: str, found: list[Agreement]) -> None:
    from rich.table import Table

    out().print(f"judge {one_line(judge)}", style="bold")
    table = Table("", "agreement", "", "95 % interval", "answers", "not judged", box=None, pad_edge=False)
    for one in found:
        table.add_row(one_line(one.data), one.measure, *figures(one.estimate), not_judged(one.failed))
    print_table(table)
    for one in found:
        for line in _beside(one):
            out().print(f"{one_line(one.data)}: {line}", style="dim", soft_wrap=True)


def _beside(of: Agreement) -> list[str]:
    """What the figure is to be read beside."""
    lines = [f"{count(of.without_claims, 'answer')} left out, which state nothing"] if of.without_claims else []
    if of.by_length is not None:
        lines.append(f"the number of words alone reaches {of.by_length:.3f}")
    if of.matched is not None:
        figure, interval, answers = figures(of.matched)
        lines.append(f"where a wrong answer is no longer than the right one: {figure} ({interval}), {answers} answers")
    if of.false_alarms is not None:
        lines.append(f"false alarms, right answers found unsupported: {of.false_alarms:.3f}")
    return lines
