"""Questions taken apart, by the rules and by a model."""

from __future__ import annotations

import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.queries.decomposition import parts, parts_by
from citewell.queries.decomposition_rules import LONGEST, MOST_PARTS
from citewell.queries.marks import marks, negations
from citewell.retrieval.query import Query, Role
from tests.queries.scripted_llm import ScriptedLLM

TODAY = date(2026, 11, 30)


def texts(question: str) -> list[str]:
    return [part.text for part in parts(question, TODAY)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "How long does a customer have to dispute a payment, and how soon is provisional credit booked?",
            ["How long does a customer have to dispute a payment?", "how soon is provisional credit booked?"],
        ),
        (
            "What does R-17 mean, and who may release the block that it sets?",
            ["What does R-17 mean?", "R-17: who may release the block that it sets?"],
        ),
        ("What does R-17 mean? And who may release it?", ["What does R-17 mean?", "R-17: who may release it?"]),
        ("Please tell me what R-17 means and who may release it.", ["what R-17 means?", "R-17: who may release it?"]),
        (
            "For a youth card, what is the limit and who may raise it?",
            ["For a youth card, what is the limit?", "For a youth card, the limit: who may raise it?"],
        ),
        (
            "For how long and up to which amount does code OV-9 apply?",
            ["For how long does code OV-9 apply?", "up to which amount does code OV-9 apply?"],
        ),
        (
            "What is the fee for a debit card and for a credit card?",
            ["What is the fee for a debit card?", "What is the fee for a credit card?"],
        ),
        ("What do R-17, R-18 and R-71 mean?", ["What do R-17 mean?", "What do R-18 mean?", "What do R-71 mean?"]),
        (
            "What are the fee and the deadline for a chargeback?",
            ["What are the fee for a chargeback?", "What are the deadline for a chargeback?"],
        ),
        (
            "Which film was released first, Aas Ka Panchhi or Phoolwari?",
            ["Which film was released first, Aas Ka Panchhi?", "Which film was released first, Phoolwari?"],
        ),
        (
            "Who was born first out of Aivar Kuusmaa and Andy Summers?",
            ["Who was born first, Aivar Kuusmaa?", "Who was born first, Andy Summers?"],
        ),
        (
            "Are both movies, Naked Tango and Algiers (Film), from the same country?",
            ["movies Naked Tango from country?", "movies Algiers (Film) from country?"],
        ),
        (
            "Do debit cards and credit cards have the same fee?",
            ["debit cards have fee?", "credit cards have fee?"],
        ),
        ("What is the difference between R-17 and R-71?", ["R-17?", "R-71?"]),
        (
            "Is the fee for a debit card higher than for a credit card?",
            ["the fee for a debit card?", "the fee for a credit card?"],
        ),
        (
            "Which fees do not apply to minors and to students?",
            ["Which fees do not apply to minors?", "Which fees do not apply to students?"],
        ),
    ],
)
def test_a_question_of_several_is_taken_apart(question: str, expected: list[str]) -> None:
    assert texts(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "How many days does a customer have to dispute a card payment?",
        "What is the fee for customers who travel and who pay by card?",
        "What prominent South African family distilled brandy and were Huguenots?",
        "Which branch is open on Sundays and is closed on Mondays?",
        "How do I open and close an account?",
        "Which films were released between 1950 and 1960?",
        "Which constant holds the hours that count as night, and what is it?",
        "What are the terms and conditions?",
        "What is the relationship between L and P?",
        "Who is the mother of the director of Alien?",
        "Replacement of OCT4 and SOX2 genes with GATA3 is not capable of reprogramming human cells.",
        "chargeback fee and deadline",
        "",
    ],
)
def test_one_question_stays_one(question: str) -> None:
    assert parts(question, TODAY) == ()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "How did the fee change between 2023 and 2024?",
            {"the fee in 2023?": date(2023, 12, 31), "the fee in 2024?": date(2024, 12, 31)},
        ),
        ("How has the fee changed since 2025?", {"the fee in 2025?": date(2025, 12, 31), "the fee today?": TODAY}),
        (
            "What was the fee on 3 May 2024 and on 2024-06-01?",
            {"What was the fee on 3 May 2024?": date(2024, 5, 3), "What was the fee on 2024-06-01?": date(2024, 6, 1)},
        ),
        (
            "What was the fee in February 2024 compared to November 2026?",
            {"What was the fee in February 2024?": date(2024, 2, 29), "What was the fee in November 2026?": TODAY},
        ),
        (
            "What changed from version 1.2 to version 1.3?",
            {"What changed in version 1.2?": None, "What changed in version 1.3?": None},
        ),
        (
            "Who was older, Illusions (1982 film) or Dark River (2017 film)?",
            {"Who was older, Illusions (1982 film)?": None, "Who was older, Dark River (2017 film)?": None},
        ),
        (
            "What was the fee in 2025, and who may waive it?",
            {"What was the fee in 2025?": None, "the fee: who may waive it?": None},
        ),
    ],
)
def test_parts_that_contrast_periods_are_asked_as_of_them(question: str, expected: dict[str, date | None]) -> None:
    assert {part.text: part.as_of for part in parts(question, TODAY)} == expected


