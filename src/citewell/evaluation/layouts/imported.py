"""What a file in another layout gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from citewell.evaluation.testset import Question


class Layout(StrEnum):
    """The layouts that are read."""

    BEIR = "beir"
    SQUAD = "squad"
    RAGAS = "ragas"
    CSV = "csv"


@dataclass(frozen=True, slots=True)
class Imported:
    """The questions of a file, and how many things of it were left out, by the reason."""

    questions: tuple[Question, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Passage:
    """A text that a data set brings along; the evidence of its questions names it as the document `name`."""

    name: str
    title: str
    text: str
