"""A test set put to a real index, by its own readers."""

from __future__ import annotations

import time

import pytest

from citewell.errors import ServiceUnreachable
from citewell.evaluation.completions import RememberedLLM
from citewell.evaluation.measures import retrieval
from citewell.evaluation.runs import DEPTH, run
from citewell.evaluation.testset import Evidence, Question
from citewell.index import Index
from citewell.models.llm import Completion, Prompt
from tests.evaluation.conftest import DISPUTES

DAYS = Question(
    id="days",
    question="How many days does a customer have to dispute a card payment?",
    evidence=(Evidence(document="manual/disputes.md", quote="within 120 days"),),
)
SECRET = Question(
    id="secret",
    question="From which score on are alerts declined with R-17?",
    evidence=(Evidence(document="limits.md", quote="score of 85"),),
    groups=("fraud_team",),
)


SLOW_S = 1.0
"""Longer than all else that an answer takes here."""


class ScriptedLLM:
    """Writes one reply, or fails from some call on."""

    def __init__(self, fails_from: int = 1_000) -> None:
        self.calls = 0
        self._fails_from = fails_from

    def complete(self, prompt: Prompt) -> Completion:  # noqa: ARG002  # the protocol's
        self.calls += 1
        if self.calls >= self._fails_from:
            raise ServiceUnreachable("There was no answer.", remedy="Start it.")
        time.sleep(SLOW_S)
        return Completion("Within 120 days [1].", 100, 10, "stop")


def test_each_question_is_asked_as_its_reader(bank: Index) -> None:
    days, mine, theirs = run(bank, [DAYS, SECRET, SECRET.model_copy(update={"groups": ()})])
    assert days.held[0] == {0}
    assert days.hits[0].chunk.source == DISPUTES
    assert days.answer is not None
    assert "120 days" in days.answer.text
    assert (len(mine.hits), len(theirs.hits)) == (4, 3)
    assert frozenset({0}) in mine.held
    assert theirs.held == (frozenset(),) * 3


def test_the_measures_of_a_question(bank: Index) -> None:
    (outcome,) = run(bank, [DAYS], answers=False)
    assert outcome.answer is None
    values = retrieval(outcome)
    assert values["hit@1"] == values["recall@5"] == values["MRR@10"] == values["nDCG@10"] == values["MAP@10"] == 1
    assert values["precision@1"] == 1
    assert values["precision@20"] == 1 / DEPTH
    assert retrieval(run(bank, [SECRET.model_copy(update={"answerable": False})], answers=False)[0]) == {}


def test_a_service_that_fails_on_the_way_is_that_questions_error(bank: Index) -> None:
    with Index.open(bank.location, llm=ScriptedLLM(fails_from=2)) as index:
        first, second = run(index, [DAYS, SECRET])
    assert first.answer is not None
    assert (second.answer, second.error) == (None, "There was no answer.")
    assert second.hits


def test_a_service_that_is_not_there_ends_the_run(bank: Index) -> None:
    with Index.open(bank.location, llm=ScriptedLLM(fails_from=1)) as index, pytest.raises(ServiceUnreachable):
        run(index, [DAYS, SECRET])


def test_a_second_run_asks_the_model_nothing_and_takes_as_long(
    bank: Index, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path, model = tmp_path_factory.mktemp("kept") / "completions.jsonl", ScriptedLLM()
    for _ in range(2):
        remembered = RememberedLLM(model, "m", path)
        with Index.open(bank.location, llm=remembered) as index:
            (outcome,) = run(index, [DAYS], llm=remembered)
        assert outcome.answer is not None
        assert outcome.answer.text == "Within 120 days. [1]"
        assert outcome.answer.usage.prompt_tokens == 100
    assert model.calls == 1
    assert remembered.saved_s >= SLOW_S
    assert outcome.answer_ms >= SLOW_S * 1000, "as long as it would without what is remembered"
