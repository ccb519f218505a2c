"""A test set put to an index, each question by its own reader and on its own day."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from citewell.errors import ServiceError
from citewell.evaluation.completions import RememberedLLM
from citewell.evaluation.placing import Held, held
from citewell.evaluation.testset import Question
from citewell.generation.prompt import build_prompt
from citewell.index import Index
from citewell.types import Answer, Hit, Principal

DEPTH = 20
"""How many passages are looked at, at least: enough for a curve of recall beyond those that an answer is made of."""

OnQuestion = Callable[[int, int], None]
"""Called with how many questions are done, and of how many."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one question.

    `hits` are the `DEPTH` best passages before the floor, or as many as are kept; `held` says what each holds of the
    evidence. `answer` is None where only retrieval was asked for, or the language model's service failed with `error`;
    `read` are those of its hits that it was made from, as a prompt may not hold all of them.
    """

    question: Question
    hits: tuple[Hit, ...]
    held: Held
    search_ms: float
    answer: Answer | None = None
    answer_ms: float = 0.0
    read: tuple[Hit, ...] = ()
    error: str = ""


def run(
    index: Index,
    questions: Sequence[Question],
    *,
    answers: bool = True,
    llm: RememberedLLM | None = None,
    on_question: OnQuestion | None = None,
) -> tuple[Outcome, ...]:
    """Every question in turn, so that the times are those of one user.

    `llm` is the one that the index was opened with, where it remembers: what it was spared counts into the times.

    Raises:
        ServiceError: the language model's service failed on the first question; a later failure is that question's.
        FingerprintMismatch: the embedder is not the one that made the index.
    """
    if questions:
        index.search(questions[0].question, k=1)  # What a first call loads is no question's time.
    outcomes: list[Outcome] = []
    for question in questions:
        outcomes.append(_outcome(index, question, answers, llm, may_fail=bool(outcomes)))
        if on_question is not None:
            on_question(len(outcomes), len(questions))
    return tuple(outcomes)


def reader_of(question: Question) -> Principal:
    """Who asks it."""
    return Principal(groups=frozenset(question.groups))


def _outcome(index: Index, question: Question, answers: bool, llm: RememberedLLM | None, *, may_fail: bool) -> Outcome:
    principal, day = reader_of(question), question.as_of
    begin = time.perf_counter()
    depth = max(DEPTH, index.settings.retrieval.keep)
    hits = index.search(question.question, k=depth, principal=principal, as_of=day)
    searched = time.perf_counter()
    found = held(question, hits)
    search_ms = (searched - begin) * 1000
    if not answers:
        return Outcome(question, hits, found, search_ms)
    spared = -llm.saved_s if llm is not None else 0.0
    try:
        answer = index.ask(question.question, principal=principal, as_of=day)
    except ServiceError as error:
        if not may_fail:
            raise
        return Outcome(question, hits, found, search_ms, error=error.message)
    spared += llm.saved_s if llm is not None else 0.0
    answer_ms = (time.perf_counter() - searched + spared) * 1000
    return Outcome(question, hits, found, search_ms, answer, answer_ms, _read(index, answer))


def _read(index: Index, answer: Answer) -> tuple[Hit, ...]:
    if index.settings.models.llm == "none" or not answer.hits:
        return answer.hits  # no prompt, no limit
    return build_prompt(answer.question, answer.hits, index.settings).hits
