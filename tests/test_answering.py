"""What a question becomes before it is searched, and what is made of what its queries find."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from citewell.errors import SettingsError
from citewell.index import Index
from citewell.loading.given import from_text
from citewell.models.llm import Completion, Prompt
from citewell.settings import Settings
from citewell.types import Page, Turn, Usage

TEXTS = {
    "cards": "The yearly fee for a credit card is 40 euros. A lost credit card is blocked by telephone.",
    "accounts": "A savings account bears interest of 1.5 % a year and costs nothing.",
    "codes": "Decline code R-17 means that fraud is suspected. Decline code R-71 means that the card has expired.",
    "film": "Stone Harbour is a film of 1961, directed by Ada Lindqvist in the north of Norway.",
    "director": "Ada Lindqvist was born in Bergen and studied music before she made films.",
    "canteen": "The canteen serves soup on Mondays.",
}
WRITTEN = {"llm": "openai:scripted"}


class ScriptedLLM:
    """Replies in turn, and counts 10 tokens in and 2 out for each."""

    def __init__(self, *replies: str) -> None:
        self.prompts: list[Prompt] = []
        self._replies = list(replies)

    def complete(self, prompt: Prompt) -> Completion:
        self.prompts.append(prompt)
        return Completion(self._replies.pop(0), 10, 2, "stop")


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with Index.create(tmp_path_factory.mktemp("answering") / "index") as index:
        index.add_documents([from_text(text, source=f"https://bank.example/{name}.md") for name, text in TEXTS.items()])
        yield index.location


def opened(at: str, llm: ScriptedLLM | None = None, **tables: dict[str, Any]) -> Index:
    return Index.open(at, settings=Settings.model_validate(tables), llm=llm)


def test_a_question_that_leans_on_the_turns_before(at: str) -> None:
    turns = [Turn("What is the yearly fee for a credit card?", "It is 40 euros. [1]")]
    with opened(at) as index:
        answer = index.ask("And how is it blocked when it is lost?", turns=turns)
        alone = index.ask("And how is it blocked when it is lost?")
    assert (answer.question, alone.searched) == ("And how is it blocked when it is lost?", (alone.question,))
    assert len(answer.searched) == 2
    assert "credit card" in answer.searched[1]
    assert "by telephone" in answer.text
    with opened(at, queries={"rewrite": False}) as index:
        assert index.ask("And how is it blocked when it is lost?", turns=turns).searched == (answer.question,)


def test_each_part_of_a_question_is_searched(at: str) -> None:
    question = "What is the yearly fee for a credit card and what does decline code R-71 mean?"
    with opened(at, retrieval={"keep": 2}, queries={"decompose": "rules"}) as index:
        answer = index.ask(question)
    assert answer.searched[0] == question
    assert len(answer.searched) == 3
    assert {hit.chunk.source.rsplit("/", 1)[1] for hit in answer.hits} == {"cards.md", "codes.md"}
    assert [hit.rank for hit in answer.hits] == [1, 2]


def test_a_second_hop_finds_what_only_a_name_leads_to(at: str) -> None:
    question = "Where was the director of the film Stone Harbour born?"
    with opened(at, retrieval={"keep": 2, "floor": "off"}, queries={"second_hop": True}) as index:
        found = [hit.chunk.source for hit in index.search(question)]
        searched = index.ask(question).searched
        assert searched[0] == question
        assert any("Ada Lindqvist" in text for text in searched[1:])
        assert {source.rsplit("/", 1)[1] for source in found} == {"film.md", "director.md"}


def test_a_code_goes_to_the_keyword_leg_first(at: str) -> None:
    with opened(at, queries={"route": "rules"}) as index:
        assert {tuple(hit.lists) for hit in index.search("R-71")} == {("keyword",)}
        quoted = index.search('"sailing regatta"')
        assert all("dense" in hit.lists for hit in quoted), "where it finds nothing, all search"
        assert any("dense" in hit.lists for hit in index.search("Which soup is there?"))


def test_what_a_model_writes_is_searched_and_counted(at: str) -> None:
    llm = ScriptedLLM("1. What is charged for a credit card each year?", "It is 40 euros [1].")
    with opened(at, llm, models=WRITTEN, queries={"variants": 1}) as index:
        answer = index.ask("How dear is a credit card?")
    assert answer.searched == ("How dear is a credit card?", "What is charged for a credit card each year?")
    assert answer.usage == Usage(20, 4, None)
    assert "40 euros" in answer.text


def test_what_a_model_invents_does_not_pass_the_floor_of_the_question(at: str) -> None:
    """A passage about soup would be near the canteen's, and nothing about the question is stored."""
    invented = "The canteen serves soup on Mondays."
    with opened(at, ScriptedLLM(invented), models=WRITTEN, queries={"hyde": True}) as index:
        answer = index.ask("Who won the sailing regatta off Cowes?")
        assert answer.abstained
        assert answer.hits == ()
        assert answer.searched == (answer.question, invented)
    with opened(at, ScriptedLLM(invented), models=WRITTEN, queries={"hyde": True}) as index:
        found = index.search("Who won the sailing regatta off Cowes?", k=3)
        assert any("canteen.md" in hit.chunk.source for hit in found), "or the floor had nothing to refuse"


