"""Which way a question goes."""

from __future__ import annotations

import pytest

from citewell.models.minilm import MiniLM
from citewell.queries.decomposition_rules import LONGEST
from citewell.queries.routing import Way, route, route_by


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
    assert route(question) is Way.KEYWORD


@pytest.mark.parametrize(
    "question",
    [
        "When does R-17 end?", "What is the fee for R-17 on Sundays?", "card", "A4 paper",
        "How do I say hello in the chat?", "What is the fee of 20?", "Thanks to whom is R-17?", "What is the fee?",
        "Hello", "thanks a lot", "What is 12 * 7?", "",
    ],
)  # fmt: skip
def test_all_else_goes_as_the_settings_say(question: str) -> None:
    assert route(question) is Way.ONE


@pytest.mark.parametrize(
    "question",
    [
        "What is R-17 and who may release it?",
        "Which is older, the Mole Antonelliana or the Tower of Pisa?",
        "Where was the director of film Stone Harbour born?",
        "Who is the mother of the author of Middlemarch?",
    ],
)
def test_several_questions_and_chains_take_many_steps(question: str) -> None:
    assert route(question) is Way.MANY


def test_a_text_is_left() -> None:
    assert route("R-17 " * LONGEST) is Way.ONE
    assert route(f"Where was the director of film {'Stone Harbour ' * LONGEST}born?") is Way.ONE


def test_the_classifier_decides_on_many_steps_and_codes_stay_codes() -> None:
    embedder = MiniLM(1)
    assert route_by(embedder, "Where was the director of film Stone Harbour born?") is Way.MANY
    assert route_by(embedder, "Aspirin inhibits the production of PGE2.") is Way.ONE
    assert route_by(embedder, "decline code R-17") is Way.KEYWORD


UNITS = (
    "thanks ", "thank you ", "aB", "Ab", "a_", "_", "1.", "a.", "A 1 ", "(", "what is a ", "and what is ", "for a and ",
    "the mother of ", "in 2020 and ", "which is more, ", "are both a and b ", "R-17, ", "\"a\" ",
)  # fmt: skip


@pytest.mark.timeout(60)
@pytest.mark.parametrize("opening", ["", "what does ", "Which is older, "])
@pytest.mark.parametrize("unit", UNITS)
def test_no_text_makes_a_rule_go_round_and_round(unit: str, opening: str) -> None:
    """Where a rule may read each of these parts in two ways, 600 characters of them never end."""
    asked = f"{(opening + unit * LONGEST)[: LONGEST - 2]}!x"
    assert route(asked) is not Way.KEYWORD
