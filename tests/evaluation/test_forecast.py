"""Forecasts: sums worked out by hand and published ones, and what is counted in an index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from citewell.errors import SettingsError, UsageError
from citewell.evaluation.forecast import formulas
from citewell.evaluation.forecast.at_indexing import cached_contextual, contextual, global_graph, graph, summary_tree
from citewell.evaluation.forecast.at_questions import cached_long_context, decomposition, hyde, judging, long_context
from citewell.evaluation.forecast.case import LANGUAGE_MODEL, Case, answered
from citewell.evaluation.forecast.collection import Asking, Collection, Counted
from citewell.evaluation.forecast.counting import asked, counted, draw
from citewell.evaluation.forecast.rates import Assumptions, Prices, Rates, Speeds, read_rates
from citewell.evaluation.forecast.table import TECHNIQUES, table
from citewell.evaluation.forecast.timing import timed
from citewell.evaluation.forecast.work import Work
from citewell.generation.prompt import build_prompt
from citewell.index import Index
from citewell.loading.given import from_text
from citewell.models import configured
from citewell.models.embedder import Embedder
from citewell.settings import Models, Queries, Settings
from citewell.types import Principal, Rights

ASKING = Asking(passages=5, room=12, passage_tokens=200.0, instruction_tokens=300, answer_tokens=100, candidates=50)


def case_of(*documents: Counted, assumed: Assumptions | None = None, asking: Asking = ASKING) -> Case:
    passages = sum(each.passages for each in documents)
    texts = Collection(len(documents), documents, entries=passages, dimensions=384)
    return Case(texts, asking, assumed or Assumptions(), context_tokens=128_000)


TWO = (Counted(1_000, 5, 900, 1_000, pages=3), Counted(400, 2, 380, 420))


def test_work_costs_what_its_kinds_cost() -> None:
    work = Work(2, 1_000_000, 100_000, 2_000_000, 10_000, 500_000, 4_000)
    prices = Prices(input=3, cache_write=3.75, cached=0.3, output=15, embedding=0.02, rerank=0.05)
    assert work.usd(prices) == pytest.approx(3 + 0.375 + 0.6 + 0.15 + 0.01 + 0.0002)
    speeds = Speeds(prefill=0.01, output=20, embedding=0.1, rerank=0.2)
    assert work.seconds(speeds) == pytest.approx((1_100_000 * 0.01 + 10_000 * 20 + 50_000 + 800) / 1_000)
    assert (work + work) == work.times(2)
    assert (work.prompt_tokens, work.llm_tokens) == (3_100_000, 3_110_000)


def test_what_has_no_price_is_not_guessed() -> None:
    assert Work(input_tokens=10).usd(Prices(output=1)) is None
    assert Work(input_tokens=10).usd(Prices(input=1)) == 10 / 1_000_000
    assert Work().usd(Prices()) == 0
    assert Work(output_tokens=1).seconds(Speeds(prefill=1)) is None


def test_residuals_take_what_the_paper_says() -> None:
    """ColBERTv2: 256 bytes a vector become 36 at 2 bits, and 20 at 1."""
    assert formulas.vector_bytes(1, formulas.COLBERT_DIMENSIONS, formulas.F16) == 256
    assert formulas.residual_bytes(1, formulas.COLBERT_DIMENSIONS, bits=2) == 36
    assert formulas.residual_bytes(10, formulas.COLBERT_DIMENSIONS, bits=1) == 200


def test_contextual_retrieval_costs_what_was_published() -> None:
    """Anthropic, September 2024: 1.02 USD a million tokens, of documents of 8,000 tokens cut into passages of 800, with
    50 tokens of instructions and 100 of context, at that year's prices of Claude 3 Haiku; each document is looked up
    in all ten calls there, and here in those after the first, which writes it."""
    assumed = Assumptions(instruction_tokens=50, context_tokens=100)
    forecast = cached_contextual(case_of(Counted(8_000, 10, 8_000, 8_000), assumed=assumed))
    prices = Prices(input=0.25, cache_write=0.30, cached=0.03, output=1.25, embedding=0)
    looked_up_once_more = replace(forecast.once, cached_tokens=forecast.once.cached_tokens + 8_000)
    per_million = (looked_up_once_more.usd(prices) or 0) / 8_000 * 1_000_000
    assert round(per_million, 2) == 1.02
    assert forecast.once.usd(prices) == pytest.approx(0.00794, abs=5e-6)


def test_contextual_retrieval_reads_the_whole_document_for_each_passage() -> None:
    plain, cached = contextual(case_of(*TWO)), cached_contextual(case_of(*TWO))
    assert plain.once == Work(
        calls=7,
        input_tokens=1_000 * 5 + 400 * 2 + 1_280 + 7 * 100,
        output_tokens=7 * 75,
        embedding_tokens=1_420 + 7 * 75,
    )
    assert cached.once.prompt_tokens == plain.once.prompt_tokens
    assert (cached.once.cache_write_tokens, cached.once.cached_tokens) == (1_400, 4_400)


@pytest.mark.parametrize(("leaves", "levels"), [(1, [1]), (2, [2, 1]), (10, [10, 1]), (11, [11, 2, 1])])
def test_a_tree_ends_in_one_root(leaves: int, levels: list[int]) -> None:
    assert formulas.tree_levels(leaves, 10) == levels


def test_a_tree_reads_every_node_but_the_root() -> None:
    case = case_of(Counted(2_200, 11, 2_200, 2_200), assumed=Assumptions(summary_tokens=50, instruction_tokens=10))
    forecast = summary_tree(case)
    assert forecast.once == Work(calls=3, input_tokens=2_200 + 2 * 50 + 3 * 10, output_tokens=150, embedding_tokens=150)
    assert forecast.stored_bytes == 3 * 384 * 4


def test_a_graph_is_read_from_every_passage_and_reported_on() -> None:
    assumed = Assumptions(
        relation_tokens=30, report_tokens=80, reports_per_1000_tokens=1.5, reports_read=0.5, instruction_tokens=10
    )
    case = case_of(*TWO, assumed=assumed)
    assert graph(case).once == Work(
        calls=7 + 2,
        input_tokens=1_280 + 7 * 10 + 210 + 2 * 10,
        output_tokens=210 + 160,
        embedding_tokens=160,
    )
    assert graph(case).per_question == answered(case).per_question
    one = global_graph(case).per_question
    assert one == Work(calls=2, input_tokens=80 + 10 + 20 + 100 + 300, output_tokens=200)


def test_the_ways_to_ask() -> None:
    case = case_of(*TWO)
    plain = answered(case).per_question
    assert plain == Work(calls=1, input_tokens=1_300, output_tokens=100, embedding_tokens=20)
    assert hyde(case).per_question == plain + Work(calls=1, input_tokens=120, output_tokens=100, embedding_tokens=100)
    assert long_context(case).per_question == Work(calls=1, input_tokens=1_700, output_tokens=100)
    cached = cached_long_context(case)
    assert cached.once == Work(cache_write_tokens=1_400)
    assert cached.per_question == Work(calls=1, input_tokens=300, cached_tokens=1_400, output_tokens=100)
    # Four parts find twenty passages, and the prompt has room for twelve.
    divided = decomposition(case).per_question
    assert divided.input_tokens == 12 * 200 + 300 + 120
    assert judging(case).once == Work(calls=200, input_tokens=100 * (220 + 1_200), output_tokens=20_000)


def test_texts_that_do_not_fit_in_a_prompt_are_named() -> None:
    case = case_of(Counted(127_601, 400, 127_000, 127_000))
    assert long_context(case).note == "does not fit in 128,000 tokens"
    assert long_context(replace(case, context_tokens=128_001)).note == ""


def test_a_document_without_pages_has_as_many_as_its_tokens_fill() -> None:
    assert case_of(*TWO).collection.pages(300) == 3 + 2


def test_what_was_drawn_is_scaled_up() -> None:
    drawn = tuple(Counted(tokens, 2, tokens, tokens) for tokens in (100, 200, 300))
    texts = Collection(30, drawn, entries=60, dimensions=384)
    assert (texts.tokens, texts.passages, texts.passage_tokens) == (6_000, 60, 100)
    assert texts.readings_again == 6_000
    interval = texts.tokens_interval
    assert interval is not None
    assert 3_000 <= interval[0] < 6_000 < interval[1] <= 9_000
    assert Collection(3, drawn, 6, 384).tokens_interval is None


PRICED = Rates(usd_per_million_tokens=Prices(input=3, output=15, embedding=0))


def test_without_a_language_model_the_settings_are_a_row_of_their_own() -> None:
    case = case_of(*TWO)
    without, with_one = (table(case, PRICED, 1_000, has_llm=has_llm) for has_llm in (False, True))
    assert len(without.rows) == len(with_one.rows) + 1 == len(TECHNIQUES) + 2
    first, second = without.rows[:2]
    assert (first.usd_per_month, first.ratio, first.missing) == (0, 0, False)
    assert (second.ratio, second.missing, second.forecast.name) == (1, True, without.compared_with)
    assert all(row.missing for row in without.rows[1:])
    needed = {row.forecast.needs for row in with_one.rows if row.missing}
    assert LANGUAGE_MODEL not in needed
    assert len(needed) == 3


def test_ratios_are_of_money_where_there_are_prices() -> None:
    case = case_of(*TWO)
    of_money = {row.forecast.name: row for row in table(case, PRICED, 1_000, has_llm=True).rows}
    of_tokens = {row.forecast.name: row for row in table(case, Rates(), 1_000, has_llm=True).rows}
    plain, made_up = 1_300 * 3 + 100 * 15, 1_420 * 3 + 200 * 15
    assert of_money["HyDE"].ratio == pytest.approx(made_up / plain)
    assert of_money["HyDE"].usd_per_month == pytest.approx(made_up / 1_000)
    assert of_tokens["HyDE"].ratio == pytest.approx(1_620 / 1_400)
    assert of_tokens["HyDE"].usd_per_month is None
    assert of_money["long context, cached"].ratio is None  # the price of what is looked up is not given


def test_stored_questions_are_cheaper_from_some_question_on() -> None:
    case = case_of(*TWO)
    stored = (1_280 + 700) * 3 + 7 * 3 * 15 * 15
    each = 120 * 3 + 100 * 15
    assert table(case, PRICED, 1, has_llm=True).break_even == -(-stored // each)
    assert table(case, Rates(), 1, has_llm=True).break_even == -(-(1_980 + 315) // 220)


def test_rates_are_read(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text("[usd_per_million_tokens]\ninput = 3\ncached = 0.3\n[assumptions]\nsub_questions = 2\n")
    rates = read_rates(path)
    assert (rates.usd_per_million_tokens.input, rates.usd_per_million_tokens.output) == (3, None)
    assert (rates.assumptions.sub_questions, rates.assumptions.questions_per_passage) == (2, 3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[usd_per_million_tokens]\ninputs = 3\n", "usd_per_million_tokens.inputs"),
        ("[usd_per_million_tokens]\ninput = -1\n", "usd_per_million_tokens.input must be 0.0 or more"),
        ("[ms_per_token]\nprefill = nan\n", "ms_per_token.prefill must be a finite number"),
        ("[assumptions]\nmembers_per_cluster = 1\n", "members_per_cluster must be 2 or more"),
        ("input = 3\n", "input is not known"),
        ("[", "not valid TOML"),
    ],
)
def test_wrong_rates_are_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=said):
        read_rates(path)


CARDS = ("Aurora", "Basalt", "Cobalt", "Dune", "Ember", "Fjord", "Garnet", "Harbour")
SMALL_TO_BIG = Settings.model_validate({"chunking": {"size": 16, "overlap": 0, "parents": 200}})
TEXT = "\n\n".join(f"The limit of the {card} card is 300 euros a day in every country." for card in CARDS[:4])


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return configured.embedder(Settings().models)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Nine documents of one sentence, two of them for one team, one that nobody may read."""
    with Index.create(tmp_path_factory.mktemp("forecast") / "index") as made:
        texts = [from_text(f"The {card} card costs 40 euros.", source=f"bank:{card}", title="Prices") for card in CARDS]
        hidden = from_text("Nobody reads this.", source="bank:hidden")
        made.add_documents(
            [
                *texts[2:],
                *(replace(text, rights=Rights(frozenset({"team"}))) for text in texts[:2]),
                replace(hidden, rights=Rights(frozenset())),
            ]
        )
        yield made


