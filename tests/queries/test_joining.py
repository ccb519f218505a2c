"""Several lists made one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from citewell.queries.joining import joined


def test_the_best_of_each_comes_before_the_second_of_any() -> None:
    assert joined([["a", "b", "c"], ["d", "a"], []], key=str) == ("a", "d", "b", "c")


def test_what_is_the_same_by_its_key_comes_once_as_it_first_came() -> None:
    assert joined([["A", "b"], ["a", "B", "c"]], key=str.casefold) == ("A", "b", "c")
    assert joined([], key=str) == ()


@given(st.lists(st.lists(st.integers(0, 20))))
def test_nothing_is_lost_and_nothing_comes_twice(lists: list[list[int]]) -> None:
    found = joined(lists, key=int)
    assert sorted(found) == sorted({item for each in lists for item in each})
