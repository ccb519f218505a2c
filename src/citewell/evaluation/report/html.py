"""An evaluation as one HTML file: no script, no network, no font from elsewhere, and every text in it escaped."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from citewell.errors import SettingsError
from citewell.evaluation.report.evaluated import Evaluated
from citewell.evaluation.report.figures import HEADLINES, counted, figure, floor, setting, signed
from citewell.evaluation.report.plots import Plot, floor_curve, latency, recall_curve
from citewell.evaluation.report.shape import Shape, as_shape
from citewell.evaluation.report.visible import visible

if TYPE_CHECKING:
    from jinja2 import Environment

PACKAGES = ("jinja2", "matplotlib")


def as_html(evaluated: Evaluated) -> str:
    """A whole page; the figures in it are those of `as_shape`, rounded. The same evaluation gives the same bytes.

    It holds passages that not everybody may read: it is for the eyes of who may read all that was evaluated.

    Raises:
        SettingsError: what draws it is not installed.
    """
    draw = drawing("report.html.jinja")
    shape = as_shape(evaluated)
    measures = shape["slices"][0]["measures"]
    return draw(
        made_by=shape["made_by"],
        report=shape,
        headlines=[name for name in HEADLINES if name in measures],
        labels=list(dict.fromkeys(label for one in shape["questions"] for label in one["labels"])),
        plots=list(filter(None, _plots(shape, measures))),
        texts=texts(evaluated),
    )


def require_drawable() -> None:
    """Raises SettingsError where what draws a page is not installed."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise SettingsError(
            f"The HTML report needs {missing[0]}, which is not installed.",
            remedy="Install it with `pip install 'citewell[bench]'`, or take the report as JSON or Markdown.",
        )


def drawing(template: str) -> Callable[..., str]:
    """What fills in a template of this folder. Whatever does something unseen in a text is shown by its name.

    Raises:
        SettingsError: what draws it is not installed.
    """
    require_drawable()
    render = _environment().get_template(template).render
    # On the whole page, so that no text can be forgotten: the templates hold no such character themselves.
    return lambda **context: visible(render(context))


def parts_held(text: str, quotes: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """A text cut at its quotes, each part with whether it is one, found whatever its white space, bars and capitals."""
    patterns = [r"[\s|]+".join(map(re.escape, quote.replace("|", " ").split())) for quote in quotes]
    found = re.compile("|".join(filter(None, patterns)) or r"(?!)", re.IGNORECASE)
    at = 0
    for match in found.finditer(text):
        yield text[at : match.start()], False
        yield match[0], True
        at = match.end()
    yield text[at:], False


def legs(hits: Sequence[Shape]) -> list[str]:
    """The lists that some hit was found in."""
    return sorted({leg for hit in hits for leg in hit["lists"]})


def texts(evaluated: Evaluated) -> dict[str, str]:
    """What is read of each chunk, by its id."""
    return {hit.chunk.id: hit.passage.text for outcome in evaluated.scored.outcomes for hit in outcome.hits}


def _plots(shape: Shape, measures: Mapping[str, Shape]) -> Iterator[Plot | None]:
    yield recall_curve(measures)
    yield floor_curve(shape["floor_curve"])
    for name, within in shape["latency"].items():
        times = [one[f"{name}_ms"] for one in shape["questions"]]
        yield latency(name, [time for time in times if time is not None], within)


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("citewell.evaluation.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {each.__name__: each for each in (counted, figure, floor, legs, parts_held, setting, signed)}
    return made
