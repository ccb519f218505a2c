"""Means with intervals over all questions and over each part of them."""

from __future__ import annotations

from citewell.checking.judge import Failure
from citewell.evaluation.measures import Measured
from citewell.evaluation.summary import ALL, Score, summarise
from citewell.evaluation.testset import Question

TIME_OUT = {"faithfulness": Failure.TIME_OUT}


def one(name: str, values: dict[str, float], kind: str = "", group: str = "", answerable: bool = True) -> Measured:
    asked = Question(id=name, question="?", kind=kind, groups=(group,) if group else (), answerable=answerable)
    return Measured(asked, values, {} if "faithfulness" in values or "refused" not in values else TIME_OUT)


def by_name(scores: tuple[Score, ...]) -> dict[str, Score]:
    return {score.name: score for score in scores}


def test_a_mean_is_over_the_questions_that_have_the_measure() -> None:
    (everything,) = summarise([one("a", {"recall@5": 1.0}), one("b", {"recall@5": 0.0}), one("c", {})])
    assert (everything.name, everything.questions) == (ALL, 3)
    (score,) = everything.scores
    assert score.estimate is not None
    assert (score.estimate.mean, score.estimate.questions) == (0.5, 2)
    assert score.estimate.low <= 0.5 <= score.estimate.high


def test_what_is_not_judged_is_counted_by_its_name() -> None:
    (everything,) = summarise([one("a", {"refused": 0, "faithfulness": 1.0}), one("b", {"refused": 0})])
    score = by_name(everything.scores)["faithfulness"]
    assert score.estimate is not None
    assert (score.estimate.questions, score.failed) == (1, {Failure.TIME_OUT: 1})


def test_a_measure_that_nobody_could_judge_has_no_mean() -> None:
    (everything,) = summarise([one("b", {"refused": 0})])
    assert by_name(everything.scores)["faithfulness"] == Score("faithfulness", None, {Failure.TIME_OUT: 1})


def test_refusal_precision_and_recall() -> None:
    asked = [
        one("a", {"refused": 1.0, "faithfulness": 1}, answerable=False),
        one("b", {"refused": 1.0, "faithfulness": 1}, answerable=False),
        one("c", {"refused": 0.0, "faithfulness": 1}, answerable=False),
        one("d", {"refused": 1.0, "faithfulness": 1}),
        one("e", {"refused": 0.0, "faithfulness": 1}),
    ]
    scores = by_name(summarise(asked)[0].scores)
    assert "refused" not in scores
    precision, recall = scores["refusal precision"].estimate, scores["refusal recall"].estimate
    assert precision is not None
    assert recall is not None
    assert (precision.mean, precision.questions) == (2 / 3, 3)
    assert (recall.mean, recall.questions) == (2 / 3, 3)


def test_parts_are_kinds_tags_and_readers_but_none_that_is_everything() -> None:
    parts = summarise(
        [
            one("a", {"recall@5": 1.0}, kind="table", group="team"),
            one("b", {"recall@5": 0.0}, kind="table"),
            one("c", {"recall@5": 0.0}, kind="code"),
        ]
    )
    assert [(part.name, part.questions) for part in parts] == [
        (ALL, 3),
        ("table", 2),
        ("code", 1),
        ("as team", 1),
        ("as everyone", 2),
    ]
