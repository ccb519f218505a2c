"""Work counted in calls of functions: unlike time, the same in each run."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def calls(read: Callable[[str], T], text: str) -> tuple[T, int]:
    """What `read` makes of the text, and how many functions it called for it."""
    read(text)  # The first reading of a process also loads what it needs.
    profile = cProfile.Profile()
    made = profile.runcall(read, text)
    return made, int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]  # not in the stubs
