"""Fitting a floor: figures worked out by hand, the AUC pair by pair, and honesty where nothing separates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple

import numpy as np
import pytest

from citewell.errors import UsageError
from citewell.evaluation.calibration import MIN_EACH, Evidenced, Point, curve_of, enough, evidenced, figures, fit
from citewell.evaluation.runs import run
from citewell.evaluation.testset import Evidence, Question
from citewell.index import Index
from citewell.types import Floor, FloorOrigin

YES = Question(question="Is it here?")
NO = Question(question="Is it not?", answerable=False)


def found(yes: Sequence[float], no: Sequence[float]) -> tuple[Evidenced, ...]:
    return (*(Evidenced(YES, value) for value in yes), *(Evidenced(NO, value) for value in no))


def drawn(seed: int, answerable: float, other: float, number: int = 60) -> tuple[Evidenced, ...]:
    rng = np.random.default_rng(seed)
    yes, no = (rng.normal(mean, 0.1, number).tolist() for mean in (answerable, other))
    return found(yes, no)


def settings(least: float) -> Floor:
    return Floor(FloorOrigin.SETTINGS, least)


SMALL = found([0.6, 0.7, 0.8, 0.9], [0.1, 0.2, 0.3, 0.65])


# The curve


def test_every_floor_that_changes_something_is_on_the_curve() -> None:
    curve = fit(SMALL)
    assert [point.floor for point in curve.points] == pytest.approx(
        [0.1, 0.15, 0.25, 0.45, 0.625, 0.675, 0.75, 0.85, 0.9]
    )
    assert curve.points[0] == Point(0.1, None, 0, 1, 0.5)
    assert astuple(curve.points[4]) == pytest.approx((0.625, 0.75, 0.75, 0.75, 0.75))
    assert curve.points[-1] == Point(float(np.nextafter(0.9, 1)), 0.5, 1, 0, 0.5)
    assert (curve.answerable, curve.unanswerable, curve.objective.unanswerable) == (4, 4, 0.5)


def test_the_best_floor_makes_most_right_decisions_at_the_rate_asked_for() -> None:
    assert astuple(fit(SMALL).best) == pytest.approx((0.45, 1, 0.75, 1, 0.875))
    # Of 0.675 the last unanswerable question is refused, and one of the four others: worth it where most are such.
    mostly = fit(SMALL, unanswerable=0.9).best
    assert (mostly.floor, mostly.refusal_recall, mostly.answered) == pytest.approx((0.675, 1, 0.75))
    assert mostly.right == pytest.approx(0.1 * 0.75 + 0.9)
    assert mostly.refusal_precision == pytest.approx(0.9 / (0.9 + 0.1 * 0.25))


def test_the_highest_floor_that_answers_enough() -> None:
    best = fit(found([0.2, 0.6, 0.7, 0.8], [0.1, 0.3, 0.3, 0.65]), answer_at_least=0.75).best
    assert (best.floor, best.answered, best.refusal_recall) == pytest.approx((0.45, 0.75, 0.75))
    all_of_them = fit(found([0.2, 0.6, 0.7, 0.8], [0.1, 0.3, 0.3, 0.65]), answer_at_least=1).best
    assert (all_of_them.floor, all_of_them.answered, all_of_them.refusal_recall) == pytest.approx((0.15, 1, 0.25))


def test_a_code_decides_at_every_floor() -> None:
    curve = fit(found([math.inf, 0.6, 0.7], [-math.inf, 0.1, math.inf]))
    first, last = curve.points[0], curve.points[-1]
    assert (first.refusal_recall, first.answered) == pytest.approx((1 / 3, 1))
    assert (last.refusal_recall, last.answered) == pytest.approx((2 / 3, 1 / 3))
    only_codes = fit(found([math.inf] * 20, [-math.inf] * 20))
    assert not only_codes.separates  # no floor is needed
    assert only_codes.auc.mean == 1


@pytest.mark.parametrize("seed", range(3))
def test_the_auc_is_the_share_of_pairs_in_the_right_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    yes, no = (rng.integers(0, 12, 30) / 10).tolist(), (rng.integers(0, 10, 40) / 10).tolist()  # with many ties
    curve = fit(found(yes, no))
    pairs = [1 if one > other else 0.5 if one == other else 0 for one in yes for other in no]
    assert curve.auc.mean == pytest.approx(sum(pairs) / len(pairs), abs=1e-12)
    assert curve.auc.low < curve.auc.mean < curve.auc.high


# What it is worth


def test_what_lies_apart_is_separated_on_held_out_questions() -> None:
    curve = fit(drawn(1, 0.8, 0.2))
    assert curve.separates
    assert curve.floor == curve.best.floor
    assert 0.4 < curve.best.floor < 0.6
    assert curve.held_out.refusal_recall.mean > 0.95
    assert curve.gain.mean == pytest.approx(curve.held_out.right.mean - 0.5)
    assert len(curve.fold_floors) == 5
    assert all(0.4 < floor < 0.6 for floor in curve.fold_floors)


def test_figures_of_held_out_questions_are_not_those_of_the_fit() -> None:
    """Where there is nothing to learn, the best floor looks good on the questions that it was chosen on alone."""
    curves = [fit(drawn(seed, 0.5, 0.5, 30)) for seed in range(20)]
    assert np.mean([curve.best.right for curve in curves]) > 0.55
    assert np.mean([curve.held_out.right.mean for curve in curves]) < 0.53
    assert sum(curve.separates for curve in curves) <= 1
    assert all(curve.floor is None for curve in curves if not curve.separates)


def test_refusing_everything_is_not_telling_apart() -> None:
    curve = fit(drawn(3, 0.55, 0.5, 40), unanswerable=0.9)
    assert curve.objective.refusing_all
    assert curve.held_out.right.mean > 0.8  # but so much is right if every question is refused
    assert curve.gain.low <= 0
    assert not curve.separates


def test_more_evidence_for_the_unanswerable_is_no_floor() -> None:
    assert not fit(drawn(4, 0.3, 0.7)).separates


def test_figures_of_a_floor_that_was_not_fitted() -> None:
    done = figures(SMALL, settings(0.625))
    assert done.refusal_precision is not None
    assert done.refusal_precision.mean == 0.75
    assert (done.refusal_recall.mean, done.answered.mean, done.right.mean) == (0.75, 0.75, 0.75)
    assert (done.refusal_recall.questions, done.right.questions) == (4, 8)
    assert done.answered.low < 0.75 < done.answered.high
    rare = figures(SMALL, settings(0.625), unanswerable=0.1)
    assert rare.refusal_precision is not None
    assert rare.refusal_precision.mean == pytest.approx(0.075 / (0.075 + 0.225))
    off = figures(found([0.5], [-math.inf]), Floor(FloorOrigin.OFF))
    assert (off.refusal_precision, off.refusal_recall.mean, off.answered.mean) == (None, 0, 1)
    codes = figures(found([0.5], [-math.inf]), Floor(FloorOrigin.NOT_CALIBRATED))
    assert (codes.refusal_recall.mean, codes.answered.mean) == (1, 1)


# On an index


def test_evidence_is_what_the_questions_reader_would_find(bank: Index) -> None:
    secret = Question(
        question="At which score are alerts declined?",
        evidence=(Evidence(document="limits.md", quote="score of 85"),),
        groups=("fraud_team",),
    )
    not_allowed = secret.model_copy(update={"answerable": False, "groups": ()})
    nowhere = Question(question="What does code Q-99 mean?", answerable=False)
    calls: list[tuple[int, int]] = []
    first, second, third = evidenced(bank, [secret, not_allowed, nowhere], lambda *call: calls.append(call))
    assert first.evidence > second.evidence + 0.2
    assert third.evidence == -math.inf
    assert calls == [(1, 3), (2, 3), (3, 3)]


def test_the_curve_of_a_run_is_that_of_the_same_questions_asked_for_it(bank: Index) -> None:
    asked = [Question(id=f"yes-{n}", question=f"How long is a dispute open in case {n}?") for n in range(MIN_EACH)]
    asked += [
        Question(id=f"no-{n}", question=f"Who won the cup of {1900 + n}?", answerable=False) for n in range(MIN_EACH)
    ]
    outcomes = run(bank, asked, answers=False)
    keep = bank.settings.retrieval.keep
    assert curve_of(outcomes, keep) == fit(evidenced(bank, asked))
    assert curve_of(outcomes[1:], keep) is None


def test_too_few_questions_are_refused_with_how_many_are_missing() -> None:
    questions = [YES] * 25 + [NO] * 3
    with pytest.raises(UsageError, match=r"there are 25 and 3") as caught:
        enough(questions)
    assert "Add 17 unanswerable questions" in caught.value.remedy
    with pytest.raises(UsageError) as both:
        enough([YES])
    assert f"Add {MIN_EACH - 1} answerable and {MIN_EACH} unanswerable questions" in both.value.remedy
    with pytest.raises(ValueError, match="answerable and unanswerable"):
        fit(found([0.5], []))
    enough([YES] * MIN_EACH + [NO] * MIN_EACH)


def test_asking_and_fitting_change_nothing(bank: Index) -> None:
    yes = Question(question="How many days does a customer have to dispute a card payment?")
    no = Question(question="Which composer wrote the opera about the barber?", answerable=False)
    before = bank.status().floor
    curve = fit(evidenced(bank, [yes] * 20 + [no] * 20))
    assert curve.separates
    assert curve.best.refusal_recall == curve.best.answered == 1
    assert bank.status().floor == before
