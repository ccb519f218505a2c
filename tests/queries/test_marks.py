"""Codes, numbers, negations and scripts, which another wording must keep."""

from __future__ import annotations

from collections import Counter

import pytest

from citewell.queries.marks import marks, negations, same_language, without_foreign_marks


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("code R-17", "R 17"),
        ("€25", "25 euros"),
        ("in 2025", "of 2025"),
        ("Unusual_Amount", "unusual_amount"),
        ("C++", "c++"),
    ],
)
def test_spelling_does_not_matter(one: str, other: str) -> None:
    assert marks(one) == marks(other) != frozenset()


@pytest.mark.parametrize(("one", "other"), [("R-17", "R-71"), ("EUR 25", "GBP 25"), ("C++", "C#"), ("4.2", "4.2(b)")])
def test_other_codes_are_other_marks(one: str, other: str) -> None:
    assert marks(one) != marks(other)


def test_words_are_no_marks() -> None:
    assert marks("What is the fee for a card?") == frozenset()


def test_negations() -> None:
    assert negations("It isn't free, never, and NOT without notice.") == Counter(("not", "never", "not", "without"))
    assert negations("One cannot, and can\u2019t") == negations("not, not")
    assert negations("Das ist nicht kostenlos, ohne Geb\u00fchr: kein Problem.") == Counter(("nicht", "ohne", "kein"))
    assert not negations("a note on cannonballs, known, innocent")


def test_foreign_marks_are_struck() -> None:
    assert (
        without_foreign_marks("R-17 holds 120 days, 17 hours, not R-71.", "R-17?") == "R-17 holds days, 17 hours, not ."
    )


def test_languages() -> None:
    assert same_language("What does it cost?", "How much is it?")
    assert not same_language("Was kostet das?", "How much is it?")
    assert not same_language("Сколько это стоит?", "How much is it?")
    assert same_language("25?", "料金はいくらですか")
    assert same_language("Jumbo frames", "Was sind Jumbo frames?")
    assert same_language("カードの料金", "料金はいくらですか")


def test_a_text_takes_no_script_from_nowhere() -> None:
    assert not same_language("Wer unterschreibt форма?", "Wer unterschreibt sie?")
    assert same_language("Wer unterschreibt форма?", "Wer unterschreibt sie?", "форма")
    assert not same_language("форма?", "Wer unterschreibt sie?", "форма")
