"""Charts as tables: the categories in the rows, the series in the columns, as last drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lxml.etree import _Element

from citewell.loading.sheets.numbers import GENERAL, shown

_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_TEXT = "{http://schemas.openxmlformats.org/drawingml/2006/main}t"


@dataclass(frozen=True, slots=True)
class _Series:
    name: str
    categories: dict[int, str]
    values: dict[int, str]


def chart_title(chart: _Element) -> str:
    """The title of a chart (the root of its part), "" where it has none."""
    title = chart.find(f"{_CHART}chart/{_CHART}title")
    if title is None:
        return ""
    return "".join(one.text or "" for one in title.iter(_TEXT, f"{_CHART}v"))


def chart_tables(chart: _Element) -> Iterator[list[list[str]]]:
    """A table for each group of series over the same categories, its first row the names of the series."""
    groups: dict[tuple[tuple[int, str], ...], list[_Series]] = {}
    for element in chart.iter(f"{_CHART}ser"):
        series = _Series(_name(element), _points(element, "cat", "xVal"), _points(element, "val", "yVal"))
        groups.setdefault(tuple(series.categories.items()), []).append(series)
    for categories, group in groups.items():
        yield list(_rows(dict(categories), group))


def _rows(categories: dict[int, str], group: Sequence[_Series]) -> Iterator[list[str]]:
    yield ["", *(series.name for series in group)]
    for at in sorted({*categories, *(at for series in group for at in series.values)}):
        yield [categories.get(at, str(at + 1)), *(series.values.get(at, "") for series in group)]


def _name(series: _Element) -> str:
    named = series.find(f"{_CHART}tx")
    return "" if named is None else "".join(one.text or "" for one in named.iter(f"{_CHART}v"))


def _points(series: _Element, *tags: str) -> dict[int, str]:
    """The stored points of a series by their number; of categories in levels, the innermost."""
    for tag in tags:
        data = series.find(f"{_CHART}{tag}")
        if data is not None:
            level = next(data.iter(f"{_CHART}lvl"), data)
            code = next((one.text or GENERAL for one in data.iter(f"{_CHART}formatCode")), "")
            return {
                int(point.get("idx", "0")): _value(point.findtext(f"{_CHART}v") or "", code)
                for point in level.iter(f"{_CHART}pt")
            }
    return {}


def _value(text: str, code: str) -> str:
    """Only numbers have a format code."""
    try:
        number = float(text) if code else math.nan
    except ValueError:
        return text
    return shown(number, code) if math.isfinite(number) else text
