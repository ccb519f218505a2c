"""The forecasts of all techniques beside the current settings, at one set of rates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from citewell.evaluation.forecast import formulas
from citewell.evaluation.forecast.at_indexing import (
    cached_contextual,
    compressed_token_vectors,
    contextual,
    global_graph,
    graph,
    page_images,
    stored_questions,
    summary_tree,
    token_vectors,
)
from citewell.evaluation.forecast.at_questions import (
    cached_long_context,
    decomposition,
    hyde,
    judging,
    long_context,
    reranking,
)
from citewell.evaluation.forecast.case import LANGUAGE_MODEL, Case, Forecast, answered, built
from citewell.evaluation.forecast.rates import Rates
from citewell.evaluation.forecast.work import MS_PER_SECOND, Work

TECHNIQUES: tuple[Callable[[Case], Forecast], ...] = (
    long_context,
    cached_long_context,
    hyde,
    stored_questions,
    decomposition,
    reranking,
    contextual,
    cached_contextual,
    token_vectors,
    compressed_token_vectors,
    page_images,
    summary_tree,
    graph,
    global_graph,
    judging,
)


@dataclass(frozen=True, slots=True)
class Row:
    """A forecast at the user's rates; what is not known is None. `per_month` is of all questions of a month.

    `ratio` is the cost of a month over that of the row compared with; of language model tokens, where there are no
    prices. No times are known of models that are not there yet: another embedder, a re-ranker. `missing` says that it
    needs a model that the settings do not name.
    """

    forecast: Forecast
    per_month: Work
    usd_once: float | None
    usd_per_question: float | None
    usd_per_month: float | None
    seconds_once: float | None
    ms_per_question: float | None
    ratio: float | None
    missing: bool


@dataclass(frozen=True, slots=True)
class LongContext:
    """A prompt of all texts beside one of the passages found: its tokens, seconds to read and GB while it is read."""

    tokens: tuple[int, int]
    ratio: float
    attention_ratio: float
    prefill_s: tuple[float, float] | None
    kv_cache_gb: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Table:
    """`rows` begins with the current settings. All ratios are to the row called `compared_with`.

    `break_even` is the number of questions from which on stored questions are cheaper than HyDE, None where that is not
    known.
    """

    case: Case
    rates: Rates
    questions_per_month: int
    compared_with: str
    rows: tuple[Row, ...]
    long_context: LongContext
    break_even: int | None


def table(case: Case, rates: Rates, questions_per_month: int, *, has_llm: bool) -> Table:
    """Every technique at these rates. Without a language model the settings are a row of their own, and techniques are
    compared with what they would be with one."""
    now, written = built(case), answered(case)
    base = replace(now, per_question=written.per_question, needs=written.needs) if has_llm else written
    forecasts = [*([] if has_llm else [now]), base, *(forecast(case) for forecast in TECHNIQUES)]
    return Table(
        case=case,
        rates=rates,
        questions_per_month=questions_per_month,
        compared_with=base.name,
        rows=tuple(_row(each, base, rates, questions_per_month, has_llm) for each in forecasts),
        long_context=beside(long_context(case).per_question, base.per_question, rates),
        break_even=_break_even(case, rates),
    )


def beside(long: Work, short: Work, rates: Rates) -> LongContext:
    """The two ways to have a question answered, by what the language model reads."""
    tokens = long.prompt_tokens, short.prompt_tokens
    prefill, kv_mb = rates.ms_per_token.prefill, rates.language_model.kv_mb_per_token
    return LongContext(
        tokens=tokens,
        ratio=tokens[0] / tokens[1],
        attention_ratio=formulas.attention_ratio(*tokens),
        prefill_s=None if prefill is None else (tokens[0] * prefill / 1_000, tokens[1] * prefill / 1_000),
        kv_cache_gb=None
        if kv_mb is None
        else (formulas.kv_cache_gb(tokens[0], kv_mb), formulas.kv_cache_gb(tokens[1], kv_mb)),
    )


def _row(forecast: Forecast, base: Forecast, rates: Rates, questions: int, has_llm: bool) -> Row:
    prices, speeds = rates.usd_per_million_tokens, rates.ms_per_token
    month = forecast.per_question.times(questions)
    timed = forecast.needs in {"", LANGUAGE_MODEL}
    seconds = forecast.per_question.seconds(speeds) if timed else None
    if seconds is not None and forecast.per_question.embedding_tokens:
        seconds += speeds.beside_models(is_quoted=not forecast.per_question.calls) / MS_PER_SECOND
    return Row(
        forecast=forecast,
        per_month=month,
        usd_once=forecast.once.usd(prices),
        usd_per_question=forecast.per_question.usd(prices),
        usd_per_month=month.usd(prices),
        seconds_once=forecast.once.seconds(speeds.once) if timed else None,
        ms_per_question=None if seconds is None else seconds * MS_PER_SECOND,
        ratio=_ratio(forecast.per_question, base.per_question, rates),
        missing=bool(forecast.needs) and not (forecast.needs == LANGUAGE_MODEL and has_llm),
    )


def _ratio(work: Work, base: Work, rates: Rates) -> float | None:
    if rates.usd_per_million_tokens.known:
        cost, cost_of_base = work.usd(rates.usd_per_million_tokens), base.usd(rates.usd_per_million_tokens)
        return cost / cost_of_base if cost is not None and cost_of_base else None
    return work.llm_tokens / base.llm_tokens


def _break_even(case: Case, rates: Rates) -> int | None:
    once, each = stored_questions(case).once, hyde(case).per_question
    plain = answered(case).per_question
    if not rates.usd_per_million_tokens.known:
        return formulas.break_even(once.llm_tokens, each.llm_tokens - plain.llm_tokens)
    prices = rates.usd_per_million_tokens
    paid, more, less = once.usd(prices), each.usd(prices), plain.usd(prices)
    return None if paid is None or more is None or less is None else formulas.break_even(paid, more - less)
