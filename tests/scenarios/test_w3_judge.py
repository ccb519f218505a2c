"""W3: a judge that fails on 5 of 20 questions, by name: never NaN, never 0 in their place, and judged again."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from citewell.checking.judge import Failure
from citewell.errors import ServiceUnreachable
from citewell.evaluation.answers import measured
from citewell.evaluation.judging.asked import AskedJudge
from citewell.evaluation.judging.remembered import RememberedJudge
from citewell.evaluation.measures import Measured
from citewell.evaluation.summary import Score, summarise
from citewell.evaluation.testset import Question
from citewell.models.llm import Prompt
from citewell.models.minilm import MiniLM
from tests.evaluation.answered import outcome
from tests.evaluation.judging.scripted_llm import ScriptedLLM

LATE, REFUSED, MAYBE = (3, 9, 14), (6,), (17,)
WRONG = (0, 1, 2)
SUPPORTED = '{"verdict": "supported", "reason": "it says so"}'
UNSUPPORTED = '{"verdict": "unsupported", "reason": "it does not"}'
OUTCOMES = [
    outcome(
        Question(id=f"q{number}", question=f"What is the fee of branch {number}?"),
        [f"The fee of branch {number} is EUR {number}."],
        [(f"The fee of branch {number} is EUR {number}.", (1,))],
    )
    for number in range(20)
]


def number_of(prompt: Prompt) -> int:
    found = re.search(r"branch (\d+)\?", prompt.user)
    assert found is not None
    return int(found[1])


def failing(prompt: Prompt) -> str:
    number = number_of(prompt)
    if number in LATE:
        raise ServiceUnreachable("There was no answer in time.", remedy="Ask again.")
    if number in REFUSED:
        return "I cannot help with that."
    if number in MAYBE:
        return "maybe"
    return UNSUPPORTED if number in WRONG else SUPPORTED


def run(llm: ScriptedLLM, path: Path) -> list[Measured]:
    judge = RememberedJudge(AskedJudge(llm, "scripted"), path)
    embedder = MiniLM(threads=1)
    return [measured(each, judge, embedder) for each in OUTCOMES]


def faithfulness(scored: list[Measured]) -> Score:
    (everything,) = summarise(scored)
    (score,) = [score for score in everything.scores if score.name == "faithfulness"]
    return score


def test_five_failures_are_counted_by_name_and_judged_again(tmp_path: Path) -> None:
    path = tmp_path / "judgements.jsonl"
    scored = run(ScriptedLLM(failing), path)
    score = faithfulness(scored)
    assert score.estimate is not None
    assert score.estimate.questions == 15
    assert score.estimate.mean == pytest.approx(12 / 15)
    assert score.failed == {Failure.TIME_OUT: 3, Failure.REFUSAL: 1, Failure.UNREADABLE: 1}
    for number, one in enumerate(scored):
        failed = number in (*LATE, *REFUSED, *MAYBE)
        assert ("faithfulness" in one.failed, "faithfulness" in one.values) == (failed, not failed)
        assert all(math.isfinite(value) for value in one.values.values())

    recovered = ScriptedLLM(lambda _: SUPPORTED)
    again = faithfulness(run(recovered, path))
    assert {number_of(prompt) for prompt in recovered.prompts} == {*LATE, *REFUSED, *MAYBE}
    assert again.estimate is not None
    assert (again.estimate.questions, again.failed) == (20, {})
    assert again.estimate.mean == pytest.approx(17 / 20)

    nothing = ScriptedLLM(lambda _: "never asked")
    assert faithfulness(run(nothing, path)) == again
    assert nothing.prompts == []
