"""The graphs of `scale.py`: each figure against the number of chunks, as PNG."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Found = Mapping[str, Any]

TARGET_MS, TARGET_RECALL, TARGET_MB = 30, 0.98, 1_500
SEARCHED = "int8"
"""Searches by filter are drawn for this way to shorten vectors, the others are in the table."""


def draw(found: Found, folder: Path) -> list[Path]:
    """Write `scale-*.png` and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    measured: Sequence[Found] = found["measured"]
    kinds = list(dict.fromkeys(each["quantise"] for each in measured))
    searched = [each for each in measured if each["quantise"] == (SEARCHED if SEARCHED in kinds else kinds[0])]
    scopes = [each["scope"] for each in searched[0]["searching"]]

    def by_kind(value: Callable[[Found], float]) -> dict[str, list[tuple[int, float]]]:
        return {
            kind: [(each["chunks"], value(each)) for each in measured if each["quantise"] == kind] for kind in kinds
        }

    def by_scope(name: str) -> dict[str, list[tuple[int, float]]]:
        return {
            scope: [(each["chunks"], each["searching"][place][name]) for each in searched]
            for place, scope in enumerate(scopes)
        }

    changing = {
        what: [(each["chunks"], each["changing"][name]) for each in searched]
        for what, name in (("add", "add_p50"), ("delete", "delete_p50"), ("search after", "search_after_p50"))
    }
    exact = {"comparing all": [(each["chunks"], each["exact_p50"]) for each in searched]}
    return [
        _graph(folder / "scale-search.png", "Search, both legs, 95 % within", "ms", by_scope("both_p95"), TARGET_MS),
        _graph(folder / "scale-dense.png", "Dense leg, 95 % within", "ms", by_scope("dense_p95") | exact, TARGET_MS),
        _graph(folder / "scale-keyword.png", "Keyword leg, 95 % within", "ms", by_scope("keyword_p95"), TARGET_MS),
        _graph(
            folder / "scale-recall.png", "Recall of the first ten", "", by_scope("recall"), TARGET_RECALL, log=False
        ),
        _graph(folder / "scale-change.png", "One document of 20 chunks, median", "ms", changing),
        _graph(folder / "scale-build.png", "Vector index built in", "s", by_kind(lambda each: each["vector_index_s"])),
        _graph(folder / "scale-disk.png", "On disk", "MB", by_kind(lambda each: each["disk_mb"])),
        _graph(
            folder / "scale-memory.png",
            "Memory after the searches",
            "MB",
            by_kind(lambda each: each["searched_rss_mb"]),
            TARGET_MB,
        ),
    ]


def _graph(
    path: Path,
    title: str,
    unit: str,
    lines: Mapping[str, Sequence[tuple[int, float]]],
    target: float | None = None,
    *,
    log: bool = True,
) -> Path:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for name, points in lines.items():
        axes.plot([chunks for chunks, _ in points], [value for _, value in points], marker="o", label=name)
    if target is not None:
        axes.axhline(target, color="grey", linestyle="--", label="target")
    axes.set_xscale("log")
    if log:
        axes.set_yscale("log")
    axes.set(title=title, xlabel="chunks", ylabel=unit)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(path, dpi=110, metadata={"Software": None})
    return path
