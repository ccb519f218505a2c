"""What an answer scored: is it right, is it supported, does it cite what supports it, did it rightly say no.

All measures ask one thing of a judge: how far is a claim supported by passages? Faithfulness, context precision and
context recall are those of RAGAS (Es et al. 2023, arXiv:2309.15217), citation precision and recall those of ALCE
(Gao et al. 2023, arXiv:2305.14627). docs/evaluation.md says where they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from citewell.evaluation.judging.claims import claims_of
from citewell.evaluation.judging.judge import Failure, Judge, Judgement, NotJudged
from citewell.evaluation.measures import Measured, retrieval
from citewell.evaluation.placing import plain
from citewell.evaluation.runs import Outcome
from citewell.models.embedder import Embedder
from citewell.types import Answer

REFUSED = "refused"
"""1 where the answer abstained. Refusal precision and recall are made of it over many questions: `summary`."""


@dataclass(frozen=True, slots=True)
class Answered:
    """An outcome whose question was answered, not abstained, and the judge of it."""

    outcome: Outcome
    answer: Answer
    judge: Judge

    @property
    def text(self) -> str:
        """The answer without its citation marks, whose numbers are none of its figures."""
        return "\n".join(sentence.text for sentence in self.answer.sentences)

    @property
    def passages(self) -> list[str]:
        """What the answer was made from."""
        return [hit.passage.text for hit in self.answer.hits]


Measure = Callable[[Answered], float | None]


def measured(outcome: Outcome, judge: Judge, embedder: Embedder) -> Measured:
    """All that one question scored, retrieval included. A measure that does not apply is left out."""
    question, answer = outcome.question, outcome.answer
    values, failed = retrieval(outcome), dict[str, Failure]()
    if answer is None:
        return Measured(question, values)
    values |= {
        REFUSED: float(answer.abstained),
        "seconds": outcome.answer_ms / 1000,
        "tokens": float(answer.usage.prompt_tokens + answer.usage.completion_tokens),
    }
    if answer.usage.cost_usd is not None:
        values["cost_usd"] = answer.usage.cost_usd
    if answer.abstained or not question.answerable:
        values["correct"] = float(answer.abstained and not question.answerable)
    if not answer.abstained:
        answered = Answered(outcome, answer, judge)
        values["relevance"] = _relevance(question.question, answered.text, embedder)
        for name, measure in {**_OF_ANY, **(_OF_ANSWERABLE if question.answerable else {})}.items():
            try:
                value = measure(answered)
            except NotJudged as error:
                failed[name] = error.failure
            else:
                if value is not None:
                    values[name] = value
    return Measured(question, values, failed)


def faithfulness(judged: Sequence[Judgement]) -> float | None:
    """Share of the claims that are supported; None where there is no claim ("I don't know").

    Raises:
        NotJudged: one of them has no judgement.
    """
    return sum(one.is_supported for one in judged) / len(judged) if judged else None


def context_precision(relevant: Sequence[bool]) -> float | None:
    """Mean of precision@k over the ranks k of the relevant passages, as RAGAS has it; None where none is relevant.

    The sum is divided by the number of relevant passages, not by the number of passages.
    """
    ranks = [rank for rank, is_relevant in enumerate(relevant, start=1) if is_relevant]
    return sum(count / rank for count, rank in enumerate(ranks, start=1)) / len(ranks) if ranks else None


def _relevance(question: str, answer: str, embedder: Embedder) -> float:
    """The cosine of question and answer, at least 0. RAGAS takes questions that a model makes of the answer."""
    vector = embedder.embed_queries([question])[0]
    return max(0.0, float(embedder.embed_passages([answer])[0] @ vector))


def _faithfulness(of: Answered) -> float | None:
    claims = [claim for sentence in of.answer.sentences for claim in claims_of(sentence.text)]
    return faithfulness(of.judge.judge(claims, of.passages, of.outcome.question.question))


def _citation_recall(of: Answered) -> float | None:
    """Share of the sentences that what they cite supports."""
    supported = [judged.is_supported for judged in _by_all_citations(of)]
    return sum(supported) / len(supported) if supported else None


def _citation_precision(of: Answered) -> float | None:
    """Share of the citations that support their sentence, alone or as a part that the others cannot spare."""
    useful: list[bool] = []
    for sentence, whole in zip(of.answer.sentences, _by_all_citations(of), strict=True):
        for n in sentence.citations:
            alone = _one(of, sentence.text, [_quote(of, n)])
            others = [_quote(of, other) for other in sentence.citations if other != n]
            is_needed = bool(others) and not _one(of, sentence.text, others).is_supported
            useful.append(alone.is_supported or (whole.is_supported and is_needed))
    return sum(useful) / len(useful) if useful else None


def _by_all_citations(of: Answered) -> list[Judgement]:
    return [_one(of, sentence.text, [_quote(of, n) for n in sentence.citations]) for sentence in of.answer.sentences]


def _quote(of: Answered, n: int) -> str:
    return of.answer.citations[n - 1].quote


def _one(of: Answered, claim: str, passages: Sequence[str]) -> Judgement:
    return of.judge.judge([claim], passages, of.outcome.question.question)[0]


def _correctness(of: Answered) -> float | None:
    """F1 of the claims that answer and expected answer share; None without an expected answer."""
    question = of.outcome.question
    if not question.expected_answer:
        return None
    expected, given = claims_of(question.expected_answer), claims_of(of.text)
    found = faithfulness(of.judge.judge(expected, [of.text], question.question)) or 0.0
    right = faithfulness(of.judge.judge(given, [question.expected_answer], question.question)) or 0.0
    return 2 * found * right / (found + right) if found + right else 0.0


def _correct(of: Answered) -> float | None:
    """1 for a right answer: by the texts that it must and must not hold, or as the judge finds all that is expected."""
    question, text = of.outcome.question, plain(of.text)
    if question.must_contain or question.must_not_contain:
        has_all = all(plain(part) in text for part in question.must_contain)
        return float(has_all and not any(plain(part) in text for part in question.must_not_contain))
    if not question.expected_answer:
        return None
    judged = of.judge.judge(claims_of(question.expected_answer), [of.text], question.question)
    return float(faithfulness(judged) == 1.0)


def _context_recall(of: Answered) -> float | None:
    """Share of the expected answer's claims that the passages support."""
    question = of.outcome.question
    return faithfulness(of.judge.judge(claims_of(question.expected_answer), of.passages, question.question))


def _context_precision(of: Answered) -> float | None:
    """A passage is relevant if it holds evidence; without evidence given, if it supports a claim that is expected."""
    question = of.outcome.question
    if question.evidence:
        place = {hit.chunk.id: bool(numbers) for hit, numbers in zip(of.outcome.hits, of.outcome.held, strict=True)}
        return context_precision([place.get(hit.chunk.id, False) for hit in of.answer.hits])
    claims = claims_of(question.expected_answer)
    judged = [of.judge.judge(claims, [passage], question.question) for passage in of.passages]
    return context_precision([any(one.is_supported for one in each) for each in judged])


_OF_ANY: dict[str, Measure] = {
    "faithfulness": _faithfulness,
    "citation recall": _citation_recall,
    "citation precision": _citation_precision,
}
_OF_ANSWERABLE: dict[str, Measure] = {
    "correct": _correct,
    "correctness": _correctness,
    "context recall": _context_recall,
    "context precision": _context_precision,
}
