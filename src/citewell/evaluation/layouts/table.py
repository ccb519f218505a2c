"""CSV: a row a question, with the columns of `COLUMNS`, of which only `question` must be there.

Rows that differ in document, quote and section only are one question with several pieces of evidence.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from citewell.errors import PathError
from citewell.evaluation.layouts.imported import Imported
from citewell.evaluation.layouts.reading import checked, content, wrong
from citewell.evaluation.testset import Question
from citewell.loading.encoding import decode
from citewell.loading.testsets import CSV_COLUMNS
from citewell.settings import Loading

_EVIDENCE = ("document", "quote", "section")
_LISTS = ("groups", "tags")
_YES_OR_NO = dict.fromkeys(("yes", "true", "y", "t", "on", "1"), True) | dict.fromkeys(
    ("no", "false", "n", "f", "off", "0"), False
)
_BETWEEN = ";"
"""In groups and tags."""

Row = Mapping[str, str]


def columns_of(text: str) -> list[str]:
    """The names in the first line of a table, divided by commas, semicolons or tabs; [] where it is no such line."""
    with suppress(csv.Error):  # a text without a line break is longer than any cell may be
        return next(_reader(text), [])
    return []


def read_table(path: Path) -> Imported:
    """The questions of a file.

    Raises:
        PathError: it cannot be read, a column is unknown, or a row is no question.
    """
    text = decode(content(path), Loading())
    header = [name.strip() for name in columns_of(text)]
    _check(path, header)
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    reader = _reader(text)
    try:
        for number, cells in enumerate(reader, start=1):
            if number > 1 and any(map(str.strip, cells)):
                row = dict(zip(header, map(str.strip, cells), strict=False))
                key = tuple(row.get(name, "") for name in CSV_COLUMNS if name not in _EVIDENCE)
                question = found.setdefault(key, {**_said(row), "evidence": []})
                question["evidence"] += [_evidence(row)] if any(map(row.get, _EVIDENCE)) else []
                with checked(path, f"line {reader.line_num}"):
                    Question.model_validate(question)
    except csv.Error as error:
        raise wrong(path, f"line {reader.line_num}: {error}") from None
    return Imported(tuple(map(Question.model_validate, found.values())))


def _check(path: Path, header: list[str]) -> None:
    unknown = [name for name in header if name not in CSV_COLUMNS]
    if unknown or "question" not in header:
        problem = f"has an unknown column, {unknown[0]!r}" if unknown else "has no column named question"
        raise PathError(f"{path} {problem}.", remedy=f"The first line names the columns: {', '.join(CSV_COLUMNS)}.")


def _said(row: Row) -> dict[str, Any]:
    """What the row says of the question; an empty cell says nothing."""
    filled = {name: value for name, value in row.items() if value and name not in _EVIDENCE}
    return {name: _several(value) if name in _LISTS else _read(name, value) for name, value in filled.items()}


def _read(name: str, cell: str) -> str | bool:
    """Yes or no as people and spreadsheets write it; another word there is not taken for either."""
    return _YES_OR_NO.get(cell.casefold(), cell) if name == "answerable" else cell


def _several(cell: str) -> list[str]:
    return [part.strip() for part in cell.split(_BETWEEN) if part.strip()]


def _evidence(row: Row) -> dict[str, str]:
    return {name: row.get(name, "") for name in _EVIDENCE}


def _reader(text: str) -> Any:
    first = text.partition("\n")[0]
    return csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count))