def test_a_day_that_does_not_exist_is_none() -> None:
    assert [part.as_of for part in parts("What was the fee on 2024-02-30 and on 2025-02-30?", TODAY)] == [None, None]


def test_what_would_be_too_many_parts_is_left_together() -> None:
    question = "What do R-1 and R-2 cost, what do R-3 and R-4 cost, and what do R-5 and R-6 cost?"
    assert len(parts(question.replace(", what", "; what"), TODAY)) == 3
    assert parts("What do R-1, R-2, R-3, R-4 and R-5 mean?", TODAY) == ()


def test_a_text_is_no_question() -> None:
    assert parts(f"What is A-1 and what is B-2? {'x' * LONGEST}", TODAY) == ()


SUBJECTS = st.sampled_from(
    ["R-17", "EUR 25", "unusual_amount", "the fee", "C++", "a card that is not insured", "4.2(b)"]
)
JOINED = st.sampled_from(
    [
        "What is {0} and what is {1}?",
        "For {0}, how much is {1}, and why does it not apply in 2025?",
        "What is the limit for {0} and for {1}?",
        "Which is larger, {0} or {1}?",
        "How did {0} change between 2024 and {1} 2025?",
        "Are {0} and {1} both never used?",
        "How do {0} and {1} differ, without the 2 exceptions?",
    ]
)


@given(JOINED, SUBJECTS, SUBJECTS)
def test_no_code_number_or_negation_is_lost(frame: str, one: str, other: str) -> None:
    question = frame.format(one, other)
    found = texts(question)
    assert len(found) != 1
    assert len(found) <= MOST_PARTS
    together = " ".join(found) if found else question
    assert marks(question) <= marks(together)
    assert negations(question) <= negations(together)


def test_a_model_may_name_days_of_years_that_the_question_names() -> None:
    llm = ScriptedLLM(
        '[{"question": "What is the fee for K-3?", "as_of": "2025-06-30"},'
        ' {"question": "What was the fee for K-3?", "as_of": "2024-12-31"}]'
    )
    found = parts_by(llm, "How did the fee for K-3 change since 2025?", TODAY)
    assert found == (
        Query("What is the fee for K-3?", Role.PART, as_of=date(2025, 6, 30)),
        Query("What was the fee for K-3?", Role.PART),
    )
    assert "How did the fee for K-3 change since 2025?" in llm.prompts[0].user


QUESTION = "What does R-17 mean, and who may release it?"
BY_RULE = ["What does R-17 mean?", "R-17: who may release it?"]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('["What is R-17?", "Who releases R-17?"]', ["What is R-17?", "Who releases R-17?"]),
        ("1. What is R-17?\n2. Who releases R 17?", ["What is R-17?", "Who releases R 17?"]),
        ('["What is R-17?", "Who releases R-71?"]', ["What is R-17?"]),
        ('["What does R-17 mean?", "Which soup does the canteen serve?"]', ["What does R-17 mean?"]),
        ('["Which soup does the canteen serve?"]', BY_RULE),
        ('["Release what?", "Release it?", "Mean what?", "Mean it?", "What does R-17 mean?"]', BY_RULE),
        ("[]", []),
        (f'["{QUESTION}"]', []),
        ("I am sorry, I cannot help with that.", BY_RULE),
        ("", BY_RULE),
        ('["What does the code mean?", "Who may release the card?"]', BY_RULE),
        ('["What is R-71?", "Who releases R-71?"]', BY_RULE),
        ('["R-17 a?", "R-17 b?", "R-17 c?", "R-17 d?", "R-17 e?"]', ["R-17 a?", "R-17 b?", "R-17 c?", "R-17 d?"]),
    ],
)
def test_a_models_reply_is_checked(reply: str, expected: list[str]) -> None:
    assert [part.text for part in parts_by(ScriptedLLM(reply), QUESTION, TODAY)] == expected


def test_a_part_of_other_words_than_the_question_is_not_searched() -> None:
    question = "Who won the sailing regatta?"
    assert parts_by(ScriptedLLM('["Which soup does the canteen serve?"]'), question, TODAY) == ()
    found = parts_by(ScriptedLLM('["When was the regatta?", "What is in the soup of the day?"]'), question, TODAY)
    assert [part.text for part in found] == ["When was the regatta?"]
    older = ["When was Rome founded?", "When was Jericho founded?"]
    found = parts_by(ScriptedLLM(json.dumps(older)), "Which is older, Rome or Jericho?", TODAY)
    assert [part.text for part in found] == older


def test_a_negation_that_a_model_leaves_out_comes_back_by_the_rules() -> None:
    question = "What does not cover travel, and who may not release it?"
    by_rule = parts(question, TODAY)
    assert len(by_rule) == 2
    lost = ScriptedLLM('["What does cover travel?", "Who may not release it?"]')
    assert parts_by(lost, question, TODAY) == by_rule
    kept = ScriptedLLM('["What doesn\'t cover travel?", "Who cannot release it?"]')
    assert [part.text for part in parts_by(kept, question, TODAY)] == [
        "What doesn't cover travel?",
        "Who cannot release it?",
    ]
