"""Which way a question goes."""

from __future__ import annotations

import pytest

from citewell.queries.decomposition_rules import LONGEST
from citewell.queries.routing import Route, Way, route


@pytest.mark.parametrize(
    "question",
    [
        "R-17", "r-17?", "R 17", "decline code R-17", "section 4.2(b)", "ISO/IEC 27001:2022", "unusual_amount",
        "TRAVEL_NOTE_FACTOR", "index.search()", "withPBKDF2", "O-RING-9/B", "2024-01-01", "C++",
        "What does R-17 mean?", "What does terminal code T-17 stand for?", "What is the value of TRAVEL_NOTE_FACTOR?",
        '"strong customer authentication"', "\u201estarke Kunden\u201c",
    ],
)  # fmt: skip
def test_a_code_or_a_quotation_alone_goes_to_the_keyword_leg(question: str) -> None:
    assert route(question).way is Way.KEYWORD


@pytest.mark.parametrize(
    "question",
    [
        "Hello",
        "Hi there!",
        "thanks a lot",
        "Good morning, how are you?",
        "What is 12 * 7?",
        "15% of 200",
        "(2 + 3) * 4 =",
    ],
)
def test_greetings_and_sums_need_no_search(question: str) -> None:
    assert route(question).way is Way.NOTHING


@pytest.mark.parametrize(
    "question",
    [
        "When does R-17 end?", "What is the fee for R-17 on Sundays?", "card", "A4 paper",
        "How do I say hello in the chat?", "What is the fee of 20?", "Thanks to whom is R-17?", "What is the fee?",
    ],
)  # fmt: skip
def test_all_else_goes_as_the_settings_say(question: str) -> None:
    assert route(question).way is Way.CONFIGURED


def test_a_route_says_why() -> None:
    assert route("What is R-17 and who may release it?") == Route(Way.DECOMPOSE, "it asks 2 things")
    assert route("") == Route(Way.CONFIGURED, "no rule applies")
    assert route("R-17 " * LONGEST) == Route(Way.CONFIGURED, "it is a text rather than a question")
