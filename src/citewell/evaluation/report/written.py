"""Reports as files, in the form that their name says."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path

from citewell.errors import PathError
from citewell.evaluation.report import html, markdown
from citewell.evaluation.report.evaluated import Evaluated
from citewell.evaluation.report.shape import as_shape
from citewell.evaluation.saved import check_place, save


class Format(StrEnum):
    """The forms of a report, by the end of its file's name."""

    HTML = ".html"
    MARKDOWN = ".md"
    JSON = ".json"


def format_of(path: Path) -> Format:
    """The form that a file's name asks for. Refuses, before a long run, what could not be written at its end.

    Raises:
        PathError: its name ends in something else, or as `check_place`.
        SettingsError: what draws it is not installed.
    """
    suffix = path.suffix.lower()
    if suffix not in set(Format):
        raise PathError(
            f"A report is not written as {path.suffix or path.name!r}.", remedy=f"Name it {', '.join(Format)}."
        )
    check_place(path)
    form = Format(suffix)
    if form is Format.HTML:
        html.require_drawable()
    return form


def write(evaluated: Evaluated, path: Path, form: Format) -> None:
    """Write a report, as `save` does.

    Raises:
        PathError: it cannot be written there.
        SettingsError: what draws it is not installed.
    """
    match form:
        case Format.HTML:
            text = html.as_html(evaluated)
        case Format.MARKDOWN:
            text = markdown.as_markdown(evaluated)
        case Format.JSON:
            text = json.dumps(as_shape(evaluated), indent=2, allow_nan=False) + "\n"
    save(text, path)
