"""What is searched for a question asked in a conversation."""

import json
import os
from pathlib import Path

import pytest

from citewell.models.chat import Chat
from citewell.models.llm import Completion, Prompt
from citewell.models.openai_compatible import OpenAICompatible
from citewell.queries.rewrite import needs_rewriting, rewrite, rewrite_by, rewritten
from citewell.queries.rewriting.subjects import roots_of
from citewell.retrieval.query import Query, Role
from citewell.types import Turn
from tests.models.small_llm import served

CAST = (
    Path(os.environ.get("CITEWELL_SHARED", Path(__file__).parents[2] / ".." / "shared")).resolve()
    / "data"
    / "cast"
    / "rewrites.jsonl"
)
CARD = (Turn("What does a debit card cost?", "A debit card costs EUR 12 a year."),)


class ScriptedLLM:
    """Replies what it is told to, and keeps the prompts."""

    def __init__(self, text: str, finish_reason: str = "stop") -> None:
        self._reply = Completion(text, 90, 12, finish_reason)
        self.prompts: list[Prompt] = []

    def complete(self, prompt: Prompt) -> Completion:
        self.prompts.append(prompt)
        return self._reply


def test_the_original_comes_first_and_the_rewrite_says_what_it_is() -> None:
    assert rewritten("How do I block it?", CARD) == (
        Query("How do I block it?"),
        Query("How do I block debit card?", Role.REWRITE),
    )


@pytest.mark.parametrize(
    ("question", "turns"),
    [
        ("How do I block it?", ()),
        ("What does a SEPA transfer cost?", CARD),
        ("Is it possible to pay by cheque?", CARD),
        ("Are there any limits on ATM withdrawals?", CARD),
        ("Which branches that open on Saturday are in Vienna?", CARD),
        ("If a card is stolen, who blocks it?", CARD),
        ("What is Rock City, and why is it famous?", CARD),
        ("Does IT approve new laptops?", CARD),
        ("Where is form A-38?", CARD),
    ],
)
def test_a_question_that_stands_alone_is_searched_as_it_is(question: str, turns: tuple[Turn, ...]) -> None:
    assert not needs_rewriting(question, turns)
    assert rewritten(question, turns) == (Query(question),)


def test_a_model_is_asked_only_where_something_leans_or_the_language_is_not_of_the_rules() -> None:
    llm = ScriptedLLM("How do I block a debit card?")
    assert rewritten("What does a SEPA transfer cost?", CARD, llm) == (Query("What does a SEPA transfer cost?"),)
    assert rewritten("How do I block it?", (), llm) == (Query("How do I block it?"),)
    assert not llm.prompts
    assert rewritten("How do I block it?", CARD, llm)[1] == Query("How do I block a debit card?", Role.REWRITE)
    german = ScriptedLLM("Wie sperre ich die Debitkarte?")
    turns = (Turn("Was kostet die Debitkarte?", "Sie kostet EUR 12 im Jahr."),)
    assert rewritten("Wie sperre ich sie?", turns, german)[1].text == "Wie sperre ich die Debitkarte?"


def test_where_the_model_repeats_the_question_the_rules_have_the_last_word() -> None:
    assert rewrite_by(ScriptedLLM("how do I block it?"), "How do I block it?", CARD) == "How do I block debit card?"
    alone = "What does a SEPA transfer cost?"
    assert rewrite_by(ScriptedLLM(alone), alone, CARD) is None


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   \n\n",
        '""',
        "Rewritten question:",
        "I'm sorry, but I cannot help with that.",
        "You block a debit card in the app.",
        "You can block it in the app. Is there anything else?",
        "How do I block a debit card within 24 hours?",
        "How do I block debit card R-17?",
        "How do I not block a debit card?",
        "Wie sperre ich eine Debitkarte?",
        "How do I open an account?",
        "How do I block a canteen?",
        "<question1>How do I block a debit card?",
        "How do I block a debit card" + " in the app" * 40 + "?",
    ],
)
def test_a_reply_of_no_use_gives_way_to_the_rule(reply: str) -> None:
    found = rewrite_by(ScriptedLLM(reply), "How do I block it?", CARD)
    assert found == rewrite("How do I block it?", CARD) == "How do I block debit card?"


def test_a_reply_that_was_cut_off_gives_way_to_the_rule() -> None:
    llm = ScriptedLLM("How do I block a debit card?", finish_reason="length")
    assert rewrite_by(llm, "How do I block it?", CARD) == "How do I block debit card?"


def test_a_model_does_not_bring_in_what_nobody_spoke_of() -> None:
    turns = (Turn("Who won the sailing regatta?", "Ann Lee, for the weather was calm."),)
    rule = "Who won the sailing regatta? Why?"
    assert rewrite_by(ScriptedLLM("What soup does the canteen serve on Mondays?"), "Why?", turns) == rule
    found = rewrite_by(ScriptedLLM("Why did Ann Lee win the regatta?"), "Why?", turns)
    assert found == "Why did Ann Lee win the regatta?"  # the one new word, "win", names no subject


@pytest.mark.parametrize(
    "reply",
    [
        '"How do I block a debit card?"',
        "**Rewritten question:** How do I block a debit card?",
        "Standalone question:\nHow do I block a debit card?",
        "\n\nHow do I block a debit card?\n\nThis question is clear because it names the card.",
        "- How do I block a debit card?",
    ],
)
def test_the_question_is_found_in_a_talkative_reply(reply: str) -> None:
    assert rewrite_by(ScriptedLLM(reply), "How do I block it?", CARD) == "How do I block a debit card?"


@pytest.mark.llm
@pytest.mark.xdist_group("llm")
def test_a_small_real_model_never_breaks_the_promises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CITEWELL_LLM_API_KEY", raising=False)
    with served() as url:
        llm = Chat(OpenAICompatible("small", url), timeout_s=250)
        found = rewritten("Can I block R-17 without it?", CARD, llm)
    assert found[0] == Query("Can I block R-17 without it?")
    assert all("R-17" in query.text and "without" in query.text.casefold() for query in found)


@pytest.mark.skipif(not CAST.exists(), reason="the shared data are not there (CITEWELL_SHARED)")
def test_rewrites_are_nearer_to_those_of_people() -> None:
    """On every fifth question of CAsT that needs one: .65 of the words as asked, .75 rewritten."""
    lines = [json.loads(line) for line in CAST.read_text(encoding="utf-8").splitlines()][::5]
    needing = [line for line in lines if line["needs_rewrite"]]
    asked, ours = [], []
    for line in needing:
        turns = tuple(map(Turn, line["history"]))
        theirs = roots_of(line["rewrite"])
        asked.append(_f1(roots_of(line["utterance"]), theirs))
        ours.append(_f1(roots_of(rewrite(line["utterance"], turns) or line["utterance"]), theirs))
    assert sum(ours) / len(ours) > sum(asked) / len(asked) + 0.05
    alone = [line for line in lines if not line["needs_rewrite"]]
    left = [rewrite(line["utterance"], tuple(map(Turn, line["history"]))) is None for line in alone]
    assert sum(left) >= 0.95 * len(left)


def _f1(ours: frozenset[str], theirs: frozenset[str]) -> float:
    return 2 * len(ours & theirs) / (len(ours) + len(theirs))
