"""The curve of a calibration as a picture."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.errors import PathError, SettingsError
from citewell.evaluation.calibration import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".svg", ".png")
LINES = (
    ("refusal_precision", "refusal precision", "#1f77b4", "-"),
    ("refusal_recall", "refusal recall", "#d62728", "--"),
    ("answered", "answerable answered", "#2ca02c", ":"),
    ("right", "right decisions", "#444444", "-."),
)


def require_drawable(path: Path) -> None:
    """Refuse, before a long run, a file that could not be drawn at its end.

    Raises:
        PathError: its name ends in something else than `SUFFIXES`, or there is no such folder.
        SettingsError: what draws it is not installed.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise PathError(f"A curve is not written as {path.suffix or path.name}.", remedy="Name it .svg or .png.")
    if not path.absolute().parent.is_dir():
        raise PathError(f"There is no folder {path.absolute().parent}.", remedy="Make it, or give another path.")
    if find_spec("matplotlib") is None:
        raise SettingsError(
            "Drawing a curve needs matplotlib, which is not installed.",
            remedy="Install it with `pip install 'citewell[bench]'`.",
        )


def draw(curve: Curve, path: Path) -> None:
    """Write what each floor does, the best one marked, as .svg or .png. The same curve gives the same bytes.

    Raises:
        PathError: it cannot be written there.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "floor", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(6, 3.6), layout="constrained")
        _draw(figure.subplots(), curve)
        fixed = {"Date": None} if path.suffix.lower() == ".svg" else {"Software": None}
        try:
            figure.savefig(path, dpi=120, metadata=fixed)
        except OSError as error:
            raise PathError(f"{path} cannot be written: {error.strerror}.", remedy="Give another path.") from None


def _draw(axes: Axes, curve: Curve) -> None:
    for name, label, colour, style in LINES:
        known = [(point.floor, getattr(point, name)) for point in curve.points if getattr(point, name) is not None]
        axes.plot([x for x, _ in known], [y for _, y in known], color=colour, ls=style, lw=1.8, label=label)
    axes.axvline(curve.best.floor, color="#999999", lw=1)
    verdict = f"{curve.best.floor:.2f} is best" if curve.separates else "Nothing separates"
    asked = f"{curve.answerable:,} answerable and {curve.unanswerable:,} unanswerable questions"
    axes.set_title(f"{verdict}: {asked}, {curve.objective.unanswerable:.0%} unanswerable", fontsize=9)
    axes.set(xlabel="floor", ylim=(0, 1.02))
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize="small", frameon=False)
