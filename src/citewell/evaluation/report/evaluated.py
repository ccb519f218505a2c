"""All that one evaluation holds, for every form that it is shown in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from citewell import clock
from citewell.evaluation.calibration import Curve, curve_of
from citewell.evaluation.scored import Scored
from citewell.evaluation.shown import shown
from citewell.evaluation.testset import Question, read_testset
from citewell.index import Index
from citewell.settings import Settings
from citewell.types import Floor


@dataclass(frozen=True, slots=True)
class Asked:
    """A test set in numbers: of its questions `reviewed` are checked by a person, `answerable` have an answer.

    The reviewed ones alone are scored, or the drafts where none is reviewed: `testset.to_score`.
    """

    name: str
    reviewed: int
    unreviewed: int
    answerable: int
    unanswerable: int


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One test set put to one index and scored, by a judge whose `agreement` with people is told, a line a data set.

    `settings` holds, as `table.key`, those that are not the default; `keep` is how many passages an answer is made of.
    `floor_curve` is what each floor would do to these questions, None where there are too few to fit one. Nothing in it
    depends on the machine: an index is told by its contents, not by its place.
    """

    title: str
    at: datetime
    citewell: str
    documents: int
    chunks: int
    embedder: str
    floor: Floor
    settings: Mapping[str, object]
    keep: int
    testset: Asked
    judge: str
    agreement: tuple[str, ...]
    scored: Scored
    floor_curve: Curve | None = None

    @classmethod
    def of(
        cls, index: Index, testset: Path, scored: Scored, *, judge: str, agreement: Sequence[str] = (), title: str = ""
    ) -> Evaluated:
        """What `scored` tells of the index and the test set's file; the title is the file's name if none is given.

        Raises:
            PathError: as `read_testset`.
        """
        status, keep = index.status(), index.settings.retrieval.keep
        return cls(
            title=title or testset.name,
            at=clock.now(),
            citewell=version("citewell"),
            documents=status.documents,
            chunks=status.chunks,
            embedder=shown(status.embedder),
            floor=status.floor,
            settings=not_default(index.settings),
            keep=keep,
            testset=asked(testset.name, read_testset(testset)),
            judge=judge,
            agreement=tuple(agreement),
            scored=scored,
            floor_curve=curve_of(scored.outcomes, keep),
        )


def asked(name: str, questions: Sequence[Question]) -> Asked:
    """A test set's numbers, of all its questions."""
    reviewed = sum(question.reviewed for question in questions)
    answerable = sum(question.answerable for question in questions)
    return Asked(name, reviewed, len(questions) - reviewed, answerable, len(questions) - answerable)


def not_default(settings: Settings) -> dict[str, object]:
    """The settings that are not the default, as `table.key`, without what may be secret in a URL or path.

    Those of `[service]` are left out: no answer depends on them, and they name places of the machine.
    """
    changed = settings.model_dump(mode="json", exclude_defaults=True, exclude={"service"})
    tables = {name: value for name, value in changed.items() if isinstance(value, dict)}
    top = {name: value for name, value in changed.items() if name not in tables}
    return top | {
        f"{table}.{key}": shown(value) if isinstance(value, str) else value
        for table, values in tables.items()
        for key, value in values.items()
    }