def test_a_model_may_re_rank(at: str) -> None:
    llm = ScriptedLLM("[2] > [1] > [3]", "R-71 means that the card has expired [1].")
    with opened(at, llm, models={**WRITTEN, "reranker": "llm"}, retrieval={"keep": 3}) as index:
        answer = index.ask("What does decline code R-71 mean?")
    assert "listwise" in {step.name for step in answer.trace}
    (hit,) = answer.hits
    assert hit.lists["listwise"] == 2, "which the model's order says, of the one passage that names the code"
    assert answer.usage == Usage(20, 4, None)


@pytest.mark.parametrize(
    ("tables", "keys"),
    [
        ({"queries": {"variants": 2, "hyde": True}}, "queries.variants, queries.hyde"),
        ({"queries": {"decompose": "llm"}}, "queries.decompose"),
        ({"models": {"reranker": "llm"}}, "models.reranker"),
    ],
)
def test_what_needs_a_model_says_so(tmp_path: Path, tables: dict[str, dict[str, Any]], keys: str) -> None:
    lines = [f"{table}.{key} = {json.dumps(value)}" for table, of in tables.items() for key, value in of.items()]
    (tmp_path / "citewell.toml").write_text("\n".join(lines))
    with pytest.raises(SettingsError, match=f"{keys} needs a language model, and models.llm is none"):
        Settings.load(tmp_path / "citewell.toml")


def test_a_part_may_ask_about_another_day(tmp_path: Path) -> None:
    """Each edition is cited with its own page."""
    settings = Settings.model_validate({"queries": {"decompose": "rules"}})
    pages = {2024: "7", 2025: "iv"}
    with Index.create(tmp_path / "index", settings=settings) as index:
        for year, fee in ((2024, 35), (2025, 40)):
            one = from_text(f"The yearly fee for a credit card is {fee} euros.", source="https://bank.example/fees.md")
            page = Page(year - 2000, pages[year], 0, len(one.text))
            edition = replace(one, valid_from=date(year, 1, 1), content_hash=str(fee), version=str(year), pages=(page,))
            index.add_documents([edition])
        question = "How did the yearly fee for a credit card change between 2024 and 2025?"
        found = [hit.chunk.text for hit in index.search(question)]
    assert sorted(found) == [f"The yearly fee for a credit card is {fee} euros." for fee in (35, 40)]
    llm = ScriptedLLM(" ".join(f"{text.removesuffix('.')} [{number}]." for number, text in enumerate(found, start=1)))
    with Index.open(tmp_path / "index", settings=settings, llm=llm) as index:
        answer = index.ask(question)
    cited = {citation.quote: (citation.page_number, citation.page) for citation in answer.citations}
    assert cited == {
        "The yearly fee for a credit card is 35 euros.": (24, "7"),
        "The yearly fee for a credit card is 40 euros.": (25, "iv"),
    }
