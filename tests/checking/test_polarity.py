"""Negations and opposite words on one side."""

from __future__ import annotations

import pytest

from citewell.checking.polarity import against, is_negated, stand_of

PAIRS = [
    ("Cash can be disputed here.", "Cash cannot be disputed here.", "not disput"),
    ("The card isn't blocked at night.", "The card is blocked at night.", "block"),
    ("Bargeld gilt hier als Zahlung.", "Bargeld gilt hier nicht als Zahlung.", "not zahlung"),
    ("Les retraits peuvent être contestés.", "Les retraits ne peuvent pas être contestés.", "not contest"),
    ("El pago puede ser anulado.", "El pago nunca puede ser anulado.", "not pago"),
    ("The fee increases in May.", "The fee decreases in May.", "decreas"),
    ("现金提款可以提出异议。", "现金提款不能提出异议。", "not"),
]


@pytest.mark.parametrize(("claim", "said"), [(claim, said) for claim, said, _ in PAIRS])
def test_a_negation_on_one_side_turns_it_round(claim: str, said: str) -> None:
    assert against(stand_of(claim), stand_of(said))
    assert against(stand_of(said), stand_of(claim))


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("Cash can't be disputed here.", "Cash cannot be disputed here."),
        ("The fee is due at once.", "The fee is not only due at once, it is high."),
        ("The card is blocked at night.", "The card is blocked at night, not the account."),
        ("It is refunded without delay.", "Without delay it is refunded."),
        ("You can avoid paying the insurance.", "You do not pay the insurance."),
        ("Refunds are impossible for cash.", "Cash is never refunded."),
        ("Hey Monday", "Never Shout Never, Hey Monday"),  # too little to be a statement
        ("Deadlines: no later than Friday noon.", "The deadline is Friday noon."),
    ],
)
def test_agreement(claim: str, said: str) -> None:
    assert against(stand_of(claim), stand_of(said)) == ""


def test_the_word_is_named() -> None:
    assert against(stand_of(PAIRS[0][0]), stand_of(PAIRS[0][1])) == "not disput"


@pytest.mark.parametrize(("text", "expected"), [("Not covered:", True), ("No. 5 is open", False), ("不能", True)])
def test_is_negated(text: str, expected: bool) -> None:
    assert is_negated(text) is expected
