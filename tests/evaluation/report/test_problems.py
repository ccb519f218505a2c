from __future__ import annotations

import pytest

from citewell.evaluation.failures import has_failed
from citewell.evaluation.measures import Measured
from citewell.evaluation.report.problems import first_ranks, problems
from citewell.evaluation.runs import Outcome
from tests.evaluation.report.conftest import failed, measured, outcome, refused, right, wrong

KEEP = 2


def test_nothing_is_wrong_with_a_right_answer_or_a_right_refusal() -> None:
    assert problems(*right(), KEEP) == ()
    assert problems(*refused(answerable=False), KEEP) == ()


def test_a_wrong_answer_says_where_its_evidence_is() -> None:
    of, scores = wrong()
    assert first_ranks(of) == (2, 3)
    assert problems(of, scores, KEEP) == (
        "The answer is not right.",
        "50% of the answer's claims are not supported by its passages.",
        "Evidence 2 is at rank 3, and only the first 2 are read.",
    )


def test_a_wrong_refusal_says_why() -> None:
    assert problems(*refused(answerable=True), KEEP) == ("Refused, though there is an answer: nothing is near.",)


def test_an_answer_where_there_is_none() -> None:
    of, _ = wrong()
    question = of.question.model_copy(update={"answerable": False})
    of = outcome(question, of.answer)
    assert problems(of, measured(of, correct=0), KEEP) == (
        "Answered, though it should have said that it does not know.",
    )


def test_a_failed_service_is_all_there_is_to_say() -> None:
    (said,) = problems(*failed(), KEEP)
    assert said.startswith("The language model's service failed: no route to")


def test_evidence_that_is_not_found() -> None:
    of, scores = right()
    of = Outcome(of.question, (), (), 1.0)
    assert problems(of, Measured(of.question, {}), KEEP) == ("Evidence 1 is not among the first 0 passages.",)
    assert scores.values["hit@20"] == 1


@pytest.mark.parametrize("pair", [right(), wrong(), refused(answerable=True), refused(answerable=False)])
def test_what_diagnosis_fails_has_a_problem(pair: tuple[Outcome, Measured]) -> None:
    assert bool(problems(*pair, KEEP)) is bool(has_failed(*pair, KEEP))
