"""Answers that are given again: only to who may read just the same, and only while the index is what it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from citewell.filters import Equal
from citewell.index import Index
from citewell.loading.given import from_text
from citewell.models.llm import Completion, Prompt
from citewell.settings import Settings
from citewell.types import Principal, Rights, Turn, Usage

FEE = "The yearly fee for a credit card is 40 euros."
QUESTION = "What is the yearly fee for a credit card?"


class ScriptedLLM:
    """Says what the first passage says, and counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def complete(self, prompt: Prompt) -> Completion:
        assert QUESTION[:10] in prompt.user
        self.calls += 1
        return Completion(f"{FEE.removesuffix('.')} [1].", 10, 2, "stop")


@pytest.fixture
def llm() -> ScriptedLLM:
    return ScriptedLLM()


@pytest.fixture
def index(tmp_path: Path, llm: ScriptedLLM) -> Iterator[Index]:
    tree = Settings.model_validate({"cache": {"answers": 3}, "models": {"llm": "openai:scripted"}})
    with Index.create(tmp_path / "index", settings=tree) as made:
        made.add_documents(
            [from_text(FEE, source="bank:fee"), from_text("The canteen serves soup.", source="bank:soup")]
        )
    with Index.open(tmp_path / "index", settings=tree, llm=llm) as opened:
        yield opened


def test_the_same_question_is_answered_once(index: Index, llm: ScriptedLLM) -> None:
    first, again = index.ask(QUESTION), index.ask(QUESTION)
    assert (first.text, first.citations, first.hits) == (again.text, again.citations, again.hits)
    assert (first.usage.calls, again.usage) == (1, Usage())
    assert [step.name for step in again.trace] == ["remembered"]
    assert llm.calls == 1


@pytest.mark.parametrize(
    "asked",
    [
        {"principal": Principal(groups=frozenset({"legal"}))},
        {"as_of": date(2020, 1, 1)},
        {"where": Equal("language", "en")},
        {"turns": [Turn("What is the fee for a debit card?", "None. [1]")]},
    ],
    ids=lambda asked: next(iter(asked)),
)
def test_another_reader_day_filter_or_conversation_is_another_question(index: Index, asked: dict[str, Any]) -> None:
    index.ask(QUESTION)
    assert "remembered" not in [step.name for step in index.ask(QUESTION, **asked).trace]
    assert "remembered" in [step.name for step in index.ask(QUESTION, **asked).trace]


def test_a_change_of_the_index_by_whomever_is_a_new_state(index: Index, llm: ScriptedLLM) -> None:
    index.ask(QUESTION)
    with Index.open(index.location) as other:
        restricted = replace(from_text(FEE, source="bank:fee"), rights=Rights(frozenset({"legal"})))
        other.add_documents([restricted])
    assert index.ask(QUESTION).citations == ()
    assert len(index.ask(QUESTION, principal=Principal(groups=frozenset({"legal"}))).citations) == 1
    index.purge("bank:fee")
    assert index.ask(QUESTION, principal=Principal(groups=frozenset({"legal"}))).citations == ()


def test_only_so_many_are_kept_and_none_by_default(index: Index, llm: ScriptedLLM) -> None:
    for place in range(4):
        index.ask(f"{QUESTION} {'?' * place}x")
    calls = llm.calls
    index.ask(f"{QUESTION} x", principal=Principal(groups=frozenset({"legal"})))
    index.ask(f"{QUESTION} ???x")
    assert llm.calls == calls + 1, "what another reader asks pushes nothing out"
    index.ask(f"{QUESTION} x")
    assert llm.calls == calls + 2, "the oldest is forgotten"
    with Index.open(index.location) as plain:
        assert [step.name for step in plain.ask(QUESTION).trace] == [step.name for step in plain.ask(QUESTION).trace]
        assert "remembered" not in [step.name for step in plain.ask(QUESTION).trace]
