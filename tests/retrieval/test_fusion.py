"""Reciprocal rank fusion: sums, ties, and ids that a list holds twice."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.retrieval.fusion import reciprocal_rank_fusion


def test_an_id_gets_the_sum_over_the_lists_that_hold_it() -> None:
    fused = reciprocal_rank_fusion({"dense": ["a", "b"], "keyword": ["b"]}, k=60)
    assert [(item.id, item.ranks) for item in fused] == [("b", {"dense": 2, "keyword": 1}), ("a", {"dense": 1})]
    assert [item.score for item in fused] == pytest.approx([1 / 62 + 1 / 61, 1 / 61])


def test_an_id_twice_in_a_list_counts_once_at_its_better_rank() -> None:
    fused = reciprocal_rank_fusion({"dense": ["a", "b", "a", "c"]}, k=60)
    assert [(item.id, item.ranks["dense"]) for item in fused] == [("a", 1), ("b", 2), ("c", 3)]
    assert fused[0].score == pytest.approx(1 / 61)


def test_a_tie_goes_to_the_better_single_rank_then_to_the_smaller_id() -> None:
    # With k = 0: d has 1/2 + 1/2 and a has 1/1, the same sum.
    lists = {"x": ["a", "d"], "y": ["c", "d"]}
    assert [item.id for item in reciprocal_rank_fusion(lists, k=0)] == ["a", "c", "d"]


def test_no_list_and_empty_lists_give_nothing() -> None:
    assert reciprocal_rank_fusion({}, k=60) == []
    assert reciprocal_rank_fusion({"dense": [], "keyword": []}, k=60) == []


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=8), min_size=3, max_size=3), st.integers(1, 100))
def test_the_order_of_the_legs_changes_nothing(lists: list[list[str]], k: int) -> None:
    named = list(zip(("dense", "keyword", "sparse"), lists, strict=True))
    results = [reciprocal_rank_fusion(dict(order), k) for order in itertools.permutations(named)]
    assert all(result == results[0] for result in results)
    assert {item.id for item in results[0]} == set(itertools.chain(*lists))
    assert all(above.score >= below.score for above, below in itertools.pairwise(results[0]))
