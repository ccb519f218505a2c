"""Near duplicates: what is nearly the same text, and what only looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.retrieval.near_duplicates import groups

RULE = (
    "A customer may dispute a card payment within 120 days of the transaction date. The dispute is opened in the app "
    "or at a branch of Northwind Bank, and a provisional credit of EUR 250 is given when the form is complete. Credits "
    "above that need the approval of a team lead, who has 3 working days to decide and does not extend them."
)


def test_a_text_and_its_reflowed_copy_are_one_and_the_better_is_first() -> None:
    reflowed = RULE.replace(". ", ".\n\n").replace("a branch of Northwind", "a branch of\nNorthwind").upper().lower()
    other = "Lost cards are blocked at once, at any hour, by phone or in the app."
    assert groups([other, RULE, other, reflowed]) == [[0, 2], [1, 3]]


def test_a_few_words_may_differ() -> None:
    assert groups([RULE, RULE.replace("is given when", "is granted once")]) == [[0, 1]]
    assert groups([RULE, f"Note: {RULE}"]) == [[0, 1]]


@pytest.mark.parametrize(
    ("said", "otherwise"),
    [
        ("120 days", "90 days"),
        ("EUR 250", "EUR 350"),
        ("EUR 250", "USD 250"),
        ("120 days", "days"),
        ("3 working", "three working"),
        ("a team lead", "two team leads"),
        ("does not extend", "does extend"),
        ("may dispute", "may not dispute"),
        ("may dispute", "must dispute"),
        ("Northwind Bank", "Southwind Bank"),
        ("Credits above that need", "Unless credits above that need"),
    ],
)
def test_a_number_a_name_a_negation_or_a_duty_makes_another_text(said: str, otherwise: str) -> None:
    changed = RULE.replace(said, otherwise)
    assert changed != RULE
    assert groups([RULE, changed]) == [[0], [1]]


def test_numbers_that_change_places_make_another_text() -> None:
    text = "The fee at home is 25 and the fee abroad is 40, each for a calendar month and each card that is in use."
    swapped = text.replace("25", "x").replace("40", "25").replace("x", "40")
    assert groups([text, swapped]) == [[0], [1]]


def test_one_amount_in_two_spellings_is_the_same() -> None:
    assert groups([RULE, RULE.replace("EUR 250", "€250")]) == [[0, 1]]


def test_every_text_is_like_the_first_of_its_group_not_only_like_another_in_it() -> None:
    words = RULE.split()[:22]
    chain = [" ".join(words[at:] + [f"w{'x' * n}" for n in range(at)]) for at in range(4)]
    assert groups(chain[:2]) == groups(chain[1:3]) == [[0, 1]]
    assert 3 not in groups(chain)[0]


def test_another_language_and_scripts_without_spaces() -> None:
    german = "Der Kunde kann die Zahlung innerhalb der Frist bestreiten, wenn er die Karte nicht selbst benutzt hat."
    assert groups([german, german.replace(" nicht", "")]) == [[0], [1]]
    assert groups([german, german.replace("kann die", "muss die")]) == [[0], [1]]
    assert groups([german, german.upper().lower()]) == [[0, 1]]
    chinese = "客户可以在交易日期后的规定期限内对银行卡付款提出异议,并提交完整的申请表格。"
    assert groups([chinese, chinese.replace("。", " 。"), "丢失的银行卡会立即被冻结。"]) == [[0, 1], [2]]


def test_texts_without_words() -> None:
    assert groups([]) == []
    assert groups(["→ ←", "***", "→ ←", ""]) == [[0, 2], [1], [3]]


@given(st.lists(st.sampled_from([RULE, RULE.replace("120", "90"), "Lost cards.", "", "R-17"]), max_size=8))
def test_every_place_is_in_one_group_and_equal_texts_in_the_same(texts: list[str]) -> None:
    found = groups(texts)
    assert sorted(place for group in found for place in group) == list(range(len(texts)))
    assert [group[0] for group in found] == sorted(group[0] for group in found)
    assert {len({texts[place] for place in group}) for group in found} <= {1}
    assert len(found) == len(set(texts))
