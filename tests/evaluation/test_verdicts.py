"""What is concluded from a comparison, and how often noise is taken for a change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import scipy.stats

from citewell.evaluation.paired import Pairs
from citewell.evaluation.verdicts import Difference, Pairing, Verdict, differences, overall, reason

Rows = Sequence[tuple[float, float]]


def decided(*families: Rows, worth: float = 0.02) -> list[Difference]:
    names = ("correct", "recall@5", "nDCG@10")
    pairings = [
        Pairing(name, "all questions", Pairs.of_values(*zip(*rows, strict=True)))
        for name, rows in zip(names, families, strict=False)
    ]
    return differences(pairings, worth)


UP: Rows = [(0, 1)] * 10 + [(1, 1)] * 30
DOWN: Rows = [(after, before) for before, after in UP]
SAME: Rows = [(1, 1)] * 40
UNSURE: Rows = [(0, 1)] * 4 + [(1, 0)] * 2 + [(1, 1)] * 34


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        (UP, Verdict.KEEP),
        (DOWN, Verdict.DROP),
        (SAME, Verdict.NO_DIFFERENCE),
        (UNSURE, Verdict.NOT_ENOUGH),
        ([(0, 1)] * 5, Verdict.NOT_ENOUGH),  # all five rose, and 2 / 32 is no proof
        ([(0.50, 0.51)] * 40, Verdict.NO_DIFFERENCE),  # beyond chance, and too little to matter
        ([(0.50, 0.53)] * 40, Verdict.KEEP),
        ([(0.5, 0.5)], Verdict.NO_DIFFERENCE),
    ],
)
def test_of_a_measure(rows: Rows, verdict: Verdict) -> None:
    (found,) = decided(rows)
    assert found.verdict is verdict
    assert (found.needed is not None) is (verdict is Verdict.NOT_ENOUGH)
    assert overall([found]) is verdict


def test_what_is_worth_having_can_be_said() -> None:
    assert decided([(0.50, 0.51)] * 40, worth=0.005)[0].verdict is Verdict.KEEP
    assert decided(UP, worth=0.5)[0].verdict is Verdict.NO_DIFFERENCE


@pytest.mark.parametrize(
    ("families", "verdict"),
    [
        ((UP, SAME), Verdict.KEEP),
        ((UP, UNSURE), Verdict.KEEP),
        ((UP, SAME, DOWN), Verdict.DROP),
        ((UNSURE, DOWN), Verdict.DROP),
        ((SAME, UNSURE), Verdict.NOT_ENOUGH),
        ((SAME, SAME), Verdict.NO_DIFFERENCE),
    ],
)
def test_of_all(families: tuple[Rows, ...], verdict: Verdict) -> None:
    assert overall(decided(*families)) is verdict


def test_what_cannot_be_told_is_not_counted_among_the_tests() -> None:
    """8 rose: 2 / 256. Beside it one question changed, which no p could tell, and one measure where 6 rose: 2 / 64."""
    eight, six, one = ([(0.0, 1.0)] * n + [(1.0, 1.0)] * 20 for n in (8, 6, 1))
    found = decided(eight, one, six)
    assert [each.p for each in found] == [2 / 256, 1.0, 2 / 64]
    assert [each.p_holm for each in found] == [4 / 256, 1.0, 2 / 64]
    assert [each.is_beyond_chance for each in found] == [True, False, True]


class TestNeeded:
    def test_by_the_difference_seen(self) -> None:
        """4 up and 2 down of 40: difference .05, deviation .38895; (2.80158 x .38895 / .05)² + 1.92 = 476.9."""
        (found,) = decided(UNSURE)
        assert found.difference == pytest.approx(0.05)
        assert found.needed == 477

    def test_or_by_the_one_worth_having(self) -> None:
        """3 up and 3 down: nothing to see, so what is looked for is .02, in a deviation of .392."""
        (found,) = decided([(0, 1)] * 3 + [(1, 0)] * 3 + [(1, 1)] * 34)
        assert found.needed == pytest.approx(((1.95996 + 0.84162) * 0.39223 / 0.02) ** 2 + 1.92, abs=1)

    def test_is_more_than_there_are(self) -> None:
        rng = np.random.default_rng(2)
        for _ in range(100):
            rows = rng.normal([0.5, 0.51], [0.0, 0.1], size=(rng.integers(2, 60), 2))
            (found,) = decided([tuple(row) for row in rows.tolist()])
            assert found.needed is None or found.needed > found.questions


class TestReason:
    def test_names_what_is_better_or_worse(self) -> None:
        assert reason(decided(UP, SAME)) == "better beyond chance: correct +0.250 (p 0.002)."
        assert reason(decided(UP, DOWN)) == "worse beyond chance: recall@5 -0.250 (p 0.004)."

    def test_says_how_many_questions_would_do(self) -> None:
        assert reason(decided(UNSURE, SAME)) == (
            "correct changed by +0.050, which 40 questions cannot tell from chance; about 578 would show a difference "
            "of 0.050 with a chance of 80 %."
        )

    def test_names_the_measure_that_needs_the_fewest_more(self) -> None:
        """480 for 80 are 6 times as many, 270 for 10 are 27 times."""
        few: Rows = [(0, 1)] * 2 + [(1, 0)] + [(1, 1)] * 7
        found = decided(few, [*UNSURE, *UNSURE])
        assert found[0].needed is not None
        assert found[1].needed is not None
        assert found[0].needed < found[1].needed
        assert reason(found).startswith("recall@5 changed by +0.050, which 80 questions")

    def test_says_what_no_change_means(self) -> None:
        """With 40 alike, a share of 7.2 % that change would have been missed one time in twenty."""
        assert reason(decided(SAME)) == (
            "the same on each of 40 questions: likely fewer than 7.2 % of such questions change."
        )
        assert reason(decided([(0.50, 0.51)] * 40)) == (
            "every interval lies within 0.02 of 0, the smallest difference worth having."
        )
        assert "every score is 0 in both" in reason(decided([(0, 0)] * 40, [(0, 0)] * 40))


def test_noise_is_taken_for_a_change_at_most_one_time_in_twenty() -> None:
    """Two runs of which it is by chance which comes first, each with three measures of the same 30 questions."""
    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(40):
        first, second = rng.random((2, 30)), rng.random((2, 30)) ** 2
        swapped = rng.random(30) < 0.5
        both = np.where(swapped, [first[0], second[0]], [second[0], first[0]])
        measures = [(both > 0.3).astype(float), both.round(1), both]
        found = decided(*([tuple(row) for row in each.T.tolist()] for each in measures))
        wrong += overall(found) in {Verdict.KEEP, Verdict.DROP}
    assert wrong <= scipy.stats.binom.ppf(0.999, 40, 0.05)
