"""The techniques proposed for the failures, tried on half of a test set, and the best confirmed on the other half."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from random import Random

from citewell.checking.judge import Judge
from citewell.errors import UsageError
from citewell.evaluation.arms import Arm, Ask, Trials, Tried, distinct, failures, pairs, singles
from citewell.evaluation.comparison import Compared, compare
from citewell.evaluation.diagnosing import Diagnosis, diagnose
from citewell.evaluation.halving import halve, most_arms
from citewell.evaluation.paired import Pairs
from citewell.evaluation.scored import Scored
from citewell.evaluation.summary import ALL
from citewell.evaluation.testset import Question
from citewell.evaluation.variants import Workbench
from citewell.evaluation.verdicts import Difference, Pairing, Verdict, differences
from citewell.settings import Settings

LEAST = 8
"""Questions that each of the techniques is tried on at first."""

PAIRED = 3
"""How many of the best are tried in pairs."""

FOR_PAIRS = 1 / 3
"""Their share of the budget."""

AS_IT_IS = "as it is"


@dataclass(frozen=True, slots=True)
class Budget:
    """What trying may take, in question-runs or in minutes.

    The question-runs are those of the techniques; the minutes hold everything, the confirmation too.
    """

    questions: int | None = None
    minutes: float | None = None

    def __post_init__(self) -> None:
        if (self.questions is None) == (self.minutes is None):
            raise ValueError("a budget is of question-runs or of minutes")


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The best on questions that it was not chosen by.

    `succeeded` is the share of them that do not fail, before and after; `compared` has every measure.
    """

    succeeded: Difference
    compared: Compared

    @property
    def is_kept(self) -> bool:
        """Fewer fail, by more than chance, and no headline measure is worse by more than chance."""
        return self.succeeded.verdict is Verdict.KEEP and self.compared.verdict is not Verdict.DROP


@dataclass(frozen=True, slots=True)
class Tuned:
    """What was tried, best first, on `tuning` questions. `asked` counts the question-runs of it.

    `best` is None where nothing fails less often than it does as it is. `confirmation` is on the `confirming` others.
    """

    tuning: int
    confirming: int
    diagnosis: Diagnosis
    tried: tuple[Tried, ...]
    not_tried: tuple[Arm, ...]
    asked: int
    best: Tried | None
    confirmation: Confirmation | None


def tune(
    bench: Workbench,
    questions: Sequence[Question],
    *,
    ask: Ask,
    judge: Judge,
    budget: Budget,
    clock: Callable[[], float] = time.monotonic,
) -> Tuned:
    """Try what the diagnosis of half the questions proposes, and pairs of the best; confirm the best on the others.

    Raises:
        UsageError: there are too few questions for two halves, or none of the other half is judged.
        CitewellError: as `Workbench.opened`.
    """
    begin = clock()
    if len(questions) < 2 * LEAST:
        raise UsageError(
            f"{len(questions)} questions are too few to tune on half of them.",
            remedy=f"Give at least {2 * LEAST}; some hundreds tell more.",
        )
    tuning, confirming = halves(questions)
    before = ask(AS_IT_IS, bench.settings, tuning)
    took = max(clock() - begin, _unspared_s(before))
    with bench.opened(bench.settings) as index:
        diagnosis = diagnose(index, before, judge)
    until, runs = _limits(budget, begin, clock(), took / len(tuning), len(confirming))
    trials = Trials(tuning, failures(before, bench.settings), ask, lambda: clock() < until)
    arms = _best_first(trials, singles(diagnosis.proposals, bench.settings), bench.settings, runs)
    tried = [trials.tried(arm) for arm in arms]
    best = next((each for each in tried if each.gain > 0), None)
    return Tuned(
        tuning=len(tuning),
        confirming=len(confirming),
        diagnosis=diagnosis,
        tried=tuple(each for each in tried if each.questions),
        not_tried=tuple(each.arm for each in tried if not each.questions),
        asked=trials.asked,
        best=best,
        confirmation=_confirmed(best.arm, bench.settings, confirming, ask) if best is not None else None,
    )


def halves(questions: Sequence[Question], seed: int = 0) -> tuple[list[Question], list[Question]]:
    """The questions in two halves with as many of each kind, each in an order that begins with some of every kind."""
    kinds: dict[str, list[Question]] = {}
    for question in questions:
        kinds.setdefault(question.kind, []).append(question)
    random = Random(seed)  # noqa: S311  # no secret
    placed: list[tuple[float, int, Question]] = []
    for of_kind in kinds.values():
        random.shuffle(of_kind)
        for at, question in enumerate(of_kind):
            placed.append(((at + random.random()) / len(of_kind), len(placed) % 2, question))
    placed.sort(key=lambda each: each[0])
    first, second = ([question for _, half, question in placed if half == wanted] for wanted in (0, 1))
    return first, second


def _unspared_s(scored: Scored) -> float:
    """How long a run would have taken had nothing been remembered: what is tried next is not."""
    return sum(outcome.search_ms + outcome.answer_ms for outcome in scored.outcomes) / 1000


def _limits(budget: Budget, begin: float, now: float, a_question: float, confirming: int) -> tuple[float, int]:
    """Until when there is time, and for how many question-runs from now on, where one takes `a_question` seconds."""
    if budget.minutes is None:
        return inf, budget.questions or 0
    until = begin + budget.minutes * 60 - 2 * confirming * a_question  # to confirm is to run them twice
    return until, max(0, int((until - now) / a_question))


def _best_first(trials: Trials, arms: Sequence[Arm], base: Settings, runs: int) -> list[Arm]:
    """All of them and pairs of the best, after trying as many as so many runs allow."""
    most, for_pairs = len(trials.questions), int(runs * FOR_PAIRS)
    chosen = most_arms(runs - for_pairs, LEAST)
    ranked = halve(arms[:chosen], most, runs - for_pairs, trials.gain)
    better = [arm for arm in ranked[:PAIRED] if trials.tried(arm).gain > 0]
    paired = distinct([*arms, *pairs(better, base)])[len(arms) :]
    # The best one goes with them: a pair must do better than it.
    again = [*better[:1], *paired][: most_arms(for_pairs, LEAST)] if paired else []
    first = halve(again, most, for_pairs, trials.gain)
    return [*first, *(arm for arm in (*ranked, *paired, *arms[chosen:]) if arm not in first)]


def _confirmed(arm: Arm, base: Settings, questions: Sequence[Question], ask: Ask) -> Confirmation:
    before, after = ask(AS_IT_IS, base, questions), ask(arm.name, arm.settings, questions)
    told = [
        (1.0 - old, 1.0 - new)
        for old, new in zip(failures(before, base), failures(after, arm.settings), strict=True)
        if old is not None and new is not None
    ]
    if not told:
        raise UsageError(
            "Of no question to confirm with can be told whether it failed.",
            remedy="See why its answers are not judged: citewell evaluate.",
        )
    pairing = Pairing("succeeded", ALL, Pairs.of_values(*zip(*told, strict=True)), len(questions) - len(told))
    return Confirmation(differences([pairing])[0], compare(before.measured, after.measured))
