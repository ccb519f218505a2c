"""MMR: against the formula worked by hand, and at its ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.models.embedder import unit_rows
from citewell.retrieval.diversity import mmr

# Two directions: a and b are nearly one, c stands by itself.
VECTORS = unit_rows(np.array([[1.0, 0.0], [0.99, 0.14106736], [0.0, 1.0]]))
RELEVANCE = [0.9, 0.85, 0.5]


def test_a_passage_like_one_already_taken_waits() -> None:
    # After a: b has 0.5 * 0.85 - 0.5 * 0.99 = -0.07, c has 0.5 * 0.5 - 0.5 * 0 = 0.25.
    assert mmr(RELEVANCE, VECTORS, 3, trade=0.5) == [0, 2, 1]


def test_where_the_trade_turns() -> None:
    # b - c after a: trade * (0.85 - 0.5) - (1 - trade) * (0.99 - 0), which is 0 at 0.99 / 1.34 = 0.7388.
    assert mmr(RELEVANCE, VECTORS, 2, trade=0.738) == [0, 2]
    assert mmr(RELEVANCE, VECTORS, 2, trade=0.740) == [0, 1]


def test_the_nearest_of_those_taken_counts_not_the_last() -> None:
    vectors = unit_rows(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.01], [1.0, 1.0]]))
    assert mmr([0.9, 0.8, 0.7, 0.5], vectors, 4, trade=0.5) == [0, 1, 3, 2]


def test_by_difference_alone_it_begins_with_the_most_relevant() -> None:
    assert mmr([0.1, 0.9, 0.2], VECTORS, 2, trade=0) == [1, 2]


def test_a_tie_goes_to_the_place_that_comes_first() -> None:
    same = np.repeat(VECTORS[:1], 3, axis=0)
    assert mmr([0.5, 0.5, 0.5], same, 3, trade=0.7) == [0, 1, 2]


def test_no_candidate_one_candidate_and_more_wanted_than_there_are() -> None:
    assert mmr([], np.empty((0, 2), dtype=np.float32), 5, trade=0.5) == []
    assert mmr([0.3], VECTORS[:1], 5, trade=0.5) == [0]
    assert mmr(RELEVANCE, VECTORS, 0, trade=0.5) == []


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="2 candidates have 3 vectors"):
        mmr([0.1, 0.2], VECTORS, 2, trade=0.5)
    with pytest.raises(ValueError, match=r"trade is 1\.5"):
        mmr(RELEVANCE, VECTORS, 2, trade=1.5)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=12), st.integers(1, 12), st.floats(0, 1))
def test_each_is_taken_once_and_relevance_alone_sorts(relevance: list[float], k: int, trade: float) -> None:
    rng = np.random.default_rng(len(relevance))
    vectors = unit_rows(rng.standard_normal((len(relevance), 4)))
    taken = mmr(relevance, vectors, k, trade)
    assert len(taken) == len(set(taken)) == min(k, len(relevance))
    assert taken[0] == int(np.argmax(relevance))
    by_relevance = sorted(range(len(relevance)), key=lambda place: -relevance[place])
    assert mmr(relevance, vectors, len(relevance), trade=1) == by_relevance
