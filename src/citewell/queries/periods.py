"""The years and days that a question names, where it sets them against each other."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH = "|".join(_MONTHS)
_YEAR = r"(?<![\w:/.\u2013-])(?:19|20)\d\d(?![\w:/\u2013-]|\.\d)"
_PERIOD = (
    rf"(?:(?<!\d)\d{{4}}-\d\d-\d\d(?!\d)|\b\d{{1,2}}\s+(?:{_MONTH}),?\s+{_YEAR}|\b(?:{_MONTH})\s+\d{{1,2}},\s+{_YEAR}"
    rf"|\b(?:{_MONTH})\s+{_YEAR}|{_YEAR}|(?:version|release|edition)\s+v?\d+(?:\.\d+)*)"
)
_CHANGE = re.compile(
    r"\b(?:chang\w+|differ\w*|compar\w+|rais\w+|rose|ris\w+|fall\w*|fell|increas\w+|decreas\w+|grow\w*|grew|drop\w*"
    r"|evol\w+|new)\b",
    re.IGNORECASE,
)
_RANGE = re.compile(
    rf"\b(?:between|from)\s+(?P<one>{_PERIOD})\s+(?:and|to|until)\s+(?P<other>{_PERIOD})", re.IGNORECASE
)
_LISTED = re.compile(
    rf"(?<!between\s)(?<!from\s)(?P<one>{_PERIOD})(?:(?:,|,?\s+(?:and|or|versus|vs\.?|compared\s+(?:to|with)))\s+"
    rf"(?:(?:in|of|for|under|on|as\s+of)\s+)?(?:the\s+)?{_PERIOD})+",
    re.IGNORECASE,
)
_SINCE = re.compile(rf"\bsince\s+(?P<one>{_PERIOD})", re.IGNORECASE)
_HOW_CHANGED = re.compile(
    r"how\s+(?:did|has|have|does|do)\s+(?P<what>.+?)\s+(?:chang|differ|evolv|ris|fall|increas|decreas|grow|drop)\w*\s+"
    r"(?P<when>in\s.+|today.*)",
    re.IGNORECASE,
)
# A year in brackets tells two films of one name apart; one behind these words is when something holds.
_DATED = re.compile(
    rf"\b(?:in|of|for|under|on|at|during|since|from|as\s+of|the)\s+(?:the\s+)?(?P<period>{_PERIOD})", re.IGNORECASE
)
_NOW = re.compile(r"\b(?:now|today|currently|current|at\s+present|nowadays)\b", re.IGNORECASE)


def each_period(text: str) -> tuple[str, ...]:
    """The text once for each of the periods that it sets against each other; () where it does not.

    "Between 1950 and 1960" is a span of time and stays one, unless something is said to change.
    """
    changes = _CHANGE.search(text)
    if changes and (found := _RANGE.search(text)):
        return tuple(_put(text, found, f"in {period}") for period in (found["one"], found["other"]))
    if changes and (found := _SINCE.search(text)):
        return (_put(text, found, f"in {found['one']}"), _put(text, found, "today"))
    if found := _LISTED.search(text):
        return tuple(
            _put(text, found, period) for period in dict.fromkeys(re.findall(_PERIOD, found[0], re.IGNORECASE))
        )
    return ()


def days(texts: tuple[str, ...], today: date) -> tuple[date | None, ...]:
    """For each text the day it asks about, where the texts name different ones; None elsewhere.

    Of a year or a month that is its last day, of the year or month that it is `today`.
    """
    found = [_day(text, today) for text in texts]
    return tuple(found if len({day for day in found if day}) > 1 else [None] * len(found))


def without_periods(text: str) -> str:
    """The text without the periods that it dates something by."""
    return " ".join(_DATED.sub("", text).split())


def years(text: str) -> frozenset[int]:
    """The years that a text names."""
    return frozenset(int(year) for year in re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", text))


def _put(text: str, found: re.Match[str], period: str) -> str:
    narrowed = f"{text[: found.start()]}{period}{text[found.end() :]}"
    # "How did X change in 2023" is searched as what X was in 2023.
    changed = _HOW_CHANGED.fullmatch(narrowed)
    return f"{changed['what']} {changed['when']}" if changed else narrowed


def _day(text: str, today: date) -> date | None:
    named = {_last_day(period, today) for period in _DATED.findall(text)} - {None}
    if len(named) == 1:
        return named.pop()
    return today if not named and _NOW.search(text) else None


def _last_day(period: str, today: date) -> date | None:
    """The last day of a period, or `today` if it lies in it; None of a version, or where there is no such day."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d", period):
        return _day_of(*map(int, period.split("-")))
    words = re.findall(r"\w+", period.casefold())
    year = next(iter(years(period)), None)
    month = next((_MONTHS.index(word) + 1 for word in words if word in _MONTHS), None)
    day = next((int(word) for word in words if word.isdigit() and len(word) <= 2), None)
    if year is None:
        return None
    if month and day:
        return _day_of(year, month, day)
    if year == today.year and month in (None, today.month):
        return today
    return date(year, month or 12, monthrange(year, month or 12)[1])


def _day_of(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
