"""RAGAS: a generated test set as JSON lines, JSON or CSV, in the columns of its releases before and since 0.2.

A language model wrote its questions, so they are drafts. It keeps the passages that each was written from and not their
documents: a passage is looked for in the texts given.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from citewell.evaluation.layouts.imported import Imported
from citewell.evaluation.layouts.quotes import sharing
from citewell.evaluation.layouts.reading import checked, content, wrong
from citewell.evaluation.naming import short_names
from citewell.evaluation.placing import plain
from citewell.evaluation.testset import Evidence, Question
from citewell.loading.encoding import decode
from citewell.loading.plain.delimited import layout_of, rows
from citewell.settings import Loading
from citewell.types import Document

QUESTIONS = ("user_input", "question")
ANSWERS = ("reference", "ground_truth")
PASSAGES = ("reference_contexts", "contexts")
KINDS = ("synthesizer_name", "evolution_type")

NO_QUESTION = "records without a question"
NOT_FOUND = "passages that stand in no document of the index"

_HOP = re.compile(r"\s*<\d+-hop>\s*")

Row = Mapping[str, Any]


def is_ragas(columns: Sequence[str]) -> bool:
    """Whether records with these keys are questions of RAGAS."""
    return any(map(columns.__contains__, QUESTIONS)) and any(map(columns.__contains__, ANSWERS + PASSAGES))


def read_ragas(path: Path, documents: Sequence[Document] = ()) -> Imported:
    """The questions of a file; a passage found in one of `documents` becomes evidence, the others are left out.

    Of a passage it quotes the sentence that has most words of the reference answer.

    Raises:
        PathError: it cannot be read, or is in another layout.
    """
    names = short_names([document.source for document in documents])
    texts = {names[document.source]: plain(document.text) for document in documents}
    left_out: Counter[str] = Counter()
    questions = []
    for number, row in enumerate(records_of(path), start=1):
        question = _text(row, QUESTIONS)
        if not question:
            left_out[NO_QUESTION] += 1
            continue
        answer = _text(row, ANSWERS)
        quotes = [sharing(_HOP.sub("", each, count=1), answer or question) for each in _passages(row)]
        with checked(path, f"record {number}"):
            evidence = [Evidence(document=name, quote=quote) for quote in quotes for name in _holding(texts, quote)]
            asked = Question(
                question=question,
                expected_answer=answer,
                evidence=tuple(dict.fromkeys(evidence)),
                kind=_text(row, KINDS),
                reviewed=False,
            )
        left_out[NOT_FOUND] += len(quotes) - len(evidence)
        questions.append(asked)
    return Imported(tuple(questions), dict(+left_out))


def records_of(path: Path) -> list[Row]:
    """The records of a file: an array, an object of columns, JSON lines or CSV.

    Raises:
        PathError: it cannot be read, or is none of these.
    """
    text = decode(content(path), Loading())
    if not text.lstrip().startswith(("{", "[")):
        return list(_of_csv(text))
    try:
        found = _of_json(text)
    except (ValueError, RecursionError) as error:
        raise wrong(path, f"it is no JSON: {error}") from None
    if not all(isinstance(one, dict) for one in found):
        raise wrong(path, "it holds something else than objects")
    return found


def _of_csv(text: str) -> Iterator[Row]:
    table = rows(text, layout_of(text).delimiter)
    header = next(table, [])
    return (dict(zip(header, row, strict=False)) for row in table if any(row))


def _of_json(text: str) -> list[Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    if isinstance(value, list):
        return value
    columns = [each for name in QUESTIONS if isinstance(each := value.get(name), dict | list)]
    if not columns:
        return [value]
    # One object of columns, as pandas and datasets write it: each a list, or an object from the row's number. What is
    # neither is said of the whole.
    lists = {key: list(each.values()) if isinstance(each, dict) else each for key, each in value.items()}
    rows_of = {key: each for key, each in lists.items() if isinstance(each, list)}
    return [{key: each[at] for key, each in rows_of.items() if at < len(each)} for at in range(len(columns[0]))]


def _text(row: Row, names: Sequence[str]) -> str:
    found = next((row[name] for name in names if row.get(name)), "")
    return found.strip() if isinstance(found, str) else ""


def _passages(row: Row) -> list[str]:
    found: Any = next((row[name] for name in PASSAGES if row.get(name)), [])
    several = found if isinstance(found, list) else _written_out(str(found))
    return [each for each in several if isinstance(each, str) and each.strip()]


def _written_out(text: str) -> list[str]:
    """The strings of a list that a table holds as Python or NumPy prints it; any other text is one passage."""
    if not (text.startswith("[") and text.endswith("]")):
        return [text]
    try:
        marks = tokenize.generate_tokens(io.StringIO(text).readline)
        return [ast.literal_eval(mark.string) for mark in marks if mark.type == tokenize.STRING]
    except (tokenize.TokenError, SyntaxError, ValueError):
        return [text]


def _holding(texts: Mapping[str, str], quote: str) -> list[str]:
    """The first document that holds the quote; none holds one without a sign to look for."""
    sought = plain(quote)
    return [name for name, text in texts.items() if sought and sought in text][:1]
