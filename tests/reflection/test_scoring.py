"""Scores from probabilities, against sums by hand."""

from __future__ import annotations

import pytest

from citewell.reflection.scoring import Scores, Weights, scaled, scores, wants_passages
from citewell.reflection.tokens import IS_RELEVANT, IS_SUPPORTED, IS_USEFUL, Token

SUPPORTED = {Token.FULLY_SUPPORTED: 0.2, Token.PARTIALLY_SUPPORTED: 0.1, Token.NO_SUPPORT: 0.1}
USEFUL = dict(zip(IS_USEFUL, (0.1, 0.0, 0.0, 0.1, 0.3), strict=True))


def test_each_group_is_scaled_to_one_and_weighed() -> None:
    found = scores({Token.RELEVANT: 0.3, Token.IRRELEVANT: 0.1}, SUPPORTED, USEFUL)
    # 0.3 / 0.4; 0.2 / 0.4 and half of 0.1 / 0.4; (-1 * 0.1 + 0.5 * 0.1 + 1 * 0.3) / 0.5
    assert (found.relevant, found.supported, found.useful) == pytest.approx((0.75, 0.625, 0.5))
    assert found.critique(Weights()) == pytest.approx(0.75 + 0.625 + 0.25)
    assert found.critique(Weights(2, 0, 1)) == pytest.approx(1.5 + 0.5)


@pytest.mark.parametrize(
    ("grade", "worth"), [(Token.UTILITY_1, -1), (Token.UTILITY_2, -0.5), (Token.UTILITY_3, 0), (Token.UTILITY_5, 1)]
)
def test_a_sure_grade_of_use(grade: Token, worth: float) -> None:
    assert scores({Token.RELEVANT: 1}, SUPPORTED, {grade: 1e-6}).useful == pytest.approx(worth)


def test_support_in_part_is_worth_half() -> None:
    assert scores({Token.RELEVANT: 1}, {Token.PARTIALLY_SUPPORTED: 0.7}, USEFUL).supported == 0.5


def test_a_group_without_any_chance_says_nothing() -> None:
    assert scaled({}, IS_RELEVANT) == dict.fromkeys(IS_RELEVANT, 0.5)
    assert sum(scaled({}, IS_SUPPORTED).values()) == pytest.approx(1)


@pytest.mark.parametrize("chance", [-0.1, float("nan")])
def test_what_is_no_probability_is_refused(chance: float) -> None:
    with pytest.raises(ValueError, match="0 or more"):
        scaled({Token.RELEVANT: chance}, IS_RELEVANT)


@pytest.mark.parametrize(("above", "wanted"), [(0.2, True), (0.24, True), (0.25, False), (0.9, False)])
def test_the_threshold_is_on_the_share_of_the_two(above: float, wanted: bool) -> None:
    assert wants_passages({Token.RETRIEVAL: 0.01, Token.NO_RETRIEVAL: 0.03}, above) is wanted


def test_weights_are_the_published_ones() -> None:
    assert Scores(1, 1, 1).critique(Weights()) == 2.5
