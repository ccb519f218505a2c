"""The time that all of an index goes by: UTC, so that a day begins for every process at the same moment."""

from __future__ import annotations

from datetime import UTC, date, datetime


def now() -> datetime:
    return datetime.now(UTC)


def today() -> date:
    return now().date()
