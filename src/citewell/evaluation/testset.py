"""A test set: a JSON object a line, each a question, its right answer and where that stands.

docs/testsets.md has the keys. Evidence is a document with a quote or a section of it, never a chunk, so a test set
outlives any change of chunking.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from citewell.complaints import SOME_SIGN, explained
from citewell.errors import PathError
from citewell.question import MAX_QUESTION_CHARS

MISSPELT = 0.8
"""How like a key another one must be to be taken for it: `answerabel` is by 0.8, `answer` is not."""

Text = Annotated[str, Field(min_length=1)]


class _Record(BaseModel):
    """Other keys are for other programs, but for one that is nearly one of these: it is misspelt."""

    model_config = ConfigDict(frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _well_spelt(cls, given: Any) -> Any:
        for key in given if isinstance(given, dict) else ():
            near = get_close_matches(str(key), cls.model_fields, n=1, cutoff=MISSPELT)
            if near and key not in cls.model_fields:
                raise ValueError(f"there is no key {key!r}; it is written {near[0]!r}")
        return given


class Evidence(_Record):
    """A quote or a section of a document, and how well it answers. `document` is the end of the document's path.

    A section is the heading that the answer stands under, or the last of several joined by ` > `.
    """

    document: Text
    quote: str = ""
    section: str = ""
    page: str | None = None
    grade: int = Field(1, ge=1, le=100)

    @model_validator(mode="after")
    def _points_somewhere(self) -> Self:
        if not self.quote.strip() and not self.section.strip():
            raise ValueError("evidence needs a quote or a section")
        return self


class Question(_Record):
    """`groups` are those of who asks, `as_of` is the day asked about, None today.

    The evidence of one that is not `answerable` is what this reader may not see. An answer that holds every text of
    `must_contain` and none of `must_not_contain` is right; without these the judge compares with `expected_answer`.
    `reviewed` says that a person has checked it: a draft is not mixed with those in any score.
    """

    id: str = ""
    question: Annotated[str, Field(pattern=SOME_SIGN, max_length=MAX_QUESTION_CHARS)]
    answerable: bool = Field(True, strict=True)
    expected_answer: str = ""
    must_contain: tuple[str, ...] = ()
    must_not_contain: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    groups: tuple[str, ...] = ()
    as_of: date | None = None
    kind: str = ""
    tags: tuple[str, ...] = ()
    reviewed: bool = Field(True, strict=True)

    @property
    def labels(self) -> tuple[str, ...]:
        """What its scores are also counted under: its kind and its tags."""
        return tuple(dict.fromkeys(filter(None, (self.kind, *self.tags))))


def read_testset(path: Path) -> tuple[Question, ...]:
    """Every question of a file, in order; one without an id is named after its line.

    Raises:
        PathError: there is no such file, it is empty, a line is no question, or two have one id.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise PathError(f"{path} cannot be read: {error.strerror}.", remedy="Check the path.") from None
    questions = [_parsed(path, number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if not questions:
        raise PathError(f"{path} holds no question.", remedy="Give a test set; docs/testsets.md has an example.")
    twice = [name for name, times in Counter(question.id for question in questions).items() if times > 1]
    if twice:
        raise PathError(f"{path} has the id {twice[0]!r} twice.", remedy="Give each question an id of its own.")
    return tuple(questions)


def as_lines(questions: Iterable[Question]) -> str:
    """The text of a test set's file: only the keys that say something."""
    records = (question.model_dump(mode="json", exclude_defaults=True) for question in questions)
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def to_score(questions: Sequence[Question]) -> tuple[Question, ...]:
    """The reviewed ones; where none is, the drafts: the two are never scored together."""
    reviewed = tuple(question for question in questions if question.reviewed)
    return reviewed or tuple(questions)


def retrieval_questions(path: Path) -> list[Question]:
    """The questions of a file that have evidence to be found by who asks.

    Raises:
        PathError: as `read_testset`, or none has evidence.
    """
    found = [question for question in to_score(read_testset(path)) if question.answerable and question.evidence]
    if not found:
        raise PathError(
            f"{path} has no question with evidence that can be found.",
            remedy="Give a test set with a JSON object a line; docs/testsets.md has an example.",
        )
    return found


def _parsed(path: Path, number: int, line: bytes) -> Question:
    try:
        question = Question.model_validate_json(line)
    except ValidationError as error:
        raise PathError(
            f"{path}, line {number}, is no question: {explained(error)}.",
            remedy="Correct the line; docs/testsets.md says what it holds.",
        ) from None
    return question if question.id else question.model_copy(update={"id": f"line-{number}"})
