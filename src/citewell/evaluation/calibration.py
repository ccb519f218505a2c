"""The floor that fits an index, its embedder and its questions: fitted, put to the proof, and drawn as a curve.

A question is refused at a floor above the best evidence that retrieval finds for it. The floor is chosen on all
questions; what it is said to do comes from cross-validation: each question is decided on by a floor fitted to four
fifths of the others. A share of refusals is put together at the rate of unanswerable questions that is asked for, so a
test set may hold more of them than people ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from citewell.errors import UsageError
from citewell.evaluation.metrics import RESAMPLES, Estimate, percentile_interval
from citewell.evaluation.runs import OnQuestion, Outcome, reader_of
from citewell.evaluation.testset import Question
from citewell.index import Index
from citewell.retrieval.floor import best_evidence
from citewell.types import Floor, FloorOrigin

MIN_EACH = 20
"""Answerable and unanswerable questions each: with fewer, an interval is as wide as what it is to tell."""

FOLDS = 5
CHANCE = 0.5

Values = NDArray[np.float64]
Decisions = NDArray[np.bool_]
"""Of one kind of questions: which are answered, or which are refused."""


@dataclass(frozen=True, slots=True)
class Evidenced:
    """A question and the best evidence found for it: -1 to 1.15, or infinite where a code decides."""

    question: Question
    evidence: float


@dataclass(frozen=True, slots=True)
class Objective:
    """What the best floor is. By default the one with the most right decisions at the rate of `unanswerable` questions;
    with `answer_at_least` the highest that answers this share of the answerable ones.
    """

    unanswerable: float
    answer_at_least: float | None = None

    @property
    def refusing_all(self) -> bool:
        """Whether the best that can be done without a floor is to refuse every question, not to answer every one."""
        return self.answer_at_least is None and self.unanswerable > CHANCE


@dataclass(frozen=True, slots=True)
class Point:
    """What a floor does: of the refused questions the share without an answer (None where none is refused), of those
    without an answer the share refused, of the others the share answered, and of all the share decided rightly."""

    floor: float
    refusal_precision: float | None
    refusal_recall: float
    answered: float
    right: float


@dataclass(frozen=True, slots=True)
class Figures:
    """As `Point`, with intervals."""

    refusal_precision: Estimate | None
    refusal_recall: Estimate
    answered: Estimate
    right: Estimate


@dataclass(frozen=True, slots=True)
class Curve:
    """Every floor worth a thought, ascending, the best of them, and whether it is worth having.

    `held_out` is what floors do to questions that they were not fitted to, `gain` how much larger the share of right
    decisions is there than without a floor (or by refusing all, where that is better), `fold_floors` those floors.
    `auc` is the chance that an answerable question has more evidence than one that is not (Mann and Whitney 1947).
    """

    objective: Objective
    answerable: int
    unanswerable: int
    points: tuple[Point, ...]
    best: Point
    auc: Estimate
    held_out: Figures
    gain: Estimate
    fold_floors: tuple[float, ...]

    @property
    def separates(self) -> bool:
        """Whether evidence tells the two kinds apart, and the floor does better than none, both beyond the noise."""
        return self.auc.low > CHANCE and self.gain.low > 0

    @property
    def floor(self) -> float | None:
        """The floor to keep; None where nothing separates."""
        return self.best.floor if self.separates else None


def lacking(questions: Sequence[Question]) -> list[str]:
    """What is missing to `MIN_EACH` questions of each kind, as `17 unanswerable`; [] where nothing is."""
    answerable = sum(question.answerable for question in questions)
    counts = {"answerable": answerable, "unanswerable": len(questions) - answerable}
    return [f"{MIN_EACH - number} {kind}" for kind, number in counts.items() if number < MIN_EACH]


def enough(questions: Sequence[Question]) -> None:
    """Raises UsageError where there are fewer than `MIN_EACH` answerable or unanswerable questions."""
    missing = lacking(questions)
    if missing:
        answerable = sum(question.answerable for question in questions)
        raise UsageError(
            f"A floor is fitted to {MIN_EACH} answerable and {MIN_EACH} unanswerable questions at least; there are "
            f"{answerable} and {len(questions) - answerable}.",
            remedy=f'Add {" and ".join(missing)} questions to the test set; "answerable": false marks one that the '
            "documents do not answer.",
        )


def evidenced(
    index: Index, questions: Sequence[Question], on_question: OnQuestion | None = None
) -> tuple[Evidenced, ...]:
    """The best evidence that `ask` would see for each question, asked with its groups and on its day.

    Raises:
        FingerprintMismatch: the embedder is not the one that made the index.
    """
    found = []
    for question in questions:
        hits = index.search(question.question, principal=reader_of(question), as_of=question.as_of)
        found.append(Evidenced(question, best_evidence(question.question, hits)))
        if on_question is not None:
            on_question(len(found), len(questions))
    return tuple(found)


def curve_of(outcomes: Sequence[Outcome], keep: int) -> Curve | None:
    """The curve of a run whose answers are made of `keep` passages; None where it has too few questions of a kind."""
    if lacking([outcome.question for outcome in outcomes]):
        return None
    return fit(
        [
            Evidenced(outcome.question, best_evidence(outcome.question.question, outcome.hits[:keep]))
            for outcome in outcomes
        ]
    )


def fit(
    found: Sequence[Evidenced], *, unanswerable: float | None = None, answer_at_least: float | None = None
) -> Curve:
    """The curve of these questions, of which there are some of each kind.

    `unanswerable` is the share of such questions among those that people ask; by default that of the test set.

    Raises:
        ValueError: there is no question of one kind.
    """
    yes, no = _split(found)
    objective = Objective(len(no) / len(found) if unanswerable is None else unanswerable, answer_at_least)
    points = _points(yes, no, objective)
    answered, refused, floors = _decided_by_folds(yes, no, objective)
    without = np.inf if objective.refusing_all else -np.inf  # the rule on codes is in force in any case
    return Curve(
        objective=objective,
        answerable=len(yes),
        unanswerable=len(no),
        points=points,
        best=_best(points, objective),
        auc=_auc(yes, no),
        held_out=_figures(answered, refused, objective.unanswerable),
        gain=_gain((answered, refused), (_passes(yes, without), ~_passes(no, without)), objective.unanswerable),
        fold_floors=floors,
    )


def figures(found: Sequence[Evidenced], floor: Floor, unanswerable: float | None = None) -> Figures:
    """What a floor that was not fitted to these questions does to them."""
    yes, no = _split(found)
    rate = len(no) / len(found) if unanswerable is None else unanswerable
    if floor.origin is FloorOrigin.OFF:
        return _figures(np.ones(len(yes), dtype=bool), np.zeros(len(no), dtype=bool), rate)
    least = -np.inf if floor.least is None else floor.least
    return _figures(_passes(yes, least), ~_passes(no, least), rate)


def _split(found: Sequence[Evidenced]) -> tuple[Values, Values]:
    """The evidence of the answerable questions, and of the others."""
    sides = [[each.evidence for each in found if each.question.answerable is wanted] for wanted in (True, False)]
    if not all(sides):
        raise ValueError("a floor is fitted to answerable and unanswerable questions")
    return np.array(sides[0]), np.array(sides[1])


def _passes(values: Values, floor: float) -> Decisions:
    return (values >= floor) & (values > -np.inf)


def _points(yes: Values, no: Values, objective: Objective) -> tuple[Point, ...]:
    """A floor that refuses nothing, one between each two neighbouring values, and one that refuses all."""
    values = np.unique(np.concatenate([yes, no]))
    values = values[np.isfinite(values)]
    if not len(values):  # codes decide on every question: one floor is as good as another
        values = np.zeros(1)
    floors = np.concatenate([values[:1], (values[1:] + values[:-1]) / 2, np.nextafter(values[-1:], np.inf)])
    answered = 1 - np.searchsorted(np.sort(yes), floors) / len(yes)
    recall = np.searchsorted(np.sort(no), floors) / len(no)
    right, precision = _right(answered, recall, objective.unanswerable), _precision(answered, recall, objective)
    columns = zip(floors, precision, recall, answered, right, strict=True)
    return tuple(
        Point(float(floor), None if np.isnan(p) else float(p), float(c), float(a), float(r))
        for floor, p, c, a, r in columns
    )


def _right(answered: Values, recall: Values, rate: float) -> Values:
    return (1 - rate) * answered + rate * recall


def _precision(answered: Values, recall: Values, objective: Objective) -> Values:
    """NaN where nothing is refused."""
    rate = objective.unanswerable
    refused = rate * recall + (1 - rate) * (1 - answered)
    return np.divide(rate * recall, refused, out=np.full_like(refused, np.nan), where=refused > 0)


def _best(points: Sequence[Point], objective: Objective) -> Point:
    """Of equals the lowest: it hides the fewest answers."""
    if objective.answer_at_least is None:
        return max(points, key=lambda point: point.right)
    allowed = [point for point in points if point.answered >= objective.answer_at_least]
    return max(allowed or points[:1], key=lambda point: point.refusal_recall)


def _decided_by_folds(
    yes: Values, no: Values, objective: Objective, seed: int = 0
) -> tuple[Decisions, Decisions, tuple[float, ...]]:
    """Which answerable questions are answered and which others refused, by floors fitted without them."""
    rng = np.random.default_rng(seed)
    fold_of_yes, fold_of_no = (rng.permutation(len(side)) % FOLDS for side in (yes, no))
    answered, refused, floors = np.zeros(len(yes), dtype=bool), np.zeros(len(no), dtype=bool), []
    for fold in range(FOLDS):
        out_yes, out_no = fold_of_yes == fold, fold_of_no == fold
        floors.append(_best(_points(yes[~out_yes], no[~out_no], objective), objective).floor)
        answered[out_yes] = _passes(yes[out_yes], floors[-1])
        refused[out_no] = ~_passes(no[out_no], floors[-1])
    return answered, refused, tuple(floors)


def _figures(answered: Decisions, refused: Decisions, rate: float, seed: int = 0) -> Figures:
    """Bootstrap intervals over questions, each kind drawn by itself, so that the rate stays what it is."""
    shares, recalls = _drawn(answered, refused, seed)
    objective, count = Objective(rate), len(answered) + len(refused)
    precisions = _precision(shares, recalls, objective)
    refuses = not np.isnan(precisions[0])
    return Figures(
        _interval(precisions[~np.isnan(precisions)], count) if refuses else None,
        _interval(recalls, len(refused)),
        _interval(shares, len(answered)),
        _interval(_right(shares, recalls, rate), count),
    )


def _drawn(answered: Decisions, refused: Decisions, seed: int) -> tuple[Values, Values]:
    """The two shares as they are, then of `RESAMPLES` resamples: so many of n yes-or-no values is a binomial draw."""
    rng = np.random.default_rng(seed)
    both = []
    for decided in (answered, refused):
        share = decided.mean()
        both.append(np.concatenate([[share], rng.binomial(len(decided), share, RESAMPLES) / len(decided)]))
    return both[0], both[1]


def _gain(
    mine: tuple[Decisions, Decisions], other: tuple[Decisions, Decisions], rate: float, seed: int = 0
) -> Estimate:
    """How many more questions are decided rightly, of all at this rate: each question compared with itself."""
    rng = np.random.default_rng(seed)
    total = np.zeros(RESAMPLES + 1)
    for own, their, weight in zip(mine, other, (1 - rate, rate), strict=True):
        total += weight * (_counts(len(own), rng) @ (own.astype(np.float64) - their)) / len(own)
    return _interval(total, sum(map(len, mine)))


def _auc(yes: Values, no: Values, seed: int = 0) -> Estimate:
    """Mann and Whitney's U over the number of pairs; a tie is half a win."""
    rng = np.random.default_rng(seed)
    wins = (yes[:, None] > no) + 0.5 * (yes[:, None] == no)
    values = ((_counts(len(yes), rng) @ wins) * _counts(len(no), rng)).sum(axis=1)
    return _interval(values / wins.size, len(yes) + len(no))


def _counts(number: int, rng: np.random.Generator) -> Values:
    """How often each of so many questions counts, shape (1 + RESAMPLES, number): once, then as in each resample."""
    return np.concatenate([np.ones((1, number)), rng.multinomial(number, np.full(number, 1 / number), RESAMPLES)])


def _interval(values: Values, questions: int) -> Estimate:
    """The first value, with the percentile interval of the others, which are those of resamples."""
    return Estimate(float(values[0]), *percentile_interval(values[1:] if len(values) > 1 else values), questions)
