"""Other wordings, a passage made up, and the question behind the question: what is let through of a model's reply."""

from __future__ import annotations

import pytest

from citewell.queries.broader import broader
from citewell.queries.hypothetical import hypothetical
from citewell.queries.variants import variants
from citewell.retrieval.query import Query, Role
from tests.queries.scripted_llm import ScriptedLLM

QUESTION = "Why is a payment over EUR 25 not declined with R-17?"


@pytest.mark.parametrize(
    ("wording", "stays"),
    [
        ("For what reason does R 17 not stop a payment above 25 euros?", True),
        ("For what reason does R-71 not stop a payment above 25 euros?", False),
        ("For what reason does R-17 not stop a payment above 20 euros?", False),
        ("For what reason does the code not stop a payment above 25 euros?", False),
        ("For what reason does R-17 stop a payment above 25 euros?", False),
        ("Why doesn't R-17 stop a payment above 25 euros?", True),
        ("Why does R-17 not stop a plat\u0435\u0436 above 25 euros?", False),
        ("Почему платёж свыше 25 евро not отклоняется с R-17?", False),
        ("Warum wird eine Zahlung von mehr als 25 Euro mit R-17 not abgelehnt?", False),
        ("why is a payment over EUR 25 not declined with R-17", False),
    ],
)
def test_a_variant_asks_the_same(wording: str, stays: bool) -> None:
    found = variants(ScriptedLLM(f'["{wording}"]'), QUESTION, 3)
    assert found == ((Query(wording, Role.VARIANT),) if stays else ())


def test_variants_are_different_and_no_more_than_asked_for() -> None:
    llm = ScriptedLLM('["Is it free?", "is it free", "Does it cost a lot?", "Is there a fee?", "Must one pay?"]')
    found = variants(llm, "Is there a charge?", 2)
    assert [query.text for query in found] == ["Is it free?", "Does it cost a lot?"]
    assert "2 times" in llm.prompts[0].system


def test_no_list_is_no_variant() -> None:
    assert variants(ScriptedLLM("I do not know."), QUESTION, 3) == ()


def test_a_hypothetical_passage_loses_the_figures_that_it_made_up() -> None:
    llm = ScriptedLLM("Passage: R-17 is shown for 30 days above EUR 25, unlike R-71.\nIt may be released.")
    found = hypothetical(llm, QUESTION)
    assert found == (Query("R-17 is shown for days above EUR 25, unlike . It may be released.", Role.HYPOTHETICAL),)


@pytest.mark.parametrize("reply", ["", "I'm sorry, I cannot say.", "Это другой язык.", QUESTION])
def test_what_is_no_passage_is_not_searched_for(reply: str) -> None:
    assert hypothetical(ScriptedLLM(reply), QUESTION) == ()


def test_a_broader_question() -> None:
    llm = ScriptedLLM("Broader: When are payments declined?")
    assert broader(llm, QUESTION) == (Query("When are payments declined?", Role.BROADER),)


@pytest.mark.parametrize("reply", ["", QUESTION, "What does R-71 mean?", "Что такое отказ?", "I can't do that."])
def test_what_is_no_broader_question_is_not_searched_for(reply: str) -> None:
    assert broader(ScriptedLLM(reply), QUESTION) == ()
