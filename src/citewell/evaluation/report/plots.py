"""The report's curves, as SVG to be set into its page: no script, no font, no date, the page's own colours."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any

from citewell.evaluation.measures import CUTS
from citewell.evaluation.report.shape import Shape

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INCHES = (4.2, 2.5)
POINTS = 72
"""An inch, and so a unit of the drawing."""

BINS = 24
TOP = 1.02
"""Of an axis of shares: a line at 1 is seen whole."""

# Each stands for a variable of the page's style sheet, which has a value for light and one for dark.
INK, FAINT, FIRST, SECOND, THIRD = "#010101", "#020202", "#030303", "#040404", "#050505"
VARIABLES = {INK: "--soft", FAINT: "--line", FIRST: "--accent", SECOND: "--warm", THIRD: "--third"}


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture and what it shows, in words."""

    says: str
    svg: str


def recall_curve(measures: Mapping[str, Shape]) -> Plot | None:
    """Recall at each cut, with the band of its interval; None where no question has it."""
    points = [(k, measures[f"recall@{k}"]) for k in CUTS if measures.get(f"recall@{k}", {}).get("mean") is not None]
    if not points:
        return None
    cuts = [k for k, _ in points]
    lows, means, highs = ([of[key] for _, of in points] for key in ("low", "mean", "high"))

    def draw(axes: Axes) -> None:
        axes.fill_between(cuts, lows, highs, color=FIRST, alpha=0.18, lw=0)
        axes.plot(cuts, means, color=FIRST, lw=2, marker="o", ms=5)
        for k, low, mean in zip(cuts, lows, means, strict=True):
            _write(axes, f"{mean:.2f}", (k, low), (0, -6), ha="center")
        axes.set(xlim=(0, CUTS[-1] + 1), xticks=cuts, xlabel="k", ylim=(max(0, min(0.5, *lows) - 0.15), TOP))

    return _plot("recall", "Recall among the first k passages, with its 95 % interval", draw)


def floor_curve(curve: Shape | None) -> Plot | None:
    """What each floor would do, the best one marked; None without a calibration."""
    if curve is None:
        return None
    lines = (
        ("refusal precision", "refusal_precision", FIRST, "-"),
        ("refusal recall", "refusal_recall", SECOND, "--"),
        ("answered", "answered", THIRD, ":"),
    )

    def draw(axes: Axes) -> None:
        for name, key, colour, style in lines:
            known = [(point["floor"], point[key]) for point in curve["points"] if point[key] is not None]
            axes.plot([x for x, _ in known], [y for _, y in known], color=colour, ls=style, lw=2, label=name)
        axes.axvline(curve["best"], color=INK, lw=1)
        axes.set(xlabel="floor", ylim=(0, TOP))
        axes.legend(
            frameon=False, labelcolor=INK, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, columnspacing=1.2
        )

    best = f"{curve['best']:.2f} is best" + ("" if curve["separates"] else ", and no better than none")
    says = "Of the refused the share without an answer, of those the share refused, of the others the share answered"
    return _plot("floor", f"{says}; {best}", draw)


def latency(name: str, milliseconds: Sequence[float], within: Shape) -> Plot | None:
    """A histogram of one step's times, its median and 95th percentile marked; None without times."""
    from matplotlib.ticker import MaxNLocator

    if not milliseconds:
        return None

    def draw(axes: Axes) -> None:
        axes.hist(milliseconds, bins=BINS, color=FIRST, alpha=0.55, rwidth=0.92)
        axes.set(xlabel=f"{name}, ms", ylabel="questions", ylim=(0, 1.15 * axes.get_ylim()[1]))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        for label, shift, side in (("p50", -4, "right"), ("p95", 4, "left")):
            axes.axvline(within[label], color=SECOND, lw=1.5, ls="--")
            _write(axes, f"{label} {within[label]:.0f} ms", (within[label], axes.get_ylim()[1]), (shift, 0), ha=side)

    return _plot(f"latency-{name}", f"How long each {name} took, in milliseconds", draw)


def _write(axes: Axes, text: str, at: tuple[float, float], shift: tuple[float, float], *, ha: str) -> None:
    """Text below and beside a point, `shift` points from it."""
    axes.annotate(text, at, shift, textcoords="offset points", ha=ha, va="top", color=INK)


def _plot(name: str, says: str, draw: Callable[[Axes], None]) -> Plot:
    """`name` is unique in the page, `says` is its caption."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    written = StringIO()
    with mpl.rc_context(_manner(name)):
        figure = Figure(figsize=INCHES, layout="constrained")
        draw(figure.subplots())
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None})
    return Plot(says, _inlined(written.getvalue(), name, says))


def _manner(name: str) -> dict[Any, Any]:
    return {
        "svg.fonttype": "none",
        "svg.hashsalt": name,
        "font.size": 9,
        "axes.edgecolor": FAINT,
        "axes.labelcolor": INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.grid.axis": "y",
        "axes.axisbelow": True,
        "grid.color": FAINT,
        "grid.linewidth": 0.6,
        "xtick.color": FAINT,
        "ytick.color": FAINT,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "ytick.major.size": 0,
    }


def _inlined(svg: str, name: str, says: str) -> str:
    """As part of a page: without prologue, metadata and style sheet, its ids under `name`, its colours variables."""
    body = svg[svg.index(">", svg.index("<svg")) + 1 :].strip()
    body = re.sub(r"\s*<metadata>.*?</metadata>|\s*<style[^>]*>.*?</style>|\s*<!--.*?-->", "", body, flags=re.DOTALL)
    body = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", body)
    body = re.sub(r" font-family: [^;\"]*;", "", body)
    for colour, variable in VARIABLES.items():
        body = body.replace(colour, f"var({variable})")
    width, height = (POINTS * inches for inches in INCHES)
    return f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{says}">{body}'
