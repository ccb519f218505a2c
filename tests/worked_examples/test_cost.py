"""`cost`, `storage_bytes`, `raptor`, the vectors of `synthetic_questions`, and the prompt of `decomposition`."""

from itertools import chain
from typing import Any

import pytest

from citewell.evaluation.forecast import formulas
from citewell.evaluation.forecast.at_indexing import page_images, stored_questions, summary_tree, token_vectors
from citewell.evaluation.forecast.at_questions import decomposition, long_context, reranking
from citewell.evaluation.forecast.case import Case, answered, built
from citewell.evaluation.forecast.collection import Asking, Collection, Counted
from citewell.evaluation.forecast.rates import Assumptions, LanguageModel, Prices, Rates, Speeds
from citewell.evaluation.forecast.table import Row, Table, table

PREFILL_MS, KV_MB = 0.028, 0.131  # as the keys of the example name them
DIMENSIONS = 1024  # as its keys name them


def places(expected: float) -> int:
    """The decimals that the example gives."""
    return len(str(expected).partition(".")[2])


def same(value: float | None, expected: float) -> bool:
    """Equal in all the decimals that the example gives."""
    return value is not None and round(value, places(expected)) == expected


@pytest.fixture
def manual(worked: dict[str, Any]) -> Case:
    """The manual of the example. It counts what is read only: no answer, no instructions of a technique's own."""
    cost, vectors = worked["cost"], worked["synthetic_questions"]["vectors"]
    chunks, size = vectors["chunks"], cost["chunk_tokens"]
    text = Counted(cost["manual_tokens"], chunks, chunks * size, embedded_tokens=chunks * size, pages=12)
    rerank = cost["rerank_tokens"]
    return Case(
        collection=Collection(1, (text,), entries=chunks, dimensions=DIMENSIONS),
        asking=Asking(
            passages=cost["k"],
            room=100,
            passage_tokens=size,
            instruction_tokens=cost["instructions_and_question_tokens"],
            answer_tokens=0,
            candidates=rerank["candidates"],
        ),
        assumed=Assumptions(question_tokens=rerank["question_tokens"], questions_per_passage=vectors["questions_each"]),
        context_tokens=128_000,
    )


@pytest.fixture
def forecast(worked: dict[str, Any], manual: Case) -> Table:
    cost = worked["cost"]
    rates = Rates(
        usd_per_million_tokens=Prices(input=cost["usd_per_million_input_tokens"], output=0, embedding=0),
        ms_per_token=Speeds(prefill=PREFILL_MS, output=0, embedding=0),
        language_model=LanguageModel(kv_mb_per_token=KV_MB),
    )
    return table(manual, rates, cost["questions_per_month"], has_llm=True)


def row_of(forecast: Table, name: str) -> Row:
    return next(row for row in forecast.rows if row.forecast.name == name)


def test_long_context_against_retrieval(worked: dict[str, Any], manual: Case, forecast: Table) -> None:
    cost = worked["cost"]
    rows = {"long_context": long_context(manual).name, "rag": built(manual).name}
    for place, key in enumerate(rows):
        expected, row = cost[key], row_of(forecast, rows[key])
        assert row.forecast.per_question.input_tokens == expected["tokens_per_question"]
        assert row.per_month.input_tokens == expected["tokens_per_month"]
        assert same(row.usd_per_month, expected["usd_per_month"])
        assert row.ms_per_question is not None
        assert same(row.ms_per_question / 1_000, expected["prefill_s_at_0.028ms"])
        assert forecast.long_context.prefill_s is not None
        assert same(forecast.long_context.prefill_s[place], expected["prefill_s_at_0.028ms"])
        assert forecast.long_context.kv_cache_gb is not None
        assert same(forecast.long_context.kv_cache_gb[place], expected["kv_gb_at_0.131mb"])
    assert same(forecast.long_context.ratio, cost["ratio"])
    assert same(row_of(forecast, "long context").ratio, cost["ratio"])
    assert round(forecast.long_context.attention_ratio) == cost["attention_ratio"]


def test_reranking(worked: dict[str, Any], manual: Case) -> None:
    expected = worked["cost"]["rerank_tokens"]
    assert manual.asking.passage_tokens == expected["chunk_tokens"]
    assert reranking(manual).per_question.rerank_tokens == expected["total"]


def test_a_global_question_of_a_graph(worked: dict[str, Any], manual: Case) -> None:
    cost = worked["cost"]
    expected, price = cost["graph_global"], Prices(input=cost["usd_per_million_input_tokens"], output=0, embedding=0)
    tokens = formulas.map_tokens(expected["reports"], expected["tokens_each"])
    mapped = tokens * cost["usd_per_million_input_tokens"] / 1_000_000
    asked = answered(manual).per_question.usd(price)
    assert same(mapped, expected["usd_map_step"])
    assert same(asked, expected["usd_rag_question"])
    assert asked is not None
    assert round(mapped / asked) == expected["ratio"]


def test_storage(worked: dict[str, Any], manual: Case) -> None:
    expected = worked["storage_bytes"]
    assert built(manual).stored_bytes == expected["229 chunks x 1024 x f32"]
    assert token_vectors(manual).stored_bytes == expected["229 x 400 token vectors x 128 x f16"]
    page = formulas.vector_bytes(formulas.PAGE_VECTORS, formulas.COLBERT_DIMENSIONS, formulas.F32)
    assert page == expected["page image: 1030 vectors x 128 x f32"]
    assert 12 * page == expected["12 pages"]
    assert page_images(manual).stored_bytes * formulas.F32 == expected["12 pages"] * formulas.F16


def test_raptor(worked: dict[str, Any], manual: Case) -> None:
    expected = worked["raptor"]
    levels = formulas.tree_levels(expected["leaves"], expected["members_per_cluster"])
    assert levels == expected["levels"]
    assert sum(levels) == expected["nodes"]
    note = Counted(100, 1, 100, 100)
    notes = Case(
        collection=Collection(expected["leaves"], (note,) * 10, expected["leaves"], DIMENSIONS),
        asking=manual.asking,
        assumed=Assumptions(members_per_cluster=expected["members_per_cluster"]),
        context_tokens=128_000,
    )
    tree = summary_tree(notes)
    assert tree.once.calls == expected["summary_calls"]
    assert tree.note.endswith(f"a new passage touches {expected['summaries_touched_by_one_new_leaf']}")


def test_the_vectors_of_stored_questions(worked: dict[str, Any], manual: Case) -> None:
    expected = worked["synthetic_questions"]["vectors"]
    stored = stored_questions(manual)
    assert stored.once.calls == expected["chunks"]
    both = built(manual).stored_bytes + stored.stored_bytes
    assert both == expected["bytes_f32_1024d"] == formulas.vector_bytes(expected["total"], DIMENSIONS)


def test_the_prompt_of_a_decomposed_question(worked: dict[str, Any], manual: Case) -> None:
    expected = worked["decomposition"]
    found = list(chain.from_iterable(expected["lists"]))
    assert len(found) == expected["retrieved"]
    assert len(set(found)) == expected["unique"]
    cost = worked["cost"]
    instructions = cost["instructions_and_question_tokens"]
    tokens = formulas.prompt_tokens(len(set(found)), cost["chunk_tokens"], instructions)
    assert tokens == expected["prompt_tokens_at_400_each_plus_300"]
    # The forecast does not know which passages will be the same, and says so.
    assert decomposition(manual).note.startswith("at most")
