"""Agreement with people: worked by hand, and measured on samples of the real data."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import pytest

from citewell.checking.aligned import NAME, AlignedJudge
from citewell.checking.judge import Failure, Judgement
from citewell.evaluation.judging.agreement import (
    ACCURACY,
    SPEARMAN,
    UNMEASURED,
    agreement,
    agreement_of,
    spearman,
)
from citewell.evaluation.judging.rated import Rated, read_rated
from citewell.models.minilm import MiniLM
from tests.evaluation.scripted_judge import ScriptedJudge

SHARED = Path(os.environ.get("CITEWELL_SHARED", Path(__file__).parents[3].parent / "shared"))
RATINGS = SHARED / "data" / "mtrag" / "human_faithfulness.jsonl.gz"
HALUEVAL = SHARED / "data" / "halueval-qa" / "qa.jsonl"
shared = pytest.mark.skipif(not RATINGS.is_file(), reason="the shared data are not there (CITEWELL_SHARED)")


def rated(
    claims: tuple[str, ...],
    rating: float | None = None,
    supported: bool | None = None,
    group: str = "g",
    words: int = 1,
) -> Rated:
    return Rated(claims, ("passage",), "Q?", group, words, rating, supported)


def by_support(**supports: float | Failure) -> ScriptedJudge:
    def rule(claim: str, passages: Sequence[str]) -> Judgement:
        value = supports[claim]
        return Judgement(None, value) if isinstance(value, Failure) else Judgement(value)

    return ScriptedJudge(rule)


def test_spearman_by_hand() -> None:
    assert spearman([1, 2, 3], [10, 20, 30]) == pytest.approx(1)
    assert spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    # Ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4: a covariance of 4.5 over the root of 4.5 and 5.
    assert spearman([1, 5, 5, 9], [1, 2, 3, 4]) == pytest.approx((4.5 / 5) ** 0.5)
    with pytest.raises(ValueError, match="do not vary"):
        spearman([1, 1], [1, 2])


@shared
def test_spearman_gives_the_published_figure() -> None:
    records = [json.loads(line) for line in gzip.decompress(RATINGS.read_bytes()).splitlines()]
    human = [sum(record["human"]["faithfulness"]) / len(record["human"]["faithfulness"]) for record in records]
    assert spearman([record["automatic"]["rl_f"] for record in records], human) == pytest.approx(0.564, abs=5e-4)
    assert spearman([record["automatic"]["RougeL"] for record in records], human) == pytest.approx(0.437, abs=5e-4)


def test_ratings_are_compared_with_the_mean_support() -> None:
    answers = [
        rated(("high", "low"), rating=3, group="a"),
        rated(("low",), rating=1, group="b"),
        rated(("high",), rating=4, group="c"),
        rated((), rating=4, group="d"),
        rated(("high", "late"), rating=4, group="e"),
    ]
    done: list[tuple[int, int]] = []
    found = agreement(
        by_support(high=1.0, low=0.0, late=Failure.TIME_OUT), answers, "mine", lambda *so_far: done.append(so_far)
    )
    assert (found.data, found.measure) == ("mine", SPEARMAN)
    assert found.estimate is not None
    assert found.estimate.mean == pytest.approx(1)
    assert found.estimate.questions == 3
    assert (found.without_claims, found.failed) == (1, {Failure.TIME_OUT: 1})
    assert (found.false_alarms, found.by_length, found.matched) == (None, None, None)
    assert done == [(number, 5) for number in range(1, 6)]


def test_labels_are_compared_with_all_claims() -> None:
    answers = [
        rated(("high",), supported=True, group="a", words=2),
        rated(("high", "low"), supported=True, group="b", words=2),  # a false alarm
        rated(("high", "low"), supported=False, group="a", words=9),
        rated(("high",), supported=False, group="b", words=2),  # missed, and no longer than the right one
        rated(("low",), supported=False, group="c", words=9),
    ]
    found = agreement(by_support(high=0.5, low=0.4), answers, "mine")
    assert found.measure == ACCURACY
    assert found.estimate is not None
    assert found.estimate.mean == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert found.estimate.low <= found.estimate.mean <= found.estimate.high
    assert found.false_alarms == 1 / 2
    assert found.by_length == pytest.approx((1 + 2 / 3) / 2), "at most two words is right, but for one"
    assert found.matched is not None
    assert (found.matched.mean, found.matched.questions) == (0, 2)


def test_too_little_to_compare_has_no_value() -> None:
    alike = [rated(("high",), rating=2, group="a"), rated(("high",), rating=3, group="b")]
    assert agreement(by_support(high=1.0), alike, "mine").estimate is None
    one_kind = agreement(by_support(high=1.0), [rated(("high",), supported=True)], "mine")
    assert (one_kind.estimate, one_kind.by_length, one_kind.matched) == (None, None, None)
    assert agreement(by_support(late=Failure.REFUSAL), [rated(("late",), rating=1)], "mine").estimate is None


def test_the_package_says_what_was_measured_of_the_default_judge() -> None:
    ratings, labels = agreement_of(NAME)
    assert ratings.startswith("Spearman 0.64 (0.47 to 0.77) on mtrag-held-out, 124 answers")
    assert labels.startswith("balanced accuracy 0.85 (0.82 to 0.89) on halueval-qa-held-out, 375 answers")
    assert "where length tells nothing" in labels
    assert agreement_of("another") == (UNMEASURED,)
    written = (files("citewell.evaluation.judging") / "agreements.json").read_text(encoding="utf-8")
    assert [each["judge"] for each in json.loads(written)] == [NAME], "measure again when the judge's number changes"


@shared
def test_the_default_judge_tells_right_answers_from_made_up_ones() -> None:
    answers = read_rated(HALUEVAL)[1::10]
    found = agreement(AlignedJudge(MiniLM()), answers, "halueval")
    assert found.estimate is not None
    assert found.estimate.mean > 0.8
    assert found.false_alarms is not None
    assert found.false_alarms < 0.1


@shared
def test_the_default_judge_ranks_answers_as_people_do() -> None:
    answers = read_rated(RATINGS)
    low = [answer for answer in answers if answer.claims and (answer.rating or 0) <= 2][:8]
    high = [answer for answer in answers if answer.claims and (answer.rating or 0) == 4][:8]
    found = agreement(AlignedJudge(MiniLM()), [*low, *high], "mtrag")
    assert found.estimate is not None
    assert found.estimate.mean > 0.7
