"""Answers that people have rated, or whose support is known, as a judge is measured on them.

A JSON object a line, plain or gzip, in one of three layouts, told by their keys: MTRAG's human ratings, HaluEval's
questions, or one's own: `answer` (or `claims`), `passages`, `question`, and `rating` or `supported`.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from citewell.checking.claims import claims_of
from citewell.complaints import explained
from citewell.errors import PathError

MOST_BYTES = 256_000_000
"""Of a file, unpacked."""

_GZIP = b"\x1f\x8b"
REMEDY = "Give ratings as docs/judges.md shows them, a JSON object a line."


@dataclass(frozen=True, slots=True)
class Rated:
    """An answer as claims, and what is known of it: a `rating` by people, higher for better supported, or `supported`.

    Answers of one `group` answer one question, and are drawn together when an interval is made.
    """

    claims: tuple[str, ...]
    passages: tuple[str, ...]
    question: str
    group: str
    words: int
    rating: float | None = None
    supported: bool | None = None


class _Record(BaseModel):
    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class _Own(_Record):
    passages: tuple[str, ...]
    answer: str = ""
    claims: tuple[str, ...] = ()
    question: str = ""
    rating: float | None = None
    supported: bool | None = None

    @model_validator(mode="after")
    def _says_one_thing(self) -> _Own:
        if bool(self.answer) == bool(self.claims):
            raise ValueError("give either answer or claims")
        if (self.rating is None) == (self.supported is None):
            raise ValueError("give either rating or supported")
        return self

    def rated(self) -> list[Rated]:
        text = self.answer or " ".join(self.claims)
        claims = self.claims or claims_of(self.answer)
        group = self.question or text
        return [
            Rated(claims, self.passages, self.question, group, len(text.split()), self.rating, self.supported),
        ]


class _Text(_Record):
    text: str


class _Human(_Record):
    faithfulness: Annotated[tuple[float, ...], Field(min_length=1)]


class _Mtrag(_Record):
    task_id: str
    history: Annotated[tuple[_Text, ...], Field(min_length=1)]
    contexts: tuple[_Text, ...]
    response: str
    human: _Human

    def rated(self) -> list[Rated]:
        ratings = self.human.faithfulness
        return [
            Rated(
                claims_of(self.response),
                tuple(context.text for context in self.contexts),
                self.history[-1].text,
                self.task_id,
                len(self.response.split()),
                rating=sum(ratings) / len(ratings),
            )
        ]


class _HaluEval(_Record):
    knowledge: str
    question: str
    right_answer: str
    hallucinated_answers: tuple[str, ...]

    def rated(self) -> list[Rated]:
        answers = [(self.right_answer, True), *((answer, False) for answer in self.hallucinated_answers)]
        return [
            Rated(
                claims_of(text), (self.knowledge,), self.question, self.question, len(text.split()), supported=supported
            )
            for text, supported in answers
        ]


_Layout = type[_Mtrag | _HaluEval | _Own]
_BY_KEY: tuple[tuple[str, _Layout], ...] = (("passages", _Own), ("hallucinated_answers", _HaluEval), ("human", _Mtrag))
_OBJECT = TypeAdapter(dict[str, object])


def read_rated(path: Path) -> tuple[Rated, ...]:
    """Every answer of a file, in order.

    Raises:
        PathError: there is no such file, it is empty, a line is none of the layouts, or ratings and labels are mixed.
    """
    lines = _content(path).splitlines()
    answers: list[Rated] = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            answers += _parsed(path, number, line)
    if not answers:
        raise PathError(f"{path} holds no answer.", remedy=REMEDY)
    if len({answer.rating is None for answer in answers}) > 1:
        raise PathError(f"{path} has ratings on some lines and labels on others.", remedy="Make a file of each.")
    return tuple(answers)


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            is_packed = file.read(2) == _GZIP
            file.seek(0)
            data = (gzip.GzipFile(fileobj=file) if is_packed else file).read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or "it is damaged"
        raise PathError(f"{path} cannot be read: {reason}.", remedy="Check the path.") from None
    if len(data) > MOST_BYTES:
        raise PathError(f"{path} is larger than {MOST_BYTES:,} bytes.", remedy="Give a smaller sample.")
    return data


def _parsed(path: Path, number: int, line: bytes) -> Sequence[Rated]:
    try:
        record = _OBJECT.validate_json(line)
        layout = next((layout for key, layout in _BY_KEY if key in record), _Own)
        return layout.model_validate(record).rated()
    except ValidationError as error:
        raise PathError(f"{path}, line {number}, is no rated answer: {explained(error)}.", remedy=REMEDY) from None
