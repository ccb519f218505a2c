"""Techniques that are paid for at every question: each a function from a case to its forecast."""

from __future__ import annotations

from dataclasses import replace

from citewell.evaluation.forecast import formulas
from citewell.evaluation.forecast.case import LANGUAGE_MODEL, RERANKER, Case, Forecast, question
from citewell.evaluation.forecast.work import Work


def long_context(case: Case) -> Forecast:
    """No retrieval: all texts in every prompt."""
    tokens, asking = case.collection.tokens, case.asking
    whole = tokens + asking.instruction_tokens
    fits = whole + asking.answer_tokens <= case.context_tokens
    return Forecast(
        "long context",
        per_question=Work(calls=1, input_tokens=whole, output_tokens=asking.answer_tokens),
        needs=LANGUAGE_MODEL,
        note="" if fits else f"does not fit in {case.context_tokens:,} tokens",
    )


def cached_long_context(case: Case) -> Forecast:
    """As `long_context`, with the texts found in the provider's cache by every question."""
    plain = long_context(case)
    tokens = case.collection.tokens
    kept = replace(plain.per_question, input_tokens=case.asking.instruction_tokens, cached_tokens=tokens)
    note = plain.note or "if questions come before the cache is emptied"
    return replace(
        plain, name="long context, cached", once=Work(cache_write_tokens=tokens), per_question=kept, note=note
    )


def hyde(case: Case) -> Forecast:
    """A made-up answer is searched for in the place of the question (Gao et al. 2022)."""
    assumed = case.assumed
    made_up = Work(
        calls=1,
        input_tokens=assumed.instruction_tokens + assumed.question_tokens,
        output_tokens=assumed.hypothetical_tokens,
        embedding_tokens=assumed.hypothetical_tokens,
    )
    return Forecast("HyDE", per_question=question(case) + made_up, needs=LANGUAGE_MODEL)


def decomposition(case: Case) -> Forecast:
    """The question is divided, each part searched for, and all that is found goes into one prompt."""
    assumed, asking = case.assumed, case.asking
    asked = assumed.sub_questions * assumed.question_tokens
    divided = Work(
        calls=1,
        input_tokens=assumed.instruction_tokens + assumed.question_tokens,
        output_tokens=asked,
        embedding_tokens=asked,
    )
    found = min(assumed.sub_questions * asking.passages, asking.room)
    return Forecast(
        "decomposition",
        per_question=question(case, found) + divided,
        needs=LANGUAGE_MODEL,
        note="at most; parts that find the same passages take less",
    )


def reranking(case: Case) -> Forecast:
    """A cross-encoder reads the question with each candidate (Nogueira and Cho 2019)."""
    read = formulas.rerank_tokens(case.asking.candidates, case.assumed.question_tokens, case.collection.passage_tokens)
    return Forecast("re-ranking", per_question=question(case) + Work(rerank_tokens=read), needs=RERANKER)


def judging(case: Case) -> Forecast:
    """Answers divided into claims, and these read with the passages (RAGAS, Es et al. 2023)."""
    assumed, asking = case.assumed, case.asking
    claims = asking.answer_tokens
    divided = Work(1, assumed.instruction_tokens + assumed.question_tokens + asking.answer_tokens, output_tokens=claims)
    read = formulas.prompt_tokens(asking.passages, asking.passage_tokens, assumed.instruction_tokens + claims)
    judged = Work(calls=1, input_tokens=read, output_tokens=claims)
    number = assumed.judged_questions
    return Forecast(
        f"judging {number:,} answers",
        once=(divided + judged).times(number),
        needs=LANGUAGE_MODEL,
        note="the answers themselves are questions like any other",
    )
