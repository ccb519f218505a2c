"""A test set: a JSON object a line, each a question and where its answer stands. Here its retrieval questions only."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from citewell.errors import PathError
from citewell.stores import files

Text = Annotated[str, Field(min_length=1)]


class _Record(BaseModel):
    """Other keys are for other measures."""

    model_config = ConfigDict(frozen=True)


class Evidence(_Record):
    """A quote, and the document that it stands in, as the end of its path."""

    document: Text
    quote: Text


class Question(_Record):
    """`groups` are those of who asks, `as_of` is the day asked about, None today.

    The evidence of one that is not `answerable` is what this reader may not see.
    """

    question: Text
    answerable: bool = True
    evidence: tuple[Evidence, ...] = ()
    groups: tuple[str, ...] = ()
    as_of: date | None = None


def retrieval_questions(path: Path) -> list[Question]:
    """The questions of a file that have evidence to be found by who asks.

    Raises:
        PathError: there is no such file, a line is no question, or none has evidence.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise PathError(f"{path} cannot be read: {error.strerror}.", remedy="Check the path.") from None
    questions = [_parsed(path, number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    found = [question for question in questions if question.answerable and question.evidence]
    if not found:
        raise PathError(
            f"{path} has no question with evidence that can be found.",
            remedy="Give a test set with a JSON object a line; docs/migrate.md has an example.",
        )
    return found


def _parsed(path: Path, number: int, line: bytes) -> Question:
    try:
        return Question.model_validate_json(line)
    except ValidationError as error:
        raise PathError(
            f"{path}, line {number}, is no question: {files.complaint(error)}.",
            remedy="Correct the line; docs/migrate.md says what it holds.",
        ) from None
