"""Retrieval metrics against trec_eval itself, and the interval against what it must cover."""

import random

import pytest
import pytrec_eval

from citewell.evaluation.metrics import estimate, ndcg, recall, reciprocal_rank


def random_question(rng: random.Random) -> tuple[list[str], dict[str, int]]:
    pool = [f"d{number}" for number in range(40)]
    grades = {item: rng.choice([0, 0, 1, 2, 3]) for item in rng.sample(pool, 12)}
    grades["d0"] = 1
    return rng.sample(pool, rng.randrange(0, 30)), grades


@pytest.mark.parametrize("seed", range(25))
def test_equals_trec_eval(seed: int) -> None:
    ranking, grades = random_question(random.Random(seed))
    run = {"q": {item: float(-rank) for rank, item in enumerate(ranking)}}
    oracle = pytrec_eval.RelevanceEvaluator({"q": grades}, {"recall.5,10", "ndcg_cut.5,10", "recip_rank"})
    expected = oracle.evaluate(run)["q"] if ranking else dict.fromkeys(["recall_5", "ndcg_cut_10", "recip_rank"], 0.0)
    assert recall(ranking, grades, 5) == pytest.approx(expected["recall_5"])
    assert ndcg(ranking, grades, 10) == pytest.approx(expected["ndcg_cut_10"])
    assert reciprocal_rank(ranking, grades, len(ranking)) == pytest.approx(expected["recip_rank"])


def test_a_question_without_a_relevant_id_is_an_error() -> None:
    with pytest.raises(ValueError, match="without a relevant id"):
        recall(["a"], {"a": 0}, 5)


def test_interval_covers_the_true_mean_about_as_often_as_it_says() -> None:
    rng = random.Random(1)
    covered = 0
    for trial in range(100):
        result = estimate([float(rng.random() < 0.7) for _ in range(150)], seed=trial)
        covered += result.low <= 0.7 <= result.high
    assert 88 <= covered <= 100


def test_no_questions_is_an_error_and_not_a_nan() -> None:
    with pytest.raises(ValueError, match="no questions"):
        estimate([])
