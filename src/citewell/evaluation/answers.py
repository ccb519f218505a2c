"""What an answer scored: is it right, is it supported, does it cite what supports it, did it rightly say no.

All measures ask one thing of a judge: how far is a claim supported by passages? Faithfulness, context precision and
context recall are those of RAGAS (Es et al. 2023, arXiv:2309.15217), citation precision and recall those of ALCE
(Gao et al. 2023, arXiv:2305.14627). docs/evaluation.md says where they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from citewell.checking.claims import claims_of
from citewell.checking.judge import Failure, Judge, Judgement, NotJudged
from citewell.evaluation.measures import Measured, retrieval
from citewell.evaluation.placing import held, plain
from citewell.evaluation.runs import Outcome
from citewell.evaluation.testset import Question
from citewell.models.embedder import Embedder
from citewell.security.planted import unplanted
from citewell.types import Answer, Sentence

REFUSED = "refused"
"""1 where the answer abstained. Refusal precision and recall are made of it over many questions: `summary`."""


@dataclass(frozen=True, slots=True)
class Answered:
    """An outcome whose question was answered, not abstained, and who judges it.

    A claim is judged once however many measures it counts in: one that times out does so for all of them.
    """

    outcome: Outcome
    answer: Answer
    judge: Judge
    _judged: dict[tuple[str, tuple[str, ...]], Judgement] = field(default_factory=dict)

    def judged(self, claims: Sequence[str], passages: Sequence[str]) -> list[Judgement]:
        """How far the passages support each claim."""
        given = tuple(passages)
        new = [claim for claim in dict.fromkeys(claims) if (claim, given) not in self._judged]
        if new:
            made = self.judge.judge(new, given, self.outcome.question.question)
            self._judged.update(zip(((claim, given) for claim in new), made, strict=True))
        return [self._judged[claim, given] for claim in claims]

    @property
    def text(self) -> str:
        return text_of(self.answer)

    @property
    def passages(self) -> list[str]:
        """What the answer was made from, as far as it may be: a judge is not shown what seems to be planted."""
        return [unplanted(hit.passage.text, hit.passage.trust) for hit in self.outcome.read]

    @property
    def expected(self) -> tuple[str, ...]:
        """The claims of the expected answer; () where there is none."""
        text = self.outcome.question.expected_answer
        # "You cannot have two accounts" is no claim in an answer, which may say so of itself; here it is one.
        return claims_of(text) or ((text.strip(),) if text.strip() else ())


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
    if not question.answerable:
        values["correct"] = float(answer.abstained)
    elif answer.abstained and _has_right_answer(question):
        values["correct"] = 0.0
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


def text_of(answer: Answer) -> str:
    """The answer without its citation marks, whose numbers are none of its figures."""
    return "\n".join(sentence.text for sentence in answer.sentences)


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


def _has_right_answer(question: Question) -> bool:
    return bool(question.must_contain or question.must_not_contain or question.expected_answer.strip())


def _faithfulness(of: Answered) -> float | None:
    claims = [claim for sentence in of.answer.sentences for claim in claims_of(sentence.text)]
    return faithfulness(of.judged(claims, of.passages))


def _citation_recall(of: Answered) -> float | None:
    """Share of the sentences that what they cite supports."""
    supported = [_is_supported(of, sentence.text, sentence.citations) for sentence in of.answer.sentences]
    return sum(supported) / len(supported) if supported else None


def _citation_precision(of: Answered) -> float | None:
    """Share of the citations that support their sentence, alone or as a part that the others cannot spare."""
    useful = [
        _is_supported(of, sentence.text, (n,)) or _is_needed(of, sentence, n)
        for sentence in of.answer.sentences
        for n in sentence.citations
    ]
    return sum(useful) / len(useful) if useful else None


def _is_needed(of: Answered, sentence: Sentence, n: int) -> bool:
    others = tuple(other for other in sentence.citations if other != n)
    return (
        bool(others)
        and _is_supported(of, sentence.text, sentence.citations)
        and not _is_supported(of, sentence.text, others)
    )


def _is_supported(of: Answered, claim: str, citations: Sequence[int]) -> bool:
    (judged,) = of.judged([claim], [of.answer.citations[n - 1].quote for n in citations])
    return judged.is_supported


def _claim_f1(of: Answered) -> float | None:
    """F1 of the claims that answer and expected answer share; None where one of them claims nothing."""
    found = faithfulness(of.judged(of.expected, [of.text]))
    right = faithfulness(of.judged(claims_of(of.text), [of.outcome.question.expected_answer]))
    if found is None or right is None:
        return None
    return 2 * found * right / (found + right) if found + right else 0.0


def _correct(of: Answered) -> float | None:
    """1 for a right answer: by the texts that it must and must not hold, or as the judge finds all that is expected."""
    question, text = of.outcome.question, plain(of.text)
    if question.must_contain or question.must_not_contain:
        has_all = all(plain(part) in text for part in question.must_contain)
        return float(has_all and not any(plain(part) in text for part in question.must_not_contain))
    supported = faithfulness(of.judged(of.expected, [of.text]))
    return None if supported is None else float(supported == 1)


def _context_recall(of: Answered) -> float | None:
    """Share of the expected answer's claims that the passages support."""
    return faithfulness(of.judged(of.expected, of.passages))


def _context_precision(of: Answered) -> float | None:
    """A passage is relevant if it holds evidence; without evidence given, if it supports a claim that is expected."""
    question = of.outcome.question
    if question.evidence:
        return context_precision([bool(numbers) for numbers in held(question, of.outcome.read)])
    judged = [of.judged(of.expected, [passage]) for passage in of.passages]
    return context_precision([any(one.is_supported for one in each) for each in judged])


_OF_ANY: dict[str, Measure] = {
    "faithfulness": _faithfulness,
    "citation recall": _citation_recall,
    "citation precision": _citation_precision,
}
_OF_ANSWERABLE: dict[str, Measure] = {
    "correct": _correct,
    "claim F1": _claim_f1,
    "context recall": _context_recall,
    "context precision": _context_precision,
}
