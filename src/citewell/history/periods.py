"""On which days each version of a document is in force."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Dated:
    """A version as far as its days go: the day on which it came, and what was said of it."""

    came: date
    valid_from: date | None = None
    valid_to: date | None = None


@dataclass(frozen=True, slots=True)
class Period:
    """Days, both ends included; None is open. `empty` where there are none, whatever the ends say."""

    start: date | None = None
    end: date | None = None
    empty: bool = False


def in_force(versions: Sequence[Dated]) -> list[Period]:
    """The period of each version, oldest first; no two have a day in common.

    A version begins on the day said of it. Where nothing is said it begins on the day it came, but the first of all
    reaches back without end, and so does one that came on the same day as every version before it: it corrects them.
    From the day a version begins, those before it are out of force, also where it ends before they would have. One that
    came after its last day corrects those before it for all their days.
    """
    starts = [_start(version, versions[:place]) for place, version in enumerate(versions)]
    return [_period(version, starts[place], starts[place + 1 :]) for place, version in enumerate(versions)]


def _start(version: Dated, before: Sequence[Dated]) -> date | None:
    if version.valid_from is not None:
        return version.valid_from
    over = version.valid_to is not None and version.valid_to < version.came
    return version.came if not over and any(earlier.came < version.came for earlier in before) else None


def _period(version: Dated, start: date | None, later: Sequence[date | None]) -> Period:
    if any(other is None or other == date.min for other in later):
        return Period(empty=True)
    ends = [other - DAY for other in later if other is not None]
    end = min([*ends, version.valid_to] if version.valid_to is not None else ends, default=None)
    return Period(start, end, empty=start is not None and end is not None and end < start)