def test_an_index_is_counted(index: Index, embedder: Embedder) -> None:
    drawn = draw(index)
    texts = counted(drawn, index.status().entries, embedder, token_vectors=True)
    lengths = [len(embedder.token_spans(f"The {card} card costs 40 euros.")) for card in CARDS]
    assert (texts.documents, len(texts.counted), texts.passages) == (8, 8, 8)
    assert texts.tokens == sum(lengths)
    assert texts.passage_tokens == sum(lengths) / 8
    assert texts.embedded_tokens == texts.tokens + 8  # the title stands above each
    assert (texts.entries, texts.dimensions, texts.token_bytes) == (9, 384, 96)


def test_this_machine_is_timed_whole(index: Index, embedder: Embedder) -> None:
    """Indexing is more than embedding, and an answer more than the embedding of its question."""
    found = timed(index.location, draw(index), Settings(), embedder, Speeds())
    assert found.embedding is not None
    assert found.indexing is not None
    assert found.indexing > found.embedding > 0
    assert found.searching is not None
    assert found.searching > 1
    assert timed(index.location, draw(index), Settings(), embedder, Speeds(embedding=7, searching=9, quoting=2)) == (
        Speeds(embedding=7, searching=9, quoting=2)
    )
    other = Settings(models=Models(llm="openai:none", llm_url="http://localhost:9/v1"), queries=Queries(variants=3))
    assert timed(index.location, draw(index), other, embedder, Speeds(embedding=7)).searching, "no model is called"


