"""Texts without NUL keep their order, and are found in one another exactly where they were before."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.stores.postgres.texts import escaped, fingerprint, possible

low = st.text("\0\1\2\3\4a", max_size=5)


@settings(max_examples=400, deadline=None)
@given(low, low)
def test_escaped_texts_compare_and_contain_as_before(one: str, other: str) -> None:
    assert "\0" not in escaped(one)
    assert (escaped(one) < escaped(other)) == (one < other)
    assert (escaped(one) == escaped(other)) == (one == other)
    assert (escaped(one) in escaped(other)) == (one in other)


def test_most_texts_are_their_own() -> None:
    assert escaped("plain \t é 🙂") == "plain \t é 🙂"


def test_what_cannot_be_stored_is_left_out() -> None:
    assert possible(["a", "b\0", "\ud800", "é"]) == ["a", "é"]


def test_a_fingerprint_is_of_any_text() -> None:
    assert len({fingerprint(text) for text in ("", "\0", "\ud800", "a", "A", "x" * 100_000)}) == 6
    assert fingerprint("a") == fingerprint("a")
