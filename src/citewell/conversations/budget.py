"""The history that a follow-up is asked with: as many of the last turns as fit."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.chunking.sentences import sentences
from citewell.types import Turn

CHARS_PER_TOKEN = 4
HISTORY_TOKENS = 1_000


def within(turns: Sequence[Turn], tokens: int) -> tuple[Turn, ...]:
    """The last of these turns, oldest first, that fit together, at 4 characters a token.

    The newest are kept first. Of the first that does not fit the answer is cut after a sentence, and what is before it
    is left out; so is the turn itself, where not even its question fits.
    """
    kept: list[Turn] = []
    room = tokens * CHARS_PER_TOKEN
    for turn in reversed(turns):
        room -= len(turn.question)
        if room < 0:
            break
        if len(turn.answer) > room:
            kept.append(Turn(turn.question, _shortened(turn.answer, room)))
            break
        kept.append(turn)
        room -= len(turn.answer)
    return tuple(reversed(kept))


def _shortened(answer: str, room: int) -> str:
    """The first sentences of an answer that fit; "" where not even one does."""
    return answer[: max((end for _, end in sentences(answer) if end <= room), default=0)]
