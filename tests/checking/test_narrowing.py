"""The part of a passage that says what a sentence says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.checking.narrowing import narrowed

PASSAGE = """4.2 Time limits

A customer may dispute a card payment within 120 days of the transaction date. Cash withdrawals cannot be disputed
after 30 days.

The chargeback fee is EUR 25. It is taken from the account on the next business day. Alerts are declined with R-17.

Fee | Debit | Credit
Chargeback | 15 | 20
Copy | 5 | 6"""


def quoted(sentence: str) -> str | None:
    span = narrowed(sentence, PASSAGE)
    return " ".join(PASSAGE[slice(*span)].split()) if span else None


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Card payments can be disputed for 120 days.",
         "A customer may dispute a card payment within 120 days of the transaction date."),
        ("Cash withdrawals can't be disputed after 30 days.", "Cash withdrawals cannot be disputed after 30 days."),
        ("The fee for a chargeback is 25 €.", "The chargeback fee is EUR 25."),
        ("The chargeback fee is EUR 25 and is taken from the account on the next business day.",
         "The chargeback fee is EUR 25. It is taken from the account on the next business day."),
        ("Copy costs 5 by debit.", "Copy | 5 | 6"),
        ("The code is R 17.", "Alerts are declined with R-17."),
        ("Our kitchen bakes bread.", None),
        ("", None),
    ],
)  # fmt: skip
def test_the_smallest_part_that_says_it(sentence: str, expected: str | None) -> None:
    assert quoted(sentence) == expected


def test_an_empty_passage_says_nothing() -> None:
    assert narrowed("The fee is EUR 25.", "") is None
    assert narrowed("The fee is EUR 25.", " \n") is None


@given(st.text(max_size=60), st.text(max_size=200))
def test_a_part_lies_within_its_passage(sentence: str, passage: str) -> None:
    span = narrowed(sentence, passage)
    assert span is None or 0 <= span[0] < span[1] <= len(passage)
