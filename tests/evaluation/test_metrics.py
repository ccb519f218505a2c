"""Retrieval metrics against trec_eval itself, and the intervals against what they must cover."""

import random

import pytest
import pytrec_eval

from citewell.evaluation.metrics import (
    all_found,
    average_precision,
    estimate,
    estimate_share,
    hit_rate,
    ndcg,
    percentile_interval,
    precision,
    recall,
    reciprocal_rank,
)

CUTS = (1, 3, 5, 10, 20)
ORACLES = {
    "recall": recall,
    "P": precision,
    "success": hit_rate,
    "ndcg_cut": ndcg,
    "map_cut": average_precision,
}


def random_question(rng: random.Random) -> tuple[list[str], dict[str, int]]:
    pool = [f"d{number}" for number in range(40)]
    grades = {item: rng.choice([0, 0, 1, 2, 3]) for item in rng.sample(pool, 12)}
    grades["d0"] = 1
    return rng.sample(pool, rng.randrange(1, 30)), grades


@pytest.mark.parametrize("seed", range(50))
def test_equals_trec_eval(seed: int) -> None:
    ranking, grades = random_question(random.Random(seed))
    run = {"q": {item: float(-rank) for rank, item in enumerate(ranking)}}
    cuts = ",".join(map(str, CUTS))
    asked = {f"{name}.{cuts}" for name in ORACLES} | {"recip_rank"}
    expected = pytrec_eval.RelevanceEvaluator({"q": grades}, asked).evaluate(run)["q"]
    for name, metric in ORACLES.items():
        for k in CUTS:
            assert metric(ranking, grades, k) == pytest.approx(expected[f"{name}_{k}"], abs=1e-9), f"{name}@{k}"
    assert reciprocal_rank(ranking, grades, len(ranking)) == pytest.approx(expected["recip_rank"], abs=1e-9)
    assert all_found(ranking, grades, 20) == (expected["recall_20"] == 1)


@pytest.mark.parametrize("metric", [*ORACLES.values(), reciprocal_rank, all_found])
def test_nothing_found_is_0(metric: object) -> None:
    assert callable(metric)
    assert metric([], {"a": 1}, 5) == 0


@pytest.mark.parametrize("metric", [*ORACLES.values(), reciprocal_rank, all_found])
def test_a_question_without_a_relevant_id_is_an_error(metric: object) -> None:
    assert callable(metric)
    with pytest.raises(ValueError, match="without a relevant id"):
        metric(["a"], {"a": 0}, 5)


def test_interval_covers_the_true_mean_about_as_often_as_it_says() -> None:
    rng = random.Random(1)
    covered = 0
    for trial in range(100):
        result = estimate([float(rng.random() < 0.7) for _ in range(150)], seed=trial)
        covered += result.low <= 0.7 <= result.high
    assert 88 <= covered <= 100


def test_interval_covers_the_true_share_about_as_often_as_it_says() -> None:
    rng = random.Random(2)
    covered = 0
    for trial in range(100):
        among = [rng.random() < 0.4 for _ in range(200)]
        has = [rng.random() < 0.8 for _ in among]
        result = estimate_share(has, among=among, seed=trial)
        assert result is not None
        assert result.questions == sum(among)
        covered += result.low <= 0.8 <= result.high
    assert 88 <= covered <= 100


def test_a_percentile_interval_leaves_out_as_much_on_either_side() -> None:
    assert percentile_interval([float(value) for value in range(1001)]) == pytest.approx((25, 975))
    assert percentile_interval([3.0]) == (3, 3)


def test_a_share_of_nothing_is_none() -> None:
    assert estimate_share([True, False], among=[False, False]) is None


def test_no_questions_is_an_error_and_not_a_nan() -> None:
    with pytest.raises(ValueError, match="no questions"):
        estimate([])
