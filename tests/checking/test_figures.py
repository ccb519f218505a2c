"""Numbers with their units, however they are written."""

from __future__ import annotations

import pytest

from citewell.checking.figures import figures


def read(text: str) -> list[tuple[str, str]]:
    """The asked-for figures: the shortest reading and the unit."""
    return [(min(figure.values, key=len), figure.unit) for figure in figures(text) if not figure.is_loose]


@pytest.mark.parametrize("text", ["EUR 25", "25 €", "€25", "25 euros", "25.00 EUR", "€ 25"])
def test_one_amount_in_many_spellings(text: str) -> None:
    assert read(text) == [("25", "eur")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,5 and 1.50", [("1.5", ""), ("1.5", "")]),
        ("1,500 and 1'500 and 1.500,00", [("1500", ""), ("1500", ""), ("1500", "")]),
        ("25 000 km", [("25000", "km")]),
        ("3 million euros, €5m, 2.5 bn", [("3000000", "eur"), ("5000000", "eur"), ("2500000000", "")]),
        ("4.5 % or 4.5 per cent", [("4.5", "percent"), ("4.5", "percent")]),
        ("10-20 days", [("10", "day"), ("20", "day")]),
        ("5 business days, 10 full weeks", [("5", "day"), ("10", "week")]),
        ("twenty-five days and one year", [("25", "day"), ("1", "year")]),
        ("zwölf Tage, deux mois, tres años", [("12", "day"), ("2", "month"), ("3", "year")]),
        ("at 5 pm, 17:00 or 9 Uhr", [("17:00", "clock"), ("17:00", "clock"), ("9:00", "clock")]),
        ("version 1.2.10", [("1.2.10", "")]),
        ("one of them, a card", []),
    ],
)
def test_readings(text: str, expected: list[tuple[str, str]]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        ("1.500 euros", "EUR 1,500", True),
        ("1.5", "1,500", False),
        ("120 days", "120 hours", False),
        ("120 days", "120", True),
        ("12 points", "12 minutes", False),
        ("3 million", "3 billion", False),
        ("401(k)", "401k", True),
        ("£85,000", "€85,000", False),
    ],
)
def test_agreement(one: str, other: str, agree: bool) -> None:
    (first,), (second,) = figures(one), figures(other)
    assert (first.agrees(second), second.agrees(first)) == (agree, agree)


def test_two_cells_of_a_row_may_be_read_as_one_number_or_as_two() -> None:
    (wanted,) = figures("210")
    assert any(wanted.agrees(figure) for figure in figures("Disputes older than the target 100 210"))
