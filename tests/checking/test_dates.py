"""Dates in several spellings and languages."""

from __future__ import annotations

import pytest

from citewell.checking.dates import dates, undated


@pytest.mark.parametrize(
    "text",
    [
        "14 March 2026",
        "14th of March 2026",
        "March 14, 2026",
        "Mar 14 2026",
        "2026-03-14",
        "14.03.2026",
        "14.3.2026",
        "14. März 2026",
        "14 mars 2026",
        "14 de marzo de 2026",
        "2026年3月14日",
    ],
)
def test_one_day_in_many_spellings(text: str) -> None:
    assert [str(date) for date in dates(f"Since {text}.")] == ["2026-03-14"]


def test_parts_of_dates() -> None:
    assert [str(date) for date in dates("In March 2026, on 5 May, by May.")] == ["2026-03", "05-05"]


def test_a_date_that_two_countries_read_as_two_days_is_both() -> None:
    assert {str(date) for date in dates("03/04/2026")} == {"2026-03-04", "2026-04-03"}
    assert [str(date) for date in dates("14/03/2026")] == ["2026-03-14"]


@pytest.mark.parametrize(
    ("claimed", "said", "within"),
    [("14 March", "2026-03-14", True), ("March 2026", "2026-03-14", True), ("15 March 2026", "14 March 2026", False)],
)
def test_what_a_date_says_of_another(claimed: str, said: str, within: bool) -> None:
    assert dates(claimed)[0].within(dates(said)[0]) is within


def test_a_text_without_its_dates() -> None:
    assert undated("The fee of 14 March 2026 rises.").split() == ["The", "fee", "of", "rises."]
    assert undated("2026-03-14.") == "2026-03-14."
