"""`faithfulness`."""

from typing import Any

import pytest

from citewell.checking.aligned import AlignedJudge
from citewell.checking.claims import claims_of
from citewell.checking.judge import Judgement
from citewell.evaluation.answers import faithfulness
from citewell.models.minilm import MiniLM

PASSAGES = ["A payment may be disputed within 120 days. The form is F-110. The fee is EUR 25."]


def test_faithfulness(worked: dict[str, Any]) -> None:
    example = worked["faithfulness"]
    judged = [Judgement(float(supported)) for supported in example["claims_supported"]]
    assert faithfulness(judged) == example["score"]


def test_faithfulness_of_an_answer(worked: dict[str, Any]) -> None:
    claims = claims_of("It may be disputed within 120 days [1]. The form is F-110. The fee is EUR 52. The fee is 25 €.")
    judged = AlignedJudge(MiniLM(threads=1)).judge(claims, PASSAGES)
    assert [one.is_supported for one in judged] == worked["faithfulness"]["claims_supported"]
    assert faithfulness(judged) == pytest.approx(worked["faithfulness"]["score"])


@pytest.mark.parametrize("answer", ["I don't know.", "I don't know: the documents do not cover this.", ""])
def test_an_answer_without_claims_has_none(answer: str) -> None:
    assert faithfulness(AlignedJudge(MiniLM(threads=1)).judge(claims_of(answer), PASSAGES)) is None
