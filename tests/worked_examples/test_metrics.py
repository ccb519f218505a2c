"""`retrieval_metrics` and `ndcg`."""

from typing import Any

import pytest

from citewell.evaluation.metrics import ndcg, recall, reciprocal_rank

GRADES = {"right": 1}


def ranking_with_right_at(rank: int | None) -> list[str]:
    ranking = [f"wrong{place}" for place in range(1, 11)]
    if rank is not None:
        ranking[rank - 1] = "right"
    return ranking


@pytest.mark.parametrize("case", [0, 1])
def test_retrieval_metrics(worked: dict[str, Any], case: int) -> None:
    example = worked["retrieval_metrics"][case]
    rankings = [ranking_with_right_at(rank) for rank in example["ranks_of_the_right_chunk"]]
    for k in (1, 3, 5):
        mean = sum(recall(ranking, GRADES, k) for ranking in rankings) / len(rankings)
        assert mean == pytest.approx(example[f"recall@{k}"])
    mrr = sum(reciprocal_rank(ranking, GRADES, 10) for ranking in rankings) / len(rankings)
    assert mrr == pytest.approx(example["mrr"], abs=5e-5)


def test_ndcg(worked: dict[str, Any]) -> None:
    example = worked["ndcg"]
    ranked, judged = example["ranked_relevance"], example["all_judged_relevance"]
    # Two of the judged have grade 1; the ranking found one of them.
    grades = {"a": ranked[0], "b": ranked[1], "d": ranked[3], "missed": 1}
    assert sorted(grades.values(), reverse=True) == judged
    assert ndcg(["a", "b", "c", "d"], grades, example["k"]) == pytest.approx(example["ndcg"], abs=5e-7)
