"""The leak guard: a test set holds questions beside their answers, and whoever indexes it tests nothing any more."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from citewell.errors import EmptyFile
from citewell.loading.encoding import decode, is_binary
from citewell.settings import Loading

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
_ANSWERING = frozenset({"expected_answer", "must_contain", "must_not_contain"})
_DELIMITERS = ",;\t"
_UNBOUNDED = Loading(max_text_mb=2_000)
"""A limit of the settings is for the loaders to keep."""
_BEGINNING = 1_000
"""Bytes, in which a table's first line ends, and a report has its mark."""
REPORT_MARK = "citewell-evaluation-report"
"""At the beginning of each report that we write, whatever its form: it holds the questions with their right answers."""


def refuse_testset(data: bytes) -> None:
    """Let no test set through, and no report on one, whatever its name is.

    Raises:
        EmptyFile: it is one. To the index there is nothing in it, and what it may have been indexed as before goes.
    """
    data = _as_utf8(data)
    if REPORT_MARK.encode() in data[:_BEGINNING]:
        raise EmptyFile(
            "It is a report on a test set, and is not indexed: its answers would be found instead of the documents'.",
            remedy="Nothing need be done.",
        )
    if _is_lines(data) or _is_table(data):
        raise EmptyFile(
            "It is a test set, and is not indexed: the answers in it would be found instead of those in the documents.",
            remedy="Nothing need be done; it is used with `citewell evaluate`.",
        )


def _as_utf8(data: bytes) -> bytes:
    """Text of two or four bytes a sign as the loaders read it; all else as it is, since what is looked for is ASCII."""
    if b"\0" not in data[:_BEGINNING] or is_binary(data):
        return data
    return decode(data, _UNBOUNDED).encode("utf-8", "replace")


def _is_lines(data: bytes) -> bool:
    """Whether each line is an object with a question, and one of them marks what only a test set marks."""
    if not data[:_BEGINNING].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{") or b'"question"' not in data:
        return False
    marked = False
    for record in _objects(data):
        if not isinstance(record.get("question"), str):
            return False
        marked = marked or _marks(record)
    return marked


def _marks(record: Mapping[str, Any]) -> bool:
    """Whether it points at evidence, says whether it can be answered, or what the answer is and no other keys.

    Questions with answers (`question`, `answer`) are documents that many a company has, and a quiz may well expect
    answers, beside points and choices that a test set has not.
    """
    evidence = record.get("evidence")
    points = isinstance(evidence, list) and any(isinstance(one, dict) and "document" in one for one in evidence)
    says = isinstance(record.get("answerable"), bool)
    return points or says or (not _ANSWERING.isdisjoint(record) and record.keys() <= _KEYS)


def _objects(data: bytes) -> Iterator[Mapping[str, Any]]:
    """The lines that are JSON; {} for one that is no object. One that begins as an object was broken by hand."""
    for line in data.removeprefix(b"\xef\xbb\xbf").splitlines():
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            if line.strip() and not line.strip().startswith(b"{"):
                yield {}
            continue
        yield value if isinstance(value, dict) else {}


def _is_table(data: bytes) -> bool:
    """Whether the first line names columns of a test set and no others, with the answer or the evidence among them."""
    line = data[:_BEGINNING].removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].strip().decode("ascii", "replace")
    if "question" not in line:
        return False
    columns = {name.strip().strip('"') for name in line.split(max(_DELIMITERS, key=line.count))}
    answers = "expected_answer" in columns or {"document", "quote"} <= columns
    return answers and "question" in columns and columns <= set(CSV_COLUMNS)
