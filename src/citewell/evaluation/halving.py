"""Successive halving: all are tried on a little, the better half on more, and so on.

So most of what may be spent goes to what does best (Jamieson and Talwalkar 2016, arXiv:1502.07943, algorithm 1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, log2
from typing import TypeVar

T = TypeVar("T")


def halve(arms: Sequence[T], most: int, budget: int, gain: Callable[[T, int], float]) -> list[T]:
    """The arms, best first: those that came furthest, and of those that went together the one with the larger gain.

    `gain(arm, n)` is that of an arm on the first n questions, of which there are `most`; an equal gain goes to the arm
    given first. All questions of all arms together are no more than `budget`, which must be enough: see `most_arms`.
    """
    left, out, questions = list(arms), list[T](), 0
    for _ in range(_rounds(len(arms))):
        questions = min(most, questions + budget // (len(left) * _rounds(len(arms))))
        gains = [gain(arm, questions) for arm in left]
        order = sorted(range(len(left)), key=lambda at: -gains[at])
        half = ceil(len(left) / 2)
        out = [left[at] for at in order[half:]] + out
        left = [left[at] for at in order[:half]]
    return left + out


def most_arms(budget: int, least: int) -> int:
    """How many arms there may be so that the budget gives each at least so many questions in the first round."""
    arms = 0
    while (arms + 1) * _rounds(arms + 1) * least <= budget:
        arms += 1
    return arms


def _rounds(arms: int) -> int:
    return max(1, ceil(log2(arms))) if arms else 0
