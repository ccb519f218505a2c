"""As much of the history as fits, the newest first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from citewell.conversations import within
from citewell.types import Turn

OLD, MIDDLE, NEW = Turn("a" * 20, "b" * 20), Turn("c" * 20, "d" * 20), Turn("e" * 20, "f" * 20)


def test_all_that_fit_are_kept_oldest_first() -> None:
    assert within([OLD, MIDDLE, NEW], 30) == (OLD, MIDDLE, NEW)
    assert within([], 30) == ()


def test_the_newest_are_kept_first() -> None:
    assert within([OLD, MIDDLE, NEW], 20) == (MIDDLE, NEW)
    assert within([OLD, MIDDLE, NEW], 24) == (MIDDLE, NEW), "not even the question of the next one fits"


def test_an_answer_that_does_not_fit_is_cut_after_a_sentence() -> None:
    long = Turn("When?", "It opens at nine. It closes at five. On Sundays it is closed.")
    assert within([long], 12) == (Turn("When?", "It opens at nine. It closes at five."),)
    assert within([long], 2) == (Turn("When?", ""),), "no sentence fits, and the question says what it is about"
    assert within([OLD, long, NEW], 18) == (Turn("When?", "It opens at nine."), NEW)


def test_a_question_that_does_not_fit_ends_it() -> None:
    assert within([Turn("q" * 9, "")], 2) == ()
    assert within([Turn("q" * 8, "")], 2) == (Turn("q" * 8, ""),)
    assert within([NEW], 0) == ()


_TURNS = st.lists(
    st.builds(Turn, st.text(min_size=1, max_size=30), st.text(alphabet="ab .?\n", max_size=80)), max_size=6
)


@given(_TURNS, st.integers(0, 60))
def test_it_never_takes_more_than_there_is_room_for(turns: list[Turn], tokens: int) -> None:
    kept = within(turns, tokens)
    assert sum(len(turn.question) + len(turn.answer) for turn in kept) <= 4 * tokens
    last = turns[len(turns) - len(kept) :]
    assert [turn.question for turn in kept] == [turn.question for turn in last]
    assert all(whole.answer.startswith(turn.answer) for whole, turn in zip(last, kept, strict=True))
    assert list(kept[1:]) == last[1:], "only the oldest is cut"
