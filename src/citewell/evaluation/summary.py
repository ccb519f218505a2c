"""The scores of many questions as tables: each measure's mean with its interval, over all, each kind and each group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from citewell.checking.judge import Failure
from citewell.evaluation.answers import REFUSED
from citewell.evaluation.measures import Measured
from citewell.evaluation.metrics import Estimate, estimate, estimate_share

ALL = "all questions"


@dataclass(frozen=True, slots=True)
class Score:
    """A measure over some questions. `estimate` is None where no question has it; `failed` counts those not judged."""

    name: str
    estimate: Estimate | None
    failed: Mapping[Failure, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Slice:
    """The scores of the questions of one kind, tag or group of readers, or of all."""

    name: str
    questions: int
    scores: tuple[Score, ...]


def summarise(measured: Sequence[Measured]) -> tuple[Slice, ...]:
    """All questions, then each kind and tag, then each group of readers where there are several."""
    return tuple(_slice(name, some) for name, some in sliced(measured).items())


def sliced(measured: Sequence[Measured]) -> dict[str, list[Measured]]:
    """The questions of each slice by its name, `ALL` first. A slice that would be all of them is left out."""
    parts: dict[str, list[Measured]] = {}
    for one in measured:
        for label in one.question.labels:
            parts.setdefault(label, []).append(one)
    for one in measured:
        parts.setdefault(f"as {', '.join(sorted(one.question.groups)) or 'everyone'}", []).append(one)
    return {ALL: list(measured)} | {name: some for name, some in parts.items() if len(some) < len(measured)}


def scores(measured: Sequence[Measured]) -> tuple[Score, ...]:
    """Each measure that some question has, in the order in which they come, and refusal precision and recall."""
    names = dict.fromkeys(name for one in measured for name in (*one.values, *one.failed))
    plain = [_score(name, measured) for name in names if name != REFUSED]
    return (*plain, *(_refusal(measured) if REFUSED in names else ()))


def _slice(name: str, measured: Sequence[Measured]) -> Slice:
    return Slice(name, len(measured), scores(measured))


def _score(name: str, measured: Sequence[Measured]) -> Score:
    values = [one.values[name] for one in measured if name in one.values]
    failed = Counter(one.failed[name] for one in measured if name in one.failed)
    return Score(name, estimate(values) if values else None, failed)


def _refusal(measured: Sequence[Measured]) -> tuple[Score, Score]:
    """Of the refused questions, the share that has no answer; of those that have none, the share refused."""
    asked = [one for one in measured if REFUSED in one.values]
    refused = [one.values[REFUSED] > 0 for one in asked]
    unanswerable = [not one.question.answerable for one in asked]
    return (
        Score("refusal precision", estimate_share(unanswerable, among=refused)),
        Score("refusal recall", estimate_share(refused, among=unanswerable)),
    )
