"""Settings with a technique or two in them, put to the same questions as the settings that there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import inf
from statistics import median
from typing import Protocol

from pydantic import ValidationError

from citewell.evaluation.diagnosing import Proposal
from citewell.evaluation.failures import has_failed
from citewell.evaluation.scored import Scored
from citewell.evaluation.techniques import Patch, patched
from citewell.evaluation.testset import Question
from citewell.settings import Settings


class Ask(Protocol):
    """Puts questions to what the settings make, and has the answers judged. `name` is for a person who waits."""

    def __call__(self, name: str, settings: Settings, questions: Sequence[Question]) -> Scored: ...


@dataclass(frozen=True, slots=True)
class Arm:
    """The settings with the changes of one technique, or two."""

    names: tuple[str, ...]
    patch: Patch
    settings: Settings

    @property
    def name(self) -> str:
        return " and ".join(self.names)


@dataclass(frozen=True, slots=True)
class Tried:
    """An arm on the first of the questions: how many of them failed, and how many of the same do as it is.

    Questions of which nobody can tell in one of the two are not counted. `ms` is the median time of an answer.
    """

    arm: Arm
    questions: int
    failed: int
    failed_before: int
    ms: float

    @property
    def gain(self) -> float:
        """By how much less of the questions fail; minus infinity where none was asked."""
        return (self.failed_before - self.failed) / self.questions if self.questions else -inf


def singles(proposals: Sequence[Proposal], base: Settings) -> list[Arm]:
    """What settings can do, in order, without what reads the files again."""
    arms = [Arm((each.technique.name,), each.patch, patched(base, each.patch)) for each in proposals if each.patch]
    return distinct([arm for arm in arms if arm.settings.loading == base.loading])


def distinct(arms: Sequence[Arm]) -> list[Arm]:
    """Without those whose settings are an earlier one's: two techniques may change what is left of them alike."""
    return [arm for at, arm in enumerate(arms) if not any(arm.settings == earlier.settings for earlier in arms[:at])]


def pairs(arms: Sequence[Arm], base: Settings) -> Iterator[Arm]:
    """Every two that change different keys and go together."""
    for one, other in combinations(arms, 2):
        patch = {**one.patch, **other.patch}
        if one.patch.keys().isdisjoint(other.patch):
            try:
                yield Arm((*one.names, *other.names), patch, patched(base, patch))
            except ValidationError:
                continue  # such as an overlap that is for larger chunks


@dataclass(frozen=True, slots=True)
class Trials:
    """What each arm was asked. One that is asked more goes on where it was; none is while it is not `in_time`.

    `before` says of each question whether it fails as it is.
    """

    questions: Sequence[Question]
    before: Sequence[bool | None]
    ask: Ask
    in_time: Callable[[], bool]
    _after: dict[tuple[str, ...], list[bool | None]] = field(default_factory=dict)
    _ms: dict[tuple[str, ...], list[float]] = field(default_factory=dict)

    @property
    def asked(self) -> int:
        """How many questions all arms together were asked."""
        return sum(map(len, self._after.values()))

    def gain(self, arm: Arm, number: int) -> float:
        """See `Tried.gain`, on the first `number` questions, or fewer where there was no time."""
        known = self._after.setdefault(arm.names, [])
        if number > len(known) and self.in_time():
            scored = self.ask(arm.name, arm.settings, self.questions[len(known) : number])
            known += failures(scored, arm.settings)
            self._ms.setdefault(arm.names, []).extend(outcome.answer_ms for outcome in scored.outcomes)
        return self.tried(arm, number).gain

    def tried(self, arm: Arm, number: int | None = None) -> Tried:
        """How the arm did on the first `number` of the questions that it was asked; by default all."""
        after = self._after.get(arm.names, ())[:number]
        told = [(old, new) for old, new in zip(self.before, after, strict=False) if old is not None and new is not None]
        return Tried(
            arm,
            questions=len(told),
            failed=sum(new for _, new in told),
            failed_before=sum(old for old, _ in told),
            ms=median(self._ms.get(arm.names) or [0.0]),
        )


def failures(scored: Scored, settings: Settings) -> list[bool | None]:
    """Which questions of a run failed: see `has_failed`."""
    keep = settings.retrieval.keep
    run = zip(scored.outcomes, scored.measured, strict=True)
    return [has_failed(outcome, measured, keep) for outcome, measured in run]
