"""Fusion: sums worked by hand, ties, lists that are short, flat or empty, and ids that a list holds twice."""

from __future__ import annotations

import itertools
from statistics import fmean, pstdev
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.retrieval.fusion import Fused, Method, Scored, fuse, reciprocal_rank_fusion

METHODS: tuple[Method, ...] = get_args(Method)
SCORES = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.integers(-8, 8)).map(lambda pair: Scored(pair[0], pair[1] / 4)),
    max_size=8,
).map(lambda found: sorted(found, key=lambda each: -each.score))


def scored(**scores: float) -> list[Scored]:
    return [Scored(id_, score) for id_, score in scores.items()]


def of(fused: list[Fused]) -> dict[str, float]:
    return {item.id: item.score for item in fused}


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


def test_ranks_with_weights() -> None:
    lists = {"dense": scored(a=0.9, b=0.8), "keyword": scored(b=7, c=3)}
    fused = fuse(lists, "rrf", {"dense": 3.0, "keyword": 1.0}, rrf_k=1)
    assert of(fused) == pytest.approx({"a": 3 / 2, "b": 3 / 3 + 1 / 2, "c": 1 / 3})
    assert [item.id for item in fused] == ["a", "b", "c"]


def test_convex_is_the_weighted_mean_of_where_a_score_lies_between_lowest_and_highest() -> None:
    lists = {"dense": scored(a=0.8, b=0.7, c=0.4), "keyword": scored(b=10, d=6, a=2)}
    fused = fuse(lists, "convex", {"dense": 3.0, "keyword": 1.0})
    assert of(fused) == pytest.approx({"a": 0.75, "b": 0.75 * 0.75 + 0.25, "c": 0.0, "d": 0.125})
    assert [item.id for item in fused] == ["b", "a", "d", "c"]


def test_distribution_is_the_mean_of_where_a_score_lies_between_three_deviations_either_way() -> None:
    dense, keyword = [0.8, 0.7, 0.4], [10.0, 6.0, 2.0]
    lists = {"dense": scored(a=0.8, b=0.7, c=0.4), "keyword": scored(b=10, d=6, a=2)}

    def place(score: float, scores: list[float]) -> float:
        return 0.5 + (score - fmean(scores)) / (6 * pstdev(scores))

    # What a list does not hold counts as its lowest: c in the keyword list, d in the dense one.
    expected = {
        "a": (place(0.8, dense) + place(2, keyword)) / 2,
        "b": (place(0.7, dense) + place(10, keyword)) / 2,
        "c": (place(0.4, dense) + place(2, keyword)) / 2,
        "d": (place(0.4, dense) + place(6, keyword)) / 2,
    }
    assert of(fuse(lists, "distribution")) == pytest.approx(expected)


def test_what_lies_beyond_three_deviations_counts_as_three() -> None:
    # The deviation of 1 among 99 equal ones is 0.0995: the one lies 9.9 of them above the mean.
    lists = {"dense": [Scored("a", 1.0), *(Scored(f"b{n}", 0.0) for n in range(99))]}
    assert of(fuse(lists, "distribution"))["a"] == 1.0


@pytest.mark.parametrize("method", ["convex", "distribution"])
def test_a_lone_match_is_all_that_its_leg_has_to_say(method: Method) -> None:
    # A code that one passage holds: not the lowest of its list, though the only one in it.
    lists = {"dense": scored(a=0.5, b=0.4, c=0.3), "keyword": scored(c=9)}
    assert fuse(lists, method, {"keyword": 2.0})[0].id == "c"
    assert of(fuse({"keyword": scored(c=9)}, method)) == {"c": 1.0}


@pytest.mark.parametrize("method", ["convex", "distribution"])
def test_equal_scores_are_equally_good_and_better_than_none(method: Method) -> None:
    lists = {"keyword": scored(b=3, a=3), "dense": scored(c=0.2, b=0.2)}
    assert of(fuse(lists, method)) == {"b": 1.0, "a": 0.5, "c": 0.5}


@pytest.mark.parametrize("method", METHODS)
def test_an_empty_leg_takes_no_part(method: Method) -> None:
    dense = scored(a=0.5, b=0.4, c=0.1)
    assert fuse({"dense": dense, "keyword": []}, method, {"keyword": 5.0}) == fuse({"dense": dense}, method)
    assert fuse({"dense": [], "keyword": []}, method) == fuse({}, method) == []


@pytest.mark.parametrize("method", METHODS)
def test_a_score_given_twice_counts_at_its_better_place(method: Method) -> None:
    twice = [Scored("a", 0.9), Scored("b", 0.5), Scored("a", 0.2), Scored("c", 0.1)]
    assert fuse({"dense": twice}, method) == fuse({"dense": [twice[0], twice[1], twice[3]]}, method)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("weight", [0.0, -1.0])
def test_a_weight_that_is_not_above_0_is_refused(method: Method, weight: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        fuse({"dense": scored(a=1)}, method, {"dense": weight})


@pytest.mark.parametrize("method", METHODS)
@given(st.lists(SCORES, min_size=3, max_size=3), st.integers(1, 100))
def test_the_order_of_the_legs_changes_nothing(method: Method, lists: list[list[Scored]], k: int) -> None:
    named = list(zip(("dense", "keyword", "sparse"), lists, strict=True))
    results = [fuse(dict(order), method, {"dense": 0.3}, k) for order in itertools.permutations(named)]
    assert all(result == results[0] for result in results)
    assert {item.id for item in results[0]} == {each.id for found in lists for each in found}
    assert all(above.score >= below.score for above, below in itertools.pairwise(results[0]))
    assert method == "rrf" or all(0 <= item.score <= 1 for item in results[0])


@pytest.mark.parametrize("method", METHODS)
@given(st.lists(SCORES, min_size=2, max_size=2))
def test_the_unit_of_a_leg_changes_nothing(method: Method, lists: list[list[Scored]]) -> None:
    dense, keyword = lists
    other = [Scored(each.id, each.score * 8 + 64) for each in keyword]
    before, after = (fuse({"dense": dense, "keyword": each}, method) for each in (keyword, other))
    assert of(before) == pytest.approx(of(after))


@pytest.mark.parametrize("method", METHODS)
@given(SCORES)
def test_a_leg_alone_keeps_its_order(method: Method, found: list[Scored]) -> None:
    best = {each.id: each.score for each in reversed(found)}
    fused = fuse({"dense": found}, method)
    assert [best[item.id] for item in fused] == sorted(best.values(), reverse=True)
    assert [item.ranks["dense"] for item in fused] == list(range(1, len(best) + 1))
