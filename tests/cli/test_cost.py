"""`cost`: what a person and a program read of a forecast, with and without prices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ran, Run

PRICES = """\
[usd_per_million_tokens]
input = 3
cache_write = 3.75
cached = 0.3
output = 15

[ms_per_token]
prefill = 0.028
output = 20

[language_model]
kv_mb_per_token = 0.131
"""
LLM = '[models]\nllm = "openai:small"\n'


def techniques(ran: Ran) -> dict[str, Any]:
    return {each["name"]: each for each in ran.json["techniques"]}


@pytest.mark.usefixtures("bank")
def test_without_prices_it_says_tokens_and_how_to_give_them(citewell: Run) -> None:
    ran = citewell("cost")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0].startswith("4 documents with ")
    assert lines[1].startswith("A prompt has 5 passages of ")
    assert "USD a month" not in ran.out
    assert "tokens a month" in ran.out
    assert "--input-price 3 --output-price 15, or --prices FILE" in lines[-1]
    needed = "a language model, a re-ranking model, a late-interaction model, a vision model"
    assert f"* needs a model that the settings do not name: {needed}." in lines
    once, asked = ran.out.split("At every question")
    assert "HyDE" not in once.split("Once, ")[1]
    assert "\nHyDE*" in asked
    assert "\njudging 100 answers*" not in asked


@pytest.mark.usefixtures("bank")
def test_with_prices_it_says_what_a_month_costs(citewell: Run) -> None:
    priced = ("--input-price", "3", "--output-price", "15", "--questions-per-month", "20000")
    ran = citewell("cost", *priced)
    assert (ran.code, ran.err) == (0, "")
    assert "USD a month" in ran.out
    assert "--input-price" not in ran.out
    assert "--prices FILE" in ran.out  # for the provider's cache, which no option prices
    row = techniques(citewell("cost", *priced, "--json"))["HyDE"]
    tokens = row["per_question"]
    each = (tokens["input_tokens"] * 3 + tokens["output_tokens"] * 15) / 1_000_000
    assert row["per_question"]["usd"] == pytest.approx(each)
    assert row["per_month"]["usd"] == pytest.approx(20_000 * each)
    assert row["per_month"]["calls"] == 40_000


@pytest.mark.usefixtures("bank")
def test_a_file_of_prices_speeds_and_assumptions(citewell: Run, tmp_path: Path) -> None:
    path, settings = tmp_path / "prices.toml", tmp_path / "llm.toml"
    path.write_text(PRICES)
    settings.write_text(LLM)
    ran = citewell("cost", "--prices", path, "--settings", settings, "--output-price", "10", "--json")
    shape, rows = ran.json, techniques(ran)
    assert (shape["version"], shape["ratio_of"], shape["compared_with"]) == (1, "usd", "current settings")
    assert shape["usd_per_million_tokens"]["output"] == 10
    assert shape["usd_per_million_tokens"]["embedding"] == 0
    assert next(iter(rows)) == shape["compared_with"]
    assert all(row["needs"] for row in rows.values() if row["missing"])
    assert not rows["HyDE"]["missing"]
    long, cached = rows["long context"]["per_question"], rows["long context, cached"]["per_question"]
    assert long["input_tokens"] == shape["collection"]["tokens"] + shape["question"]["instruction_tokens"]
    assert cached["cached_tokens"] == shape["collection"]["tokens"]
    assert cached["usd"] < long["usd"]
    beside = shape["long_context"]
    assert beside["prefill_s"] == pytest.approx(beside["tokens"] * 0.028 / 1_000)
    assert beside["kv_cache_gb"] == pytest.approx(beside["tokens"] * 0.131 / 1_000)
    said = citewell("cost", "--prices", path, "--settings", settings).out
    assert "GB of KV cache" in said
    assert "a language model" not in said


@pytest.mark.usefixtures("bank")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input-price", "-1"], "--input-price"),
        (["--questions-per-month", "0"], "--questions-per-month"),
        (["--prices", "nowhere.toml"], "There is no file nowhere.toml."),
        (["--index", "nowhere"], "nowhere"),
    ],
)
def test_what_is_refused(citewell: Run, arguments: list[str], message: str) -> None:
    ran = citewell("cost", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_a_wrong_file_of_prices_is_refused_before_the_index_is_read(citewell: Run, tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text("[usd_per_million_tokens]\ninputs = 3\n")
    ran = citewell("cost", "--prices", path, "--index", tmp_path / "none")
    assert ran.code == 2
    assert "usd_per_million_tokens.inputs" in ran.err
