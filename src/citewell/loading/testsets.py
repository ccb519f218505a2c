"""The leak guard: a test set holds questions beside their answers, and whoever indexes it tests nothing any more."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from citewell.errors import EmptyFile

CSV_COLUMNS = (
    "question", "expected_answer", "document", "quote", "section", "groups", "as_of", "answerable", "kind", "tags",
)  # fmt: skip
"""Of a test set as a table."""

_KEYS = frozenset(
    """
    id question answerable expected_answer must_contain must_not_contain evidence groups as_of kind tags reviewed
    """.split()  # noqa: SIM905  Words read better as words.
)
"""Of a line of a test set; a test holds them to be those of `evaluation.testset.Question`."""
_DELIMITERS = ",;\t"


def refuse_testset(data: bytes) -> None:
    """Let no test set through, whatever its name is.

    Raises:
        EmptyFile: it is one. To the index there is nothing in it, and what it may have been indexed as before goes.
    """
    if _is_lines(data) or _is_table(data):
        raise EmptyFile(
            "It is a test set, and is not indexed: the answers in it would be found instead of those in the documents.",
            remedy="Nothing need be done; it is used with `citewell evaluate`.",
        )


def _is_lines(data: bytes) -> bool:
    """Whether each line is an object with a question, and one of them marks what only a test set marks."""
    if not data[:1_000].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{") or b'"question"' not in data:
        return False
    marked = False
    for record in _objects(data):
        if not isinstance(record.get("question"), str):
            return False
        marked = marked or _marks(record)
    return marked


def _marks(record: Mapping[str, Any]) -> bool:
    """Whether it points at evidence, says whether it can be answered, or has an expected answer and no other keys.

    Questions with answers (`question`, `answer`) are documents that many a company has, and a quiz may well expect
    answers, beside points and choices that a test set has not.
    """
    evidence = record.get("evidence")
    points = isinstance(evidence, list) and any(isinstance(one, dict) and "document" in one for one in evidence)
    says = isinstance(record.get("answerable"), bool)
    return points or says or ("expected_answer" in record and record.keys() <= _KEYS)


def _objects(data: bytes) -> Iterator[Mapping[str, Any]]:
    """The lines that are JSON; {} for one that is no object. A line that is none may have been broken by hand."""
    for line in data.removeprefix(b"\xef\xbb\xbf").splitlines():
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        yield value if isinstance(value, dict) else {}


def _is_table(data: bytes) -> bool:
    """Whether the first line names columns of a test set and no others, with the answer or the evidence among them."""
    line = data[:1_000].removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].strip().decode("ascii", "replace")
    if "question" not in line:
        return False
    columns = {name.strip().strip('"') for name in line.split(max(_DELIMITERS, key=line.count))}
    answers = "expected_answer" in columns or {"document", "quote"} <= columns
    return answers and "question" in columns and columns <= set(CSV_COLUMNS)
