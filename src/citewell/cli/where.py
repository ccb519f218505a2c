"""The option `--where`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from citewell.filtering import parse
from citewell.filters import And, FieldType, Filter, check

Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="CONDITION",
        help="Only documents that meet it, such as 'amount >= 25'; of several, all of them. See docs/filters.md.",
    ),
]


def condition(given: Sequence[str] | None, declared: Mapping[str, FieldType]) -> Filter | None:
    """What all of them say together; None where nothing is given.

    Raises:
        FilterError: one is not written as it should be, or `check` refuses it.
    """
    parts = tuple(parse(text, declared) for text in given or ())
    if not parts:
        return None
    return check(parts[0] if len(parts) == 1 else And(parts), declared)
