"""Each measure worked out by hand. The judge finds a claim supported where a passage holds it word for word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from citewell.checking.judge import Failure, Judgement
from citewell.evaluation.answers import context_precision, faithfulness, measured
from citewell.evaluation.measures import Measured
from citewell.evaluation.runs import Outcome
from citewell.evaluation.testset import Evidence, Question
from citewell.models.minilm import MiniLM
from tests.evaluation.answered import outcome
from tests.evaluation.scripted_judge import ScriptedJudge

DAYS = Question(id="q", question="How long?", expected_answer="It is 120 days.")
GIVEN = "It is 120 days. It is free."


def scored(of: Outcome, judge: ScriptedJudge | None = None) -> Measured:
    return measured(of, judge or ScriptedJudge(), MiniLM())


def test_a_supported_right_answer_has_everything() -> None:
    values = scored(outcome(DAYS, [GIVEN], [("It is 120 days.", (1,))])).values
    wanted = ("correct", "claim F1", "faithfulness", "citation recall", "citation precision", "context recall")
    assert {name: values[name] for name in wanted} == dict.fromkeys(wanted, 1.0)
    assert (values["refused"], values["seconds"], values["tokens"], values["cost_usd"]) == (0, 0.02, 0, 0)


def test_faithfulness_is_the_share_of_supported_claims() -> None:
    sentences = [("It is 120 days. It is red.", (1,)), ("It is free.", (1,)), ("It is old.", (1,))]
    values = scored(outcome(DAYS, [GIVEN], sentences)).values
    assert values["faithfulness"] == 2 / 4


def test_claim_f1_is_the_f1_of_claims() -> None:
    # One of the two claims given is expected, and the one that is expected is given.
    values = scored(outcome(DAYS, [GIVEN], [("It is 120 days.", (1,)), ("It is free.", (1,))])).values
    assert values["claim F1"] == pytest.approx(2 * 1 * 0.5 / 1.5)
    assert values["correct"] == 1


def test_texts_that_must_and_must_not_be_there_decide_before_the_judge() -> None:
    strict = DAYS.model_copy(update={"must_contain": ("120  Days",), "must_not_contain": ("90 days",)})
    assert scored(outcome(strict, [GIVEN], [("Within 120 days.", (1,))])).values["correct"] == 1
    assert scored(outcome(strict, [GIVEN], [("Within 120 days, not 90 days.", (1,))])).values["correct"] == 0
    assert scored(outcome(strict, [GIVEN], [("It is free.", (1,))])).values["correct"] == 0


def test_citations_of_a_sentence_that_nothing_cited_supports() -> None:
    sentences = [("It is 120 days.", (2,)), ("It is free.", (1, 2))]
    values = scored(outcome(DAYS, [GIVEN, "Other."], sentences)).values
    assert values["citation recall"] == 1 / 2  # the first cites the wrong passage
    assert values["citation precision"] == 1 / 3  # of three citations, only [1] of the second sentence


def test_a_citation_that_only_completes_another_is_needed() -> None:
    def both(claim: str, passages: Sequence[str]) -> Judgement:
        return Judgement(float(all(part in " ".join(passages) for part in claim.rstrip(".").split(" and "))))

    values = scored(outcome(DAYS, ["a", "b", "c"], [("a and b.", (1, 2, 3))]), ScriptedJudge(both)).values
    assert values["citation recall"] == 1
    assert values["citation precision"] == 2 / 3


def test_context_precision_divides_by_the_relevant_passages() -> None:
    assert context_precision([False, True, False, True]) == (1 / 2 + 2 / 4) / 2
    assert context_precision([False, False]) is None


def test_context_precision_goes_by_the_evidence_where_there_is_some() -> None:
    marked = DAYS.model_copy(update={"evidence": (Evidence(document="d.md", quote="b"),)})
    values = scored(outcome(marked, ["It is 120 days.", "b"], [("b", (2,))])).values
    assert values["context precision"] == 1 / 2
    assert values["recall@1"] == 0
    assert values["recall@3"] == 1


def test_refusals() -> None:
    none = Question(id="n", question="Who?", answerable=False)
    rightly, wrongly = scored(outcome(none, ["a"], [])), scored(outcome(DAYS, ["a"], []))
    assert (rightly.values["refused"], rightly.values["correct"]) == (1, 1)
    assert (wrongly.values["refused"], wrongly.values["correct"]) == (1, 0)
    for one in (rightly, wrongly):
        assert not {"faithfulness", "relevance", "citation recall", "context recall"} & one.values.keys()


def test_an_answer_to_what_has_none_is_wrong_and_still_judged_for_support() -> None:
    none = Question(id="n", question="Who?", answerable=False)
    values = scored(outcome(none, [GIVEN], [("It is free.", (1,))])).values
    assert (values["correct"], values["refused"], values["faithfulness"]) == (0, 0, 1)
    assert "claim F1" not in values


def test_without_judgement_a_measure_is_a_named_failure_and_the_others_stay() -> None:
    def late(claim: str, passages: Sequence[str]) -> Judgement:
        if claim == "It is free.":
            return Judgement(None, Failure.TIME_OUT)
        return Judgement(float(any(claim in passage for passage in passages)))

    one = scored(outcome(DAYS, [GIVEN], [("It is 120 days.", (1,)), ("It is free.", (1,))]), ScriptedJudge(late))
    assert one.failed == dict.fromkeys(
        ["faithfulness", "citation recall", "citation precision", "claim F1"], Failure.TIME_OUT
    )
    assert one.values["context recall"] == one.values["correct"] == 1
    assert not one.failed.keys() & one.values.keys()


def test_a_question_without_a_right_answer_given_is_measured_by_retrieval_only() -> None:
    bare = Question(id="b", question="How long?", evidence=(Evidence(document="d.md", quote="120"),))
    assert "correct" not in scored(outcome(bare, [GIVEN], [])).values
    assert "correct" not in scored(outcome(bare, [GIVEN], [("It is 120 days.", (1,))])).values


def test_an_expected_answer_that_denies_is_a_claim() -> None:
    denied = DAYS.model_copy(update={"expected_answer": "The documents do not include a passport copy."})
    said = [("The documents do not include a passport copy.", (1,))]
    assert scored(outcome(denied, [said[0][0]], said)).values["correct"] == 1


def test_only_what_was_read_supports() -> None:
    """A prompt that could not hold the second passage."""
    made = outcome(DAYS, ["It is free.", "It is 120 days."], [("It is 120 days.", (2,))])
    cut = replace(made, read=made.hits[:1])
    values = scored(cut).values
    assert (values["faithfulness"], values["context recall"]) == (0, 0)


def test_each_claim_is_judged_once_for_all_measures() -> None:
    judge = ScriptedJudge()
    scored(outcome(DAYS, [GIVEN], [("It is 120 days.", (1,)), ("It is free.", (1,))]), judge)
    # Both sentences by the passage, which is all that they cite, and by the expected answer; and that by the answer.
    assert sorted(judge.asked) == sorted(["It is 120 days.", "It is free."] * 2 + ["It is 120 days."])


def test_no_claims_no_faithfulness() -> None:
    assert faithfulness([]) is None


def test_relevance_tells_an_answer_to_another_question() -> None:
    asked = Question(id="q", question="How many days does a customer have to dispute a payment?")
    to_it = scored(outcome(asked, ["a"], [("A customer may dispute a payment within 120 days.", (1,))]))
    beside = scored(outcome(asked, ["a"], [("The branch opens at nine.", (1,))]))
    assert 0 <= beside.values["relevance"] < 0.3
    assert 0.6 < to_it.values["relevance"] <= 1


def test_all_values_are_finite() -> None:
    one = scored(outcome(DAYS, [GIVEN], [("", (1,))]))
    assert np.isfinite(list(one.values.values())).all()
