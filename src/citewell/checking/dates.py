"""The dates of a text, in several spellings and languages: `14 March 2026`, `2026-03-14`, `14.03.2026`, `März 2026`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_MONTHS = (
    "january jan januar jänner janvier enero gennaio januari janeiro",
    "february feb februar février febrero febbraio februari fevereiro",
    "march mar märz mars marzo maart março",
    "april apr avril abril aprile",
    "may mai mayo maggio mei maio",
    "june jun juni juin junio giugno junho",
    "july jul juli juillet julio luglio julho",
    "august aug août agosto augustus",
    "september sept sep septembre septiembre settembre setembro",
    "october oct oktober octobre octubre ottobre outubro",
    "november nov novembre noviembre novembro",
    "december dec dezember décembre diciembre dicembre dezembro",
)
_MONTH_OF = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names.split()}
_NAME = "|".join(sorted(_MONTH_OF, key=len, reverse=True))
_YEAR = r"(?P<year>[12]\d{3})(?!\d)"
_DAY = r"(?<![\d.,:])(?P<day>[0-3]?\d)(?:st|nd|rd|th|\.|er|º)?"
_SPELT = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_DAY}[\s-](?:of\s|de\s)?(?P<month>{_NAME})\b\.?(?:(?:,?\s|-|\sde\s){_YEAR})?",
        rf"\b(?P<month>{_NAME})\b\.?\s{_DAY}(?![\d.,]*\d)(?:,?\s{_YEAR})?",
        rf"\b(?P<month>{_NAME})\b\.?,?\s(?:of\s|de\s)?{_YEAR}",
    )
]
_ISO = re.compile(r"(?<![\d-])([12]\d{3})-(0?[1-9]|1[0-2])-(0?[1-9]|[12]\d|3[01])(?![\d-])")
_CHINESE = re.compile(r"([12]\d{3})年(?:(\d{1,2})月)?(?:(\d{1,2})日)?")
_FIGURES = re.compile(r"(?<![\d./])(\d{1,2})([./])(\d{1,2})\2([12]\d{3})(?![\d/])")


@dataclass(frozen=True, slots=True)
class Date:
    """A day, or a month of a year, or a day of any year, at `start` to `end` of its text; 0 for what is not said."""

    year: int
    month: int
    day: int
    start: int
    end: int

    def __str__(self) -> str:
        return "-".join(f"{part:02d}" for part in (self.year, self.month, self.day) if part)

    def within(self, other: Date) -> bool:
        """Whether `other` says all that this one says."""
        said = ((self.year, other.year), (self.month, other.month), (self.day, other.day))
        return all(mine in (0, theirs) for mine, theirs in said)


def dates(text: str) -> list[Date]:
    """Every date; `03/04/2026`, which two countries read as two days, is both of them."""
    found: list[Date] = []
    # Of two that overlap the longer one, and both readings of one place.
    longest_first = sorted((*_iso(text), *_by_figures(text), *_by_name(text)), key=lambda date: (date.start, -date.end))
    for date in longest_first:
        if not found or date.start >= found[-1].end or _same_place(date, found[-1]):
            found.append(date)
    return found


def undated(text: str) -> str:
    """The text without its dates; all of it where it is nothing else."""
    bare = text
    for date in reversed(dates(text)):
        bare = f"{bare[: date.start]} {bare[date.end :]}"
    return bare if any(sign.isalnum() for sign in bare) else text


def _same_place(one: Date, other: Date) -> bool:
    return (one.start, one.end) == (other.start, other.end)


def _iso(text: str) -> Iterator[Date]:
    for pattern in (_ISO, _CHINESE):
        for match in pattern.finditer(text):
            year, month, day = (int(part or 0) for part in match.groups())
            yield Date(year, month, day, match.start(), match.end())


def _by_figures(text: str) -> Iterator[Date]:
    for match in _FIGURES.finditer(text):
        first, second, year = int(match[1]), int(match[3]), int(match[4])
        readings = {(first, second), (second, first)} if match[2] == "/" else {(first, second)}
        for day, month in sorted(readings):
            if 1 <= day <= 31 and 1 <= month <= 12:
                yield Date(year, month, day, match.start(), match.end())


def _by_name(text: str) -> Iterator[Date]:
    for pattern in _SPELT:
        for match in pattern.finditer(text):
            parts = match.groupdict()
            month, day = _MONTH_OF[parts["month"].casefold()], int(parts.get("day") or 0)
            if day <= 31:
                yield Date(int(parts.get("year") or 0), month, day, match.start(), match.end())
