"""`self_rag`: which of two candidates is kept.

The example adds up P(relevant), P(fully supported) and P(useful = 5). Its sums are right, and simpler than the paper's
score, which counts support in part for half, takes the mean of all five grades of use on a scale from -1 to 1, weighs
use by a half, and adds the probability of the text.
"""

from typing import Any

import pytest

from citewell.reflection.native import Candidate, Choosing, Segment, best
from citewell.reflection.scoring import Scores, Weights

ALIKE = Weights(relevant=1, supported=1, useful=1)


def scores(case: dict[str, float]) -> Scores:
    return Scores(case["relevant"], case["supported"], case["useful"])


def test_the_sums(worked: dict[str, Any]) -> None:
    cases = worked["self_rag"]["candidates"]
    assert [scores(case).critique(ALIKE) for case in cases] == pytest.approx([case["score"] for case in cases])


@pytest.mark.parametrize(("weights", "hard"), [(ALIKE, False), (ALIKE, True), (Weights(), False), (Weights(), True)])
def test_the_candidate_that_is_kept(worked: dict[str, Any], weights: Weights, hard: bool) -> None:
    example = worked["self_rag"]
    candidates = [
        Candidate(
            place=place,
            segment=Segment("", -1.0),
            scores=scores(case),
            is_relevant=case["relevant"] > 0.5,
            is_supported=case["supported"] > 0.5,
        )
        for place, case in enumerate(example["candidates"])
    ]
    kept = best(candidates, Choosing(weights=weights, hard=hard))
    assert kept is not None
    assert kept.place == example["kept"]
