"""A test set to its scores: run, judged, summed up. The two commands that take settings files do this for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from citewell.checking.judge import Judge
from citewell.evaluation.answers import measured
from citewell.evaluation.completions import RememberedLLM
from citewell.evaluation.measures import Measured
from citewell.evaluation.runs import OnQuestion, Outcome, run
from citewell.evaluation.summary import Slice, summarise
from citewell.evaluation.testset import Question
from citewell.index import Index
from citewell.models.embedder import Embedder


@dataclass(frozen=True, slots=True)
class Scored:
    """One run of a test set: what became of each question, what each scored, and the tables."""

    outcomes: tuple[Outcome, ...]
    measured: tuple[Measured, ...]
    slices: tuple[Slice, ...]

    @property
    def unanswered(self) -> tuple[Outcome, ...]:
        """The questions that the language model's service failed."""
        return tuple(outcome for outcome in self.outcomes if outcome.error)

    @property
    def unfound(self) -> tuple[Question, ...]:
        """The questions of which evidence is in none of the passages looked at: it may be nowhere."""
        return tuple(
            outcome.question
            for outcome in self.outcomes
            if len(frozenset().union(*outcome.held)) < len(outcome.question.evidence)
        )


def score(
    index: Index,
    questions: Sequence[Question],
    *,
    judge: Judge,
    embedder: Embedder,
    answers: bool = True,
    llm: RememberedLLM | None = None,
    on_question: OnQuestion | None = None,
) -> Scored:
    """Put every question to the index and judge what comes back; without `answers`, what is retrieved only.

    `embedder` measures relevance; it is the same for all runs that are compared, whatever the index is made with. For
    `llm` see `run`.

    Raises:
        ServiceError: the language model's service failed on the first question.
        FingerprintMismatch: the embedder is not the one that made the index.
    """
    outcomes = run(index, questions, answers=answers, llm=llm, on_question=on_question)
    each = tuple(measured(outcome, judge, embedder) for outcome in outcomes)
    return Scored(outcomes, each, summarise(each))
