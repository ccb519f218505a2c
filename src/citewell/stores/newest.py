"""Asking the newest state of a store, which another process may erase in the middle of an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from citewell.errors import IndexFormatError

State = TypeVar("State")
Answer = TypeVar("Answer")


def of_newest(newest: Callable[[], State], question: Callable[[State], Answer]) -> Answer:
    """The answer of the newest state; of the one that came after it, where its files were removed meanwhile.

    Raises:
        IndexFormatError: files are missing, and no newer state has come.
    """
    state = newest()
    while True:
        try:
            return question(state)
        except IndexFormatError:
            before, state = state, newest()
            if state is before:
                raise
