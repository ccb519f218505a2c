"""On which day which version is in force."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.history.periods import Dated, Period, in_force

JAN, MAR, MAY, JUL = (date(2026, month, 1) for month in (1, 3, 5, 7))
DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        # One version alone holds for all days, or for those said.
        ([Dated(MAR)], [Period()]),
        ([Dated(MAR, JAN, MAY)], [Period(JAN, MAY)]),
        # Without dates the second takes over on the day it came, and the first reaches back.
        ([Dated(JAN), Dated(MAR)], [Period(None, MAR - DAY), Period(MAR, None)]),
        # On the same day it corrects the first.
        ([Dated(JAN), Dated(JAN)], [Period(empty=True), Period()]),
        ([Dated(JAN), Dated(MAR), Dated(MAR)], [Period(None, MAR - DAY), Period(MAR, MAR - DAY, True), Period(MAR)]),
        # Said days win: an edition for later leaves the one before in force until then.
        ([Dated(JAN), Dated(MAR, MAY)], [Period(None, MAY - DAY), Period(MAY)]),
        ([Dated(JAN, JAN, MAR), Dated(MAR, MAY)], [Period(JAN, MAR), Period(MAY)]),
        # The same edition again, corrected.
        ([Dated(JAN, JAN), Dated(MAR, JAN)], [Period(JAN, JAN - DAY, True), Period(JAN)]),
        # An older edition put in the place of a newer one: the newer is out of force from there on.
        ([Dated(JAN, MAY), Dated(MAR, JAN, MAR)], [Period(MAY, JAN - DAY, True), Period(JAN, MAR)]),
        # A correction of an edition whose time is over.
        ([Dated(JAN), Dated(JUL, None, MAY)], [Period(empty=True), Period(None, MAY)]),
    ],
)
def test_periods(versions: list[Dated], expected: list[Period]) -> None:
    assert in_force(versions) == expected


days = st.dates(date(2026, 1, 1), date(2026, 1, 12))
said = st.none() | days


@st.composite
def histories(draw: st.DrawFn) -> list[Dated]:
    came = sorted(draw(st.lists(days, min_size=1, max_size=6)))
    ends = [draw(st.tuples(said, said)) for _ in came]
    return [
        Dated(day, first, last if first is None or last is None or last >= first else first)
        for day, (first, last) in zip(came, ends, strict=True)
    ]


def covers(period: Period, day: date) -> bool:
    return not period.empty and (period.start or date.min) <= day <= (period.end or date.max)


@given(histories(), days)
def test_a_day_has_one_version_at_most_and_the_newest_has_all_that_was_said_of_it(
    versions: list[Dated], day: date
) -> None:
    periods = in_force(versions)
    assert sum(covers(period, day) for period in periods) <= 1
    newest = versions[-1]
    if newest.valid_from is not None and newest.valid_from <= day <= (newest.valid_to or date.max):
        assert covers(periods[-1], day)
    for version, period in zip(versions, periods, strict=True):
        if covers(period, day):
            assert (version.valid_from or date.min) <= day <= (version.valid_to or date.max)


@given(histories())
def test_empty_says_whether_there_is_a_day(versions: list[Dated]) -> None:
    for period in in_force(versions):
        if period.start is not None and period.end is not None:
            assert period.empty == (period.end < period.start)
