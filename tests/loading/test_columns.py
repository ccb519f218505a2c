from __future__ import annotations

import pytest

from citewell.loading.columns import header_rows, is_figure

TABLE = [["Card", "Fee"], ["Debit", "1"], ["Credit", "2"], ["Gift", "3"], ["Sum", "6"]]
WORDS = [["Code", "Text"], ["a", "b"], ["c", "d"]]


@pytest.mark.parametrize(
    "cell", ["12", "-1,234.50", "(3)", "15 %", "EUR 12", "$5", "30 days", "2024-01-31", "4.3E+05", "10:30"]
)
def test_figures(cell: str) -> None:
    assert is_figure(cell)


@pytest.mark.parametrize("cell", ["", "R-17", "col-1", "Q1 2024 results", "three", "3 of the 4 cards", "1" * 41])
def test_no_figures(cell: str) -> None:
    assert not is_figure(cell)


def test_names_stand_above_figures() -> None:
    assert header_rows(TABLE) == 1
    assert header_rows(TABLE[1:]) == 0
    assert header_rows(TABLE[:1]) == 0
    assert header_rows([]) == 0


def test_a_sum_may_be_bold_too_but_not_every_row() -> None:
    assert header_rows(WORDS, [True, False, False]) == 1
    assert header_rows([*WORDS, *WORDS], [True, False, False, False, False, True]) == 1
    assert header_rows(WORDS, [True, True, True]) == 0
    assert header_rows(WORDS) == 0


def test_two_lines_where_the_first_groups_columns() -> None:
    rows = [["Card", "Fee", "Fee"], ["", "Low", "High"], ["Debit", "1", "2"]]
    assert header_rows(rows, grouped=True) == 2
    assert header_rows(rows, [True, False, False], grouped=True) == 2
    assert header_rows([rows[0], rows[2]], grouped=True) == 1


def test_short_names_that_never_come_again() -> None:
    rows = [["Code", "Meaning", "Action"], ["R-1", "stolen", "block"], ["R-2", "lost", "call"]]
    assert header_rows(rows) == 1
    assert header_rows([*rows, ["R-3", "Meaning", "x"]]) == 0
    assert header_rows([["Ann pays.", "Bob waits.", "Eve looks."], *rows[1:]]) == 0
