"""What counts as a claim of an answer."""

from __future__ import annotations

import pytest

from citewell.checking.claims import claims_of


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("", ()),
        ("The fee is EUR 5 [1]. It is due at once【2】.", ("The fee is EUR 5.", "It is due at once.")),
        ("The answer is 7. It stays.", ("The answer is 7.", "It stays.")),
        ("Is it free? It is [1, 3].", ("It is.",)),
        ("- **Cash**: no fee\n2) Cards: EUR 5", ("Cash: no fee", "Cards: EUR 5")),
        ("1. Low quality 2. Infection 3. Drugs", ("Low quality", "Infection", "Drugs")),
        ("# Fees\n\n***\n\nThey rise.", ("Fees", "They rise.")),
    ],
)
def test_statements_without_marks(text: str, claims: tuple[str, ...]) -> None:
    assert claims_of(text) == claims


@pytest.mark.parametrize(
    "text",
    [
        "I don't know.",
        "I don’t know: the documents do not cover this.",
        "I'm sorry, but I cannot answer that.",
        "Sorry, but I have no information on this.",
        "The documents do not provide an answer to the question.",
        "Do you mean the fee?",
    ],
)
def test_what_states_nothing_has_no_claims(text: str) -> None:
    assert claims_of(text) == ()


def test_what_is_said_beside_not_knowing_is_a_claim() -> None:
    assert claims_of("I don't know the fee. The limit is EUR 50.") == ("The limit is EUR 50.",)


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Suspected fraud; the card is blocked.", ("Suspected fraud", "the card is blocked.")),
        ("The fee is EUR 5, and the card is blocked.", ("The fee is EUR 5", "the card is blocked.")),
        ("The fee is not due, but the card is blocked.", ("The fee is not due", "the card is blocked.")),
        # The first part is no statement, or the second hangs on it.
        ("Lost, stolen, and blocked cards are replaced.", ("Lost, stolen, and blocked cards are replaced.",)),
        (
            "If the card is lost, and the customer is abroad, it is blocked.",
            ("If the card is lost, and the customer is abroad, it is blocked.",),
        ),
        (
            "It is not true that the fee is due, and the card is blocked.",
            ("It is not true that the fee is due, and the card is blocked.",),
        ),
        ("Chargeback – Debit: 15; Credit: 20", ("Chargeback – Debit: 15; Credit: 20",)),
    ],
)
def test_a_compound_is_split_where_each_part_says_what_the_whole_says(text: str, claims: tuple[str, ...]) -> None:
    assert claims_of(text) == claims


def test_a_list_keeps_the_negation_and_the_subject_above_it() -> None:
    text = (
        "The following are not covered:\n- cash [1]\n- fees\nRenting offers:\n- freedom\nFollow these steps:\n1. Wait."
    )
    assert claims_of(text) == (
        "The following are not covered: cash",
        "The following are not covered: fees",
        "Renting offers: freedom",
        "Wait.",
    )


def test_a_line_that_announces_a_number_states_it() -> None:
    assert claims_of("There are 2 conditions:\n- one\n- other") == ("There are 2 conditions:", "one", "other")


def test_what_follows_not_knowing_in_one_sentence_is_a_claim() -> None:
    assert claims_of("I do not know the fee, but the limit is EUR 50.") == ("the limit is EUR 50.",)
