"""`citewell calibrate TESTSET`"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.bench_options import TestSet, asking, read_questions
from citewell.cli.options import DEFAULT_INDEX, IndexPlace, Json, SettingsFile, load_settings
from citewell.cli.terminal import complain, out, print_json, print_table
from citewell.shapes import VERSION, Shape
from citewell.types import FloorOrigin

if TYPE_CHECKING:
    from rich.table import Table

    from citewell.evaluation.calibration import Curve, Figures, Point
    from citewell.evaluation.metrics import Estimate
    from citewell.index import Index
    from citewell.types import Floor

ROWS = 10
"""At most."""
FIGURES = {
    "refusal_precision": "refusal precision",
    "refusal_recall": "refusal recall",
    "answered": "answerable answered",
    "right": "right decisions",
}

DryRun = Annotated[bool, typer.Option("--dry-run", help="Fit and show the floor, and keep the one there is.")]
Rate = Annotated[
    float | None,
    typer.Option(
        "--unanswerable",
        metavar="RATE",
        min=0.001,
        max=0.999,
        help="The share of unanswerable questions among those that people ask; without it, that of the test set.",
    ),
]
AnswerAtLeast = Annotated[
    float | None,
    typer.Option(
        "--answer-at-least",
        metavar="SHARE",
        min=0.001,
        max=1,
        help="Take the highest floor that answers this share of the answerable, not the one with most right decisions.",
    ),
]
CurveFile = Annotated[
    Path | None, typer.Option("--curve", metavar="FILE", readable=False, help="Draw the curve, as .svg or .png.")
]


def calibrate(
    testset: TestSet,
    dry_run: DryRun = False,
    unanswerable: Rate = None,
    answer_at_least: AnswerAtLeast = None,
    drawing: CurveFile = None,
    at: IndexPlace = DEFAULT_INDEX,
    settings: SettingsFile = None,
    as_json: Json = False,
) -> None:
    """Fit the floor, below which a question is refused, to answerable and unanswerable questions."""
    questions = read_questions(testset)
    loaded = load_settings(settings)
    from citewell.evaluation.calibration import enough, evidenced, figures, fit
    from citewell.evaluation.floor_curve import draw, require_drawable
    from citewell.index import Index

    enough(questions)
    if drawing is not None:
        require_drawable(drawing)
    with Index.open(at, settings=loaded) as index:
        with asking("questions") as on_question:
            found = evidenced(index, questions, on_question)
        curve = fit(found, unanswerable=unanswerable, answer_at_least=answer_at_least)
        floor = index.floor
        before = figures(found, floor, curve.objective.unanswerable)
        if not dry_run:
            _keep(index, curve)
    if drawing is not None:
        draw(curve, drawing)
    if floor.origin in (FloorOrigin.SETTINGS, FloorOrigin.OFF):
        complain("The settings set retrieval.floor: what is fitted here holds where it is `calibrated`.")
    if as_json:
        print_json(_shape(curve, floor, before, kept=not dry_run))
    else:
        _print(curve, floor, before, kept=not dry_run)


def _keep(index: Index, curve: Curve) -> None:
    done = curve.held_out
    index.set_floor(
        curve.floor,
        answerable=curve.answerable,
        unanswerable=curve.unanswerable,
        refusal_precision=done.refusal_precision.mean if done.refusal_precision is not None else None,
        refusal_recall=done.refusal_recall.mean,
    )


def _print(curve: Curve, floor: Floor, before: Figures, *, kept: bool) -> None:
    rate = curve.objective.unanswerable
    out().print(
        f"{curve.answerable:,} answerable and {curve.unanswerable:,} unanswerable questions, weighed as {rate:.1%} "
        "unanswerable"
    )
    print_table(_curve_table(curve))
    print()
    print_table(_figures_table(curve, floor, before))
    print()
    for line in _verdict(curve, kept=kept):
        out().print(line, soft_wrap=True)


def _curve_table(curve: Curve) -> Table:
    from rich.table import Table

    table = Table("floor", *FIGURES.values(), "", box=None, pad_edge=False)
    for point in _rows(curve):
        figures = (getattr(point, name) for name in FIGURES)
        shown = ("-" if value is None else f"{value:.3f}" for value in figures)
        table.add_row(f"{point.floor:.3f}", *shown, "best" if point is curve.best else "")
    return table


def _rows(curve: Curve) -> list[Point]:
    """The best floor and others, as many of the questions' evidence between each two."""
    last = len(curve.points) - 1
    others = {curve.points[round(last * step / (ROWS - 2))].floor for step in range(ROWS - 1)}
    return [point for point in curve.points if point.floor in others or point is curve.best]


def _figures_table(curve: Curve, floor: Floor, before: Figures) -> Table:
    from rich.table import Table

    now = str(floor.origin) if floor.least is None else f"{floor.least:.2f}, {floor.origin}"
    best = f"{curve.best.floor:.2f}, held out"
    table = Table("", f"floor now ({now})", f"best floor ({best})", box=None, pad_edge=False)
    for name, label in FIGURES.items():
        table.add_row(label, _interval(getattr(before, name)), _interval(getattr(curve.held_out, name)))
    return table


def _interval(found: Estimate | None) -> str:
    return f"{found.mean:.3f} ({found.low:.3f} to {found.high:.3f})" if found is not None else "nothing refused"


def _verdict(curve: Curve, *, kept: bool) -> list[str]:
    auc = f"AUC {_interval(curve.auc)}"
    gain = f"{curve.gain.mean:+.3f} ({curve.gain.low:+.3f} to {curve.gain.high:+.3f})"
    folds = f"{min(curve.fold_floors):.2f} to {max(curve.fold_floors):.2f}"
    other = "refusing every question" if curve.objective.refusing_all else "no floor"
    told = f"{auc}; right decisions held out, against {other}: {gain}; floors of the folds {folds}."
    if curve.separates:
        does = "is the floor of this index now" if kept else "would be the floor; nothing was changed"
        return [f"{curve.best.floor:.3f} {does}.", told]
    does = "No floor is set" if kept else "Nothing was changed; with no floor set"
    return ["Nothing separates.", told, f"{does}, `ask` only checks that some sentence is about the question."]


def _shape(curve: Curve, floor: Floor, before: Figures, *, kept: bool) -> Shape:
    return {
        "version": VERSION,
        "answerable": curve.answerable,
        "unanswerable": curve.unanswerable,
        "objective": asdict(curve.objective),
        "separates": curve.separates,
        "floor": curve.floor,
        "kept": kept,
        "best": asdict(curve.best),
        "auc": asdict(curve.auc),
        "gain": asdict(curve.gain),
        "held_out": asdict(curve.held_out),
        "fold_floors": list(curve.fold_floors),
        "before": {"floor": floor.least, "origin": floor.origin.value, **asdict(before)},
        "curve": [asdict(point) for point in curve.points],
    }
