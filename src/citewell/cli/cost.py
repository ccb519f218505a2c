"""`citewell cost`"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.options import DEFAULT_INDEX, IndexPlace, Json, SettingsFile, load_settings
from citewell.cli.terminal import count, out, print_json, print_table
from citewell.shapes import VERSION, Shape

if TYPE_CHECKING:
    from citewell.evaluation.forecast.rates import Rates
    from citewell.evaluation.forecast.table import LongContext, Row, Table
    from citewell.settings import Settings

UNKNOWN = "–"
MOST_USD = 1_000_000
MILLION = 1_000_000

Questions = Annotated[
    int, typer.Option("--questions-per-month", metavar="N", min=1, max=1_000_000_000, help="Default 1,000.")
]
RatesFile = Annotated[
    Path | None,
    typer.Option(
        "--prices", metavar="FILE", readable=False, help="Prices, speeds and assumptions, as docs/cost.md shows them."
    ),
]
InputPrice = Annotated[
    float | None,
    typer.Option("--input-price", metavar="USD", min=0, max=MOST_USD, help="Of a million tokens that a model reads."),
]
OutputPrice = Annotated[
    float | None,
    typer.Option("--output-price", metavar="USD", min=0, max=MOST_USD, help="Of a million tokens that it writes."),
]
EmbeddingPrice = Annotated[
    float | None,
    typer.Option("--embedding-price", metavar="USD", min=0, max=MOST_USD, help="Of a million tokens embedded."),
]


def cost(
    questions: Questions = 1_000,
    prices: RatesFile = None,
    input_price: InputPrice = None,
    output_price: OutputPrice = None,
    embedding_price: EmbeddingPrice = None,
    at: IndexPlace = DEFAULT_INDEX,
    settings: SettingsFile = None,
    as_json: Json = False,
) -> None:
    """Forecast what the settings cost, and what each technique would, before a run."""
    from citewell.evaluation.forecast.rates import Rates, read_rates

    loaded = load_settings(settings)
    rates = read_rates(prices) if prices is not None else Rates()
    given = {"input": input_price, "output": output_price, "embedding": embedding_price}
    table = _forecast(at, loaded, _with_prices(rates, loaded, given), questions)
    if as_json:
        print_json(_shape(table))
    else:
        _print(table)


def _with_prices(rates: Rates, settings: Settings, given: dict[str, float | None]) -> Rates:
    """The command line wins over the file; what is embedded on this machine has no price."""
    known = {name: price for name, price in given.items() if price is not None}
    prices = rates.usd_per_million_tokens.model_copy(update=known)
    if prices.embedding is None and _is_local(settings):
        prices = prices.model_copy(update={"embedding": 0.0})
    return rates.model_copy(update={"usd_per_million_tokens": prices})


def _forecast(at: str, settings: Settings, rates: Rates, questions: int) -> Table:
    from citewell.evaluation.forecast.case import Case
    from citewell.evaluation.forecast.counting import asked, counted, draw
    from citewell.evaluation.forecast.enriching import enriching
    from citewell.evaluation.forecast.table import table
    from citewell.evaluation.forecast.timing import timed
    from citewell.index import Index
    from citewell.models import configured

    embedder = configured.embedder(settings.models)
    with Index.open(at, settings=settings) as index:
        drawn, entries = draw(index), index.status().entries
    case = Case(
        collection=counted(drawn, entries, embedder, token_vectors=settings.storage.token_vectors),
        asking=asked(drawn, settings, rates.assumptions, embedder),
        assumed=rates.assumptions,
        context_tokens=rates.language_model.context_tokens,
        enriching=enriching(drawn, settings.enrichment, rates.assumptions, embedder, settings.security.untrusted),
    )
    if _is_local(settings):
        speeds = timed(at, drawn, settings, embedder, rates.ms_per_token)
        rates = rates.model_copy(update={"ms_per_token": speeds})
    return table(case, rates, questions, has_llm=settings.models.llm != "none")


def _is_local(settings: Settings) -> bool:
    return not settings.models.embedder.startswith("openai:")


Column = tuple[str, Callable[["Row"], str]]


def _print(table: Table) -> None:
    from citewell.evaluation.forecast.work import NOTHING

    for line in _facts(table):
        out().print(line)
    once = [row for row in table.rows if row.forecast.once != NOTHING or row.forecast.stored_bytes]
    priced = table.rates.usd_per_million_tokens.known
    _print_rows("Once, from the index as it is", once, _ONCE + (_ONCE_USD if priced else ()))
    asked = [row for row in table.rows if row.forecast.per_question != NOTHING]
    a_month = _USD_A_MONTH if priced else _TOKENS_A_MONTH
    _print_rows("At every question", asked, (*_PER_QUESTION, *a_month, _RATIO))
    print()
    for line in _remarks(table):
        out().print(line)


def _print_rows(title: str, rows: Sequence[Row], columns: Sequence[Column]) -> None:
    """A column that every row leaves empty is left out."""
    from rich.table import Table as Grid

    shown = [(name, cell) for name, cell in columns if any(cell(row) != UNKNOWN for row in rows)]
    grid = Grid(box=None, pad_edge=False, header_style="dim")
    grid.add_column(title)
    for name, _ in shown:
        grid.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        grid.add_row(row.forecast.name + ("*" if row.missing else ""), *(cell(row) for _, cell in shown))
    print()
    print_table(grid)


def _facts(table: Table) -> Iterator[str]:
    texts, asking = table.case.collection, table.case.asking
    interval = texts.tokens_interval
    between = f" (95 % interval {_number(interval[0])} to {_number(interval[1])})" if interval else ""
    yield (
        f"{count(texts.documents, 'document')} with {count(texts.passages, 'passage')} of {texts.passage_tokens:,.0f} "
        f"tokens, {_number(texts.tokens)} tokens in all{between}."
    )
    if interval:
        yield f"{count(len(texts.counted), 'document')} of these, drawn at random, were counted."
    yield (
        f"A prompt has {count(asking.passages, 'passage')} of {asking.passage_tokens:,.0f} tokens, and "
        f"{asking.instruction_tokens:,} tokens of instructions and question."
    )


def _remarks(table: Table) -> Iterator[str]:
    for row in table.rows:
        if row.forecast.note:
            yield f"{row.forecast.name}: {row.forecast.note}."
    if table.break_even is not None:
        yield f"Stored questions are cheaper than HyDE from {count(table.break_even, 'question')} on."
    yield _in_words(table.long_context)
    yield f'Ratios are to the row "{table.compared_with}", {_month(table)}.'
    missing = dict.fromkeys(row.forecast.needs for row in table.rows if row.missing)
    if missing:
        yield f"* needs a model that the settings do not name: {', '.join(missing)}."
    prices = table.rates.usd_per_million_tokens
    if prices.known and prices.cached is None:
        yield "What a provider's cache costs is given in --prices FILE; docs/cost.md has an example."
    if not prices.known:
        yield "For USD give the prices of a million tokens: --input-price 3 --output-price 15, or --prices FILE."


def _in_words(beside: LongContext) -> str:
    long, short = beside.tokens
    read = f"Long context reads {_number(long)} tokens a question, retrieval {_number(short)}"
    words = [f"{read}: {beside.ratio:,.1f} times, and {beside.attention_ratio:,.0f} times the comparisons of attention"]
    if beside.prefill_s is not None:
        words.append("{:,.2f} s to read, not {:,.2f} s".format(*beside.prefill_s))
    if beside.kv_cache_gb is not None:
        words.append("{:,.2f} GB of KV cache, not {:,.2f} GB".format(*beside.kv_cache_gb))
    return f"{'; '.join(words)}."


def _month(table: Table) -> str:
    unit = "USD" if table.rates.usd_per_million_tokens.known else "tokens of the language model"
    return f"in {unit}; a month has {count(table.questions_per_month, 'question')}"


def _number(value: int) -> str:
    return f"{value:,}" if value < MILLION else f"{value / MILLION:,.1f} M"


def _usd(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:,.2f}" if value >= 0.1 or value == 0 else f"{value:.2g}"


def _some(value: float | None, shown: str) -> str:
    """In the format given."""
    return UNKNOWN if value is None else format(value, shown)


_ONCE: tuple[Column, ...] = (
    ("calls", lambda row: _number(row.forecast.once.calls)),
    ("tokens in", lambda row: _number(row.forecast.once.prompt_tokens)),
    ("out", lambda row: _number(row.forecast.once.output_tokens)),
    ("embedded", lambda row: _number(row.forecast.once.embedding_tokens)),
    ("minutes", lambda row: _some(row.seconds_once and row.seconds_once / 60, ",.1f")),
    ("MB", lambda row: f"{row.forecast.stored_bytes / MILLION:,.2f}"),
)
_ONCE_USD: tuple[Column, ...] = (("USD", lambda row: _usd(row.usd_once)),)
_PER_QUESTION: tuple[Column, ...] = (
    ("calls", lambda row: _number(row.forecast.per_question.calls)),
    ("tokens in", lambda row: _number(row.forecast.per_question.prompt_tokens)),
    ("out", lambda row: _number(row.forecast.per_question.output_tokens)),
    ("ms", lambda row: _some(row.ms_per_question, ",.0f")),
)
_USD_A_MONTH: tuple[Column, ...] = (
    ("USD", lambda row: _usd(row.usd_per_question)),
    ("USD a month", lambda row: _usd(row.usd_per_month)),
)
_TOKENS_A_MONTH: tuple[Column, ...] = (("tokens a month", lambda row: _number(row.per_month.llm_tokens)),)
_RATIO: Column = ("ratio", lambda row: _some(row.ratio, ",.2f"))


def _shape(table: Table) -> Shape:
    texts, beside = table.case.collection, table.long_context
    low, high = texts.tokens_interval or (texts.tokens, texts.tokens)
    return {
        "version": VERSION,
        "collection": {
            "documents": texts.documents,
            "documents_counted": len(texts.counted),
            "tokens": texts.tokens,
            "tokens_low": low,
            "tokens_high": high,
            "passages": texts.passages,
            "passage_tokens": texts.passage_tokens,
            "entries": texts.entries,
            "dimensions": texts.dimensions,
        },
        "question": asdict(table.case.asking),
        "questions_per_month": table.questions_per_month,
        **table.rates.model_dump(),
        "compared_with": table.compared_with,
        "ratio_of": "usd" if table.rates.usd_per_million_tokens.known else "tokens",
        "techniques": [_row_shape(row) for row in table.rows],
        "long_context": {
            "tokens": beside.tokens[0],
            "retrieval_tokens": beside.tokens[1],
            "ratio": beside.ratio,
            "attention_ratio": beside.attention_ratio,
            "prefill_s": beside.prefill_s and beside.prefill_s[0],
            "retrieval_prefill_s": beside.prefill_s and beside.prefill_s[1],
            "kv_cache_gb": beside.kv_cache_gb and beside.kv_cache_gb[0],
            "retrieval_kv_cache_gb": beside.kv_cache_gb and beside.kv_cache_gb[1],
        },
        "break_even_questions": table.break_even,
    }


def _row_shape(row: Row) -> Shape:
    forecast = row.forecast
    return {
        "name": forecast.name,
        "needs": forecast.needs,
        "missing": row.missing,
        "note": forecast.note,
        "once": asdict(forecast.once)
        | {"usd": row.usd_once, "seconds": row.seconds_once, "stored_bytes": forecast.stored_bytes},
        "per_question": asdict(forecast.per_question) | {"usd": row.usd_per_question, "ms": row.ms_per_question},
        "per_month": asdict(row.per_month) | {"usd": row.usd_per_month},
        "ratio": row.ratio,
    }