def test_times_are_of_all_that_is_done() -> None:
    speeds = Speeds(prefill=0, output=0, embedding=1, indexing=3, searching=100, quoting=40)
    case = case_of(Counted(1_000, 10, 1_000, 1_000))
    rows = {row.forecast.name: row for row in table(case, Rates(ms_per_token=speeds), 1, has_llm=False).rows}
    question = case.assumed.question_tokens
    assert rows["current settings"].seconds_once == pytest.approx(3)
    assert rows["current settings"].ms_per_question == pytest.approx(question + 140)
    assert rows["with a language model"].ms_per_question == pytest.approx(question + 100)
    assert rows["long context"].ms_per_question == 0, "nothing is searched"


def test_a_prompt_is_forecast_as_it_is(index: Index, embedder: Embedder) -> None:
    question = "What does the Cobalt card cost, and what does the Dune card cost in a year?"
    assumed = Assumptions(question_tokens=len(embedder.token_spans(question)))
    expected = asked(draw(index), Settings(), assumed, embedder)
    built = build_prompt(question, index.search(question, principal=Principal(groups=frozenset({"team"}))), Settings())
    prompt = built.prompt
    assert (len(built.hits), expected.passages, expected.candidates) == (5, 5, 8)
    forecast = formulas.prompt_tokens(expected.passages, expected.passage_tokens, expected.instruction_tokens)
    # Each prompt ends its tags in a code of its own, and codes are cut into more or fewer tokens.
    assert len(embedder.token_spans(f"{prompt.system}\n{prompt.user}")) == pytest.approx(forecast, rel=0.1)


def test_of_a_large_index_the_same_documents_are_drawn(index: Index, embedder: Embedder) -> None:
    drawn = draw(index, most=3)
    assert drawn == draw(index, most=3)
    texts = counted(drawn, 9, embedder, token_vectors=False)
    assert (texts.documents, len(texts.counted), texts.passages) == (8, 3, 8)
    assert texts.tokens_interval is not None
    assert texts.token_bytes == 0


def test_what_is_read_in_the_place_of_a_passage_is_none(tmp_path: Path, embedder: Embedder) -> None:
    with Index.create(tmp_path / "index", settings=SMALL_TO_BIG) as made:
        made.add_documents([from_text(TEXT, source="bank:limits")])
        drawn = draw(made)
        texts = counted(drawn, made.status().entries, embedder, token_vectors=False)
        prompt = asked(drawn, SMALL_TO_BIG, Assumptions(), embedder)
    assert texts.passages == texts.entries == 4
    assert prompt.passage_tokens > 3 * texts.passage_tokens


def test_an_index_without_text_has_no_forecast(tmp_path: Path) -> None:
    with Index.create(tmp_path / "index") as made, pytest.raises(UsageError, match="no text"):
        draw(made)
