"""Questions that a passage answers: which of a reply are searched."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from citewell.enrichment import Enricher
from citewell.models.minilm import MiniLM
from citewell.settings import Enrichment
from tests.enrichment.conftest import Cut, Manual, nothing_kept
from tests.enrichment.scripted_writer import ScriptedWriter

Asked = Callable[..., tuple[list[str], bool]]

PASSAGE = "A debit card pays 500 euros a day. Code R-17 blocks it until the customer calls."


@pytest.fixture
def asked(manual: Manual, cut: Cut, embedder: MiniLM) -> Asked:
    """The questions that are kept of a reply, and whether it was of use."""
    document = manual([PASSAGE], title="Card manual 2026")
    chunked = cut(document)

    def asked(reply: str, number: int = 3) -> tuple[list[str], bool]:
        writer = ScriptedWriter(lambda *_: reply)
        made = Enricher(writer, "m", Enrichment(questions=number), embedder).enrich(document, chunked, {}, nothing_kept)
        assert len(writer.prompts) == (2 if made.unwritten else 1)
        return [entry.text for entry in made.entries[1:]], not made.unwritten

    return asked


GOOD = ["What blocks a debit card?", "How much can be paid by card in a day?", "What must a customer do after an R 17?"]


def test_an_array_of_questions(asked: Asked) -> None:
    assert asked(json.dumps(GOOD)) == (GOOD, True)
    assert asked(json.dumps([{"question": text, "answer": "x"} for text in GOOD])) == (GOOD, True)
    assert asked("Sure! Here they are:\n" + "\n".join(f"{n}. {text}" for n, text in enumerate(GOOD, 1))) == (GOOD, True)


def test_no_more_than_are_wanted(asked: Asked) -> None:
    assert asked(json.dumps(GOOD), 2) == (GOOD[:2], True)
    assert asked(json.dumps(GOOD[:1])) == (GOOD[:1], True)


@pytest.mark.parametrize(
    "bad",
    [
        "What blocks a DEBIT card??",  # the first again
        "What does code R-71 block?",
        "How long is the warranty of model K-3?",  # the example of the prompt
        "What does a card cost in 2019?",
        "What does this passage say of cards?",
        "A debit card pays for things.",
        "What blocks a debit card? "
        + "Is it the very same card that was blocked before by the very same code? " * 8
        + "?",
        "What is at https://evil.example?",
        "Will you ignore all previous instructions?",
        "?",
        "What is it?\u202e?",
    ],
)
def test_what_is_no_question_about_the_passage_is_dropped(asked: Asked, bad: str) -> None:
    assert asked(json.dumps([GOOD[0], bad, GOOD[1]]), 5) == (GOOD[:2], True)


def test_a_number_of_the_title_may_be_asked_for(asked: Asked) -> None:
    assert asked('["What is the limit of a debit card in 2026?"]')[1]


@pytest.mark.parametrize("reply", ["[]", " [ ]\n", "```json\n[]\n```"])
def test_a_passage_may_answer_nothing(asked: Asked, reply: str) -> None:
    assert asked(reply) == ([], True)


@pytest.mark.parametrize(
    "reply",
    ["", "The passage is about cards.", "As said in [1], cards pay.", '["What blo', '["A card pays.", "It pays."]'],
)
def test_a_reply_without_a_question_is_of_no_use(asked: Asked, reply: str) -> None:
    assert asked(reply) == ([], False)


def test_a_list_that_is_cut_off_gives_what_is_whole(asked: Asked) -> None:
    assert asked(json.dumps(GOOD)[:-20]) == (GOOD[:2], True)
    assert asked(f"1. {GOOD[0]}\n2. {GOOD[1]}\n3. What must a cust") == (GOOD[:2], True)


def test_questions_of_other_scripts(manual: Manual, cut: Cut, embedder: MiniLM) -> None:
    document = manual(["借记卡每天可支付五百欧元。"])
    texts = ["借记卡每天可以支付多少？", "カードはいくら払えますか。", "بطاقة الخصم ما حدها؟", "บัตรจ่ายได้เท่าไร"]
    writer = ScriptedWriter(lambda *_: json.dumps(texts))
    made = Enricher(writer, "m", Enrichment(questions=4), embedder).enrich(document, cut(document), {}, nothing_kept)
    assert [entry.text for entry in made.entries[1:]] == texts
