"""Successive halving: what it asks, of whom, and who is left."""

from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.evaluation.halving import halve, most_arms


def test_the_better_half_is_asked_on() -> None:
    asked: list[tuple[str, int]] = []

    def gain(arm: str, questions: int) -> float:
        asked.append((arm, questions))
        return {"a": 0.1, "b": 0.4, "c": 0.2, "d": 0.3}[arm]

    assert halve("abcd", 100, 80, gain) == ["b", "d", "c", "a"]
    # 80 over 2 rounds: 40 for four arms, 10 each; then 40 for two, 20 more each.
    assert asked == [("a", 10), ("b", 10), ("c", 10), ("d", 10), ("b", 30), ("d", 30)]


def test_equals_stay_in_order_and_none_is_asked_more_than_there_are() -> None:
    asked = Counter[str]()

    def gain(arm: str, questions: int) -> float:
        asked[arm] = questions
        return 0.0

    assert halve("abc", 5, 1_000, gain) == ["a", "b", "c"]
    assert set(asked.values()) == {5}
    assert halve("", 5, 100, gain) == []
    assert halve("a", 5, 100, gain) == ["a"]


@settings(max_examples=50)
@given(arms=st.integers(1, 40), most=st.integers(1, 200), more=st.integers(0, 3_000), data=st.randoms())
def test_the_best_wins_within_the_budget(arms: int, most: int, more: int, data: Random) -> None:
    budget = next(budget for budget in range(arms * 10) if most_arms(budget, 1) >= arms) + more
    gains = data.sample(range(1_000), arms)
    asked = Counter[int]()

    def gain(arm: int, questions: int) -> float:
        asked[arm] = questions
        return arm

    ranked = halve(gains, most, budget, gain)
    assert sorted(ranked) == sorted(gains)
    assert ranked[0] == max(gains)
    assert asked.total() <= budget
    assert 1 <= min(asked.values()) <= max(asked.values()) <= most


def test_as_many_arms_as_the_budget_has_questions_for() -> None:
    assert [most_arms(budget, 8) for budget in (0, 7, 8, 15, 16, 47, 48, 63, 64)] == [0, 0, 1, 1, 2, 2, 3, 3, 4]
