"""An evaluation or a comparison, as a request asks for it."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from citewell.evaluation.testset import Question
from citewell.serving.overrides import Overrides

MAX_QUESTIONS = 5_000
MAX_SETTINGS = 10
UPLOADED = "questions.jsonl"

_NAME = r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$"


def is_name(name: str) -> bool:
    """Whether a test set can be asked for by this name."""
    return re.fullmatch(_NAME, name) is not None


class TestSetBody(BaseModel):
    """Which questions are asked, and how answers are judged."""

    __test__ = False  # it is no test

    model_config = ConfigDict(extra="forbid", frozen=True)

    questions: Annotated[list[Question], Field(min_length=1, max_length=MAX_QUESTIONS)] | None = Field(
        None, description="A test set: of its lines the objects (docs/testsets.md)."
    )
    testset: str | None = Field(
        None,
        pattern=_NAME,
        description="Or the name of a file in `testsets` of the service's folder.",
    )
    name: str | None = Field(None, pattern=_NAME, description="What the run calls `questions`; `questions.jsonl` else.")
    judge: Literal["aligned", "llm"] = "aligned"
    retrieval_only: bool = Field(False, description="Measure what is found, without answers.")

    @model_validator(mode="after")
    def _is_one_testset(self) -> Self:
        if (self.questions is None) == (self.testset is None):
            raise ValueError("give questions, or the name of a testset")
        if self.name is not None and self.questions is None:
            raise ValueError("a testset has its name; only questions are given one")
        return self

    @property
    def told_as(self) -> str:
        """The name that the run tells of its test set."""
        return self.testset or self.name or UPLOADED


class EvaluationBody(TestSetBody):
    """`POST /v1/evaluations`."""

    settings: Overrides = Field(Overrides(), description="Over those of the service.")


class NamedSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, max_length=200)
    settings: Overrides = Field(Overrides(), description="Over those of the service.")


class ComparisonBody(TestSetBody):
    """`POST /v1/comparisons`."""

    settings: Annotated[list[NamedSettings], Field(min_length=2, max_length=MAX_SETTINGS)] = Field(
        description="The others are compared with the first."
    )
    worth: float | None = Field(None, ge=0.0001, le=1, description="The smallest difference worth having; 0.02 else.")
