"""Paired statistics: by hand, against every swap written out, and against scipy."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from citewell.evaluation.metrics import estimate
from citewell.evaluation.paired import (
    PERMUTATIONS,
    Pairs,
    holm,
    interval,
    least_p,
    questions_needed,
    sign_flip,
    spread,
)

VALUES = st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0])
ROWS = st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=7)


def pairs_of(rows: Sequence[tuple[float, float]]) -> Pairs:
    return Pairs.of_values(*zip(*rows, strict=True))


def ratio(above: Sequence[Sequence[float]], below: Sequence[Sequence[float]]) -> Pairs:
    return Pairs(np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64))


def by_every_swap(rows: Sequence[tuple[float, float]]) -> float:
    """The p value, each of the 2^n signs tried, in twelfths."""
    steps = [round(12 * after) - round(12 * before) for before, after in rows]
    seen = abs(sum(steps))
    sums = [abs(int(np.dot(signs, steps))) for signs in product([1, -1], repeat=len(steps))]
    return sum(each >= seen for each in sums) / len(sums)


class TestSignFlip:
    def test_by_hand(self) -> None:
        """Three of five rose: of the 8 ways to sign them, all up and all down are as large."""
        pairs = pairs_of([(0, 1), (0, 1), (0, 1), (1, 1), (0, 0)])
        assert sign_flip(pairs) == 2 / 8
        assert least_p(pairs) == 2 / 8

    def test_two_equal_runs_have_1(self) -> None:
        pairs = pairs_of([(0.3, 0.3)] * 200)
        assert (sign_flip(pairs), least_p(pairs)) == (1.0, 1.0)

    @given(ROWS)
    def test_is_that_of_every_swap(self, rows: list[tuple[float, float]]) -> None:
        pairs = pairs_of(rows)
        p = sign_flip(pairs)
        assert p == by_every_swap(rows)
        assert least_p(pairs) <= p <= 1

    @given(ROWS)
    def test_knows_no_order_and_no_direction(self, rows: list[tuple[float, float]]) -> None:
        turned = [(after, before) for before, after in rows]
        assert sign_flip(pairs_of(rows)) == sign_flip(pairs_of(turned)) == sign_flip(pairs_of(rows[::-1]))

    @pytest.mark.parametrize("seed", range(5))
    def test_equals_scipys_exact_test(self, seed: int) -> None:
        before, after = np.random.default_rng(seed).random((2, 10))
        oracle = scipy.stats.permutation_test(
            (before, after), lambda b, a, axis: (a - b).mean(axis=axis), permutation_type="samples", vectorized=True
        )
        assert sign_flip(Pairs.of_values(before.tolist(), after.tolist())) == pytest.approx(oracle.pvalue, abs=1e-12)

    def test_draws_where_there_are_too_many(self) -> None:
        """28 of 40 rose by the same: a sign test, whose p is the binomial's."""
        pairs = pairs_of([(0, 1)] * 28 + [(1, 0)] * 12 + [(1, 1)] * 60)
        assert sign_flip(pairs) == pytest.approx(scipy.stats.binomtest(28, 40).pvalue, abs=0.004)
        assert sign_flip(pairs) == sign_flip(pairs)

    def test_a_drawn_p_is_never_0(self) -> None:
        assert sign_flip(pairs_of([(0, 1)] * 60)) == 1 / (1 + PERMUTATIONS)

    def test_of_a_ratio_by_hand(self) -> None:
        """Of two refusals one was right, of four now three.

        The 4 swaps of the two new ones: 3/4 - 1/2, 2/3 - 2/3 twice, 1/2 - 3/4.
        """
        pairs = ratio([[1, 0, 0, 0], [1, 0, 1, 1]], [[1, 1, 0, 0], [1, 1, 1, 1]])
        assert pairs.scores == (1 / 2, 3 / 4)
        assert pairs.differ.tolist() == [False, False, True, True]
        assert sign_flip(pairs) == 2 / 4

    def test_a_swap_that_leaves_no_ratio_counts_as_large(self) -> None:
        pairs = ratio([[1, 0], [0, 0]], [[1, 0], [0, 1]])
        assert pairs.scores == (1.0, 0.0)
        assert sign_flip(pairs) == 1.0

    def test_false_alarms_are_at_most_one_in_twenty(self) -> None:
        rng = np.random.default_rng(5)
        alarms = 0
        for _ in range(400):
            sizes, signs = rng.choice([0, 0.1, 0.5, 1], size=12), rng.choice([-1, 1], size=12)
            alarms += sign_flip(Pairs.of_values([0.0] * 12, (sizes * signs).tolist())) < 0.05
        assert alarms <= scipy.stats.binom.ppf(0.999, 400, 0.05)


class TestInterval:
    @given(ROWS)
    def test_of_means_is_that_of_the_differences(self, rows: list[tuple[float, float]]) -> None:
        low, high = interval(pairs_of(rows))
        expected = estimate([after - before for before, after in rows])
        assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-12)

    def test_in_blocks_it_is_as_in_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rng = np.random.default_rng(0)
        pairs = Pairs.of_values(*rng.random((2, 50)).tolist())
        whole, at_once = interval(pairs), sign_flip(pairs)
        monkeypatch.setattr("citewell.evaluation.paired._CELLS", 50 * 2 * 100)
        assert interval(pairs) == pytest.approx(whole, abs=0.02)
        assert sign_flip(pairs) == pytest.approx(at_once, abs=0.02)

    def test_of_a_ratio_leaves_out_what_has_none(self) -> None:
        """Precision 1 in both whatever is drawn, where anything is."""
        assert interval(ratio([[1, 0], [1, 1]], [[1, 0], [1, 1]])) == (0.0, 0.0)


def test_holm_by_hand() -> None:
    """In order .005 x 4, .01 x 3, .03 x 2, .04 x 1, and none below the one before it."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_is_between_p_and_bonferroni(ps: list[float]) -> None:
    corrected = holm(ps)
    assert all(p <= each <= min(1, p * len(ps)) for p, each in zip(ps, corrected, strict=True))
    assert sorted(corrected) == [corrected[at] for at in sorted(range(len(ps)), key=ps.__getitem__)]


def test_spread_is_that_of_the_differences() -> None:
    assert spread(pairs_of([(0, 1), (0, 0), (1, 1), (1, 0.5)])) == pytest.approx(np.std([1, 0, 0, -0.5], ddof=1))
    assert spread(pairs_of([(0, 1)])) == 0.0


class TestQuestionsNeeded:
    def test_by_hand(self) -> None:
        """(1.960 + 0.842)² 0.3² / 0.1² + 1.960² / 2 = 70.6 + 1.9."""
        assert questions_needed(0.3, 0.1) == 73

    @pytest.mark.parametrize(("deviation", "size", "tests"), [(0.3, 0.1, 1), (0.4, 0.02, 1), (0.2, 0.08, 7)])
    def test_has_the_power_that_it_says(self, deviation: float, size: float, tests: int) -> None:
        def power(number: int) -> float:
            limit = scipy.stats.t.ppf(1 - 0.05 / tests / 2, number - 1)
            return float(scipy.stats.nct.sf(limit, number - 1, size / deviation * number**0.5))

        needed = questions_needed(deviation, size, tests)
        assert power(needed + 1) >= 0.8
        assert power(needed - 2) < 0.8

    def test_is_never_less_than_a_sign_flip_test_can_tell(self) -> None:
        """All of 6 that rise: 2 / 64 is below .05, 2 / 32 is not; below .05 / 4 needs 8."""
        assert questions_needed(0.0, 0.5) == 6
        assert questions_needed(0.0, 0.5, tests=4) == 8
