"""None, one or many searches, as the question needs and `queries.route` says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from citewell.errors import SettingsError
from citewell.index import Index
from citewell.loading.given import from_text
from citewell.models.minilm import MiniLM
from citewell.queries.finding import Asked, understand
from citewell.queries.small_talk import REASON, REPLY
from citewell.settings import Queries, Settings
from citewell.types import Trace, Turn
from tests.queries.scripted_llm import ScriptedLLM

TODAY = date(2026, 11, 30)
CHAIN = "Where was the director of film Stone Harbour born?"
TEXTS = {
    "film": "Stone Harbour is a film of 1961, directed by Ada Lindqvist in the north of Norway.",
    "director": "Ada Lindqvist was born in Bergen and studied music before she made films.",
    "canteen": "The canteen says hello and thank you, and serves soup on Mondays.",
}
REPLY_OF_A_MODEL = '[{"question": "Who is the director of film Stone Harbour?"}]'


@pytest.fixture(scope="module")
def embedder() -> MiniLM:
    return MiniLM(1)


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with Index.create(tmp_path_factory.mktemp("finding") / "index") as index:
        index.add_documents(
            [from_text(text, source=f"https://films.example/{name}.md") for name, text in TEXTS.items()]
        )
        yield index.location


def asked(
    question: str, embedder: MiniLM, llm: ScriptedLLM | None = None, turns: tuple[Turn, ...] = (), **keys: Any
) -> Asked:
    settings = Queries.model_validate(keys)
    return understand(question, turns, settings, TODAY, llm=llm, embedder=embedder, trace=Trace())


def test_off_it_is_one_search_whatever_is_asked(embedder: MiniLM) -> None:
    for question in (CHAIN, "Hello", "Which is older, A4 paper or B5 paper?"):
        made = asked(question, embedder)
        assert (len(made.same), made.parts, made.hops, made.small_talk) == (1, (), False, False)


@pytest.mark.parametrize("route", ["rules", "trained"])
def test_many_steps_for_that_question_alone(embedder: MiniLM, route: str) -> None:
    assert asked(CHAIN, embedder, route=route).hops
    several = asked("Which film was made first, Stone Harbour or Northern Light?", embedder, route=route)
    assert [part.text for part in several.parts] == [
        "Which film was made first, Stone Harbour?",
        "Which film was made first, Northern Light?",
    ]
    assert not asked("Aspirin inhibits the production of PGE2.", embedder, route=route).hops
    assert asked("Aspirin inhibits the production of PGE2.", embedder, route=route, second_hop=True).hops


def test_trained_it_spares_the_calls_of_a_model_that_takes_questions_apart(embedder: MiniLM) -> None:
    llm = ScriptedLLM(REPLY_OF_A_MODEL)
    simple = "What is the yearly fee for a credit card?"
    assert asked(simple, embedder, llm, route="trained", decompose="llm").parts == ()
    assert llm.prompts == []
    (part,) = asked(CHAIN, embedder, llm, route="trained", decompose="llm").parts
    assert part.text == "Who is the director of film Stone Harbour?"
    asked(simple, embedder, llm, route="rules", decompose="llm")
    assert len(llm.prompts) == 2


def test_small_talk_asks_no_model(embedder: MiniLM) -> None:
    llm = ScriptedLLM("never")
    made = asked(
        "Thanks a lot!", embedder, llm, (Turn(CHAIN, "In Bergen."),), route="rules", decompose="llm", hyde=True
    )
    assert made.small_talk
    assert [query.text for query in made.same] == ["Thanks a lot!"]
    assert llm.prompts == []


def test_small_talk_is_no_subject_to_go_on_with(embedder: MiniLM) -> None:
    fee = Turn("What is the yearly fee for a credit card?", "It is 40 euros.")
    alone = asked("And for a debit card?", embedder, turns=(fee,), route="rules")
    after_thanks = asked("And for a debit card?", embedder, turns=(fee, Turn("Thank you!", REPLY)), route="rules")
    assert after_thanks == alone
    assert alone.question != "And for a debit card?"
    assert asked("What can you do?", embedder, turns=(Turn("Hello", REPLY),), route="rules").small_talk


@pytest.mark.parametrize("route", ["rules", "trained"])
def test_a_chain_is_searched_on_and_small_talk_is_not_searched(at: str, route: str) -> None:
    with Index.open(at, settings=Settings.model_validate({"queries": {"route": route}})) as index:
        chain = index.ask(CHAIN)
        assert chain.searched == (CHAIN, "Where was Ada Lindqvist born")
        assert any("born in Bergen" in hit.passage.text for hit in chain.hits)
        talk = index.ask("Hello, thank you!")
        assert (talk.text, talk.reason, talk.abstained) == (REPLY, REASON, True)
        assert (talk.hits, talk.citations, talk.sentences, talk.searched) == ((), (), (), ())
        assert [step.name for step in talk.trace] == ["queries"]
        assert index.search("Hello, thank you!")[0].chunk.source.endswith("canteen.md"), "a search is never turned away"


def test_off_small_talk_is_searched_for(at: str) -> None:
    with Index.open(at) as index:
        assert index.ask("Hello, thank you!").searched == ("Hello, thank you!",)


def test_trained_for_another_embedder(at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("citewell.queries.complexity.digest", lambda identity: f"not that of {identity.name}")
    settings = Settings.model_validate({"queries": {"route": "trained"}})
    refused = pytest.raises(SettingsError, match="knows the vectors of the built-in embedder only")
    with Index.open(at, settings=settings) as index, refused:
        index.ask(CHAIN)
