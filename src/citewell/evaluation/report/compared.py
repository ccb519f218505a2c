"""Two evaluations of the same questions as one HTML file: the verdict, the measures, and who got better and worse."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.evaluation.comparison import Compared
from citewell.evaluation.comparison import as_shape as compared_shape
from citewell.evaluation.report.evaluated import Evaluated
from citewell.evaluation.report.html import drawing, texts
from citewell.evaluation.report.shape import Shape, as_shape


def as_html(compared: Compared, before: Evaluated, after: Evaluated) -> str:
    """A whole page; its figures are those of `comparison.as_shape`, rounded. For whose eyes: see `report.html`.

    Raises:
        SettingsError: what draws it is not installed.
    """
    draw = drawing("compared.html.jinja")
    shape, sides = compared_shape(compared), (as_shape(before), as_shape(after))
    return draw(
        made_by=sides[0]["made_by"],
        compared=shape,
        before=sides[0],
        after=sides[1],
        settings=_settings(*sides),
        changes=_changes(shape["changes"], *sides),
        texts=(texts(before), texts(after)),
        reach=max((abs(end) for each in shape["headline"] for end in (each["low"], each["high"])), default=0.0) or 1.0,
    )


def _settings(before: Shape, after: Shape) -> list[tuple[str, object, object]]:
    """The settings that differ, with both values; None for a default."""
    mine, theirs = before["settings"], after["settings"]
    keys = dict.fromkeys((*mine, *theirs))
    return [(key, mine.get(key), theirs.get(key)) for key in keys if mine.get(key) != theirs.get(key)]


def _changes(changes: Sequence[Shape], before: Shape, after: Shape) -> dict[str, list[tuple[Shape, Shape, Shape]]]:
    """Who got worse and who better, the largest change first, each with the question as it was in both runs."""
    old, new = ({one["id"]: one for one in side["questions"]} for side in (before, after))
    both = [(each, old[each["id"]], new[each["id"]]) for each in changes]
    return {
        "worse": [each for each in reversed(both) if each[0]["gain"] < 0],
        "better": [each for each in both if each[0]["gain"] > 0],
    }
