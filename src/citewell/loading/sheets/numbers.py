"""Numbers of a spreadsheet as its reader sees them, by their format code; dates and times as ISO 8601 has them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import cache

GENERAL = "General"
# ECMA-376 part 1, 18.8.30. Those left out depend on the language and are dates (27-36, 50-58) or plain.
BUILT_IN = {
    **{1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 48: "0.0E+0"},
    **{5: "$#,##0", 6: "$#,##0", 7: "$#,##0.00", 8: "$#,##0.00", 37: "#,##0", 38: "#,##0", 39: "#,##0.00"},
    **{40: "#,##0.00", 41: "#,##0", 42: "$#,##0", 43: "#,##0.00", 44: "$#,##0.00", 22: "yyyy-mm-dd hh:mm"},
    **dict.fromkeys((14, 15, 16, *range(27, 37), *range(50, 59)), "yyyy-mm-dd"),
    **{
        17: "yyyy-mm",
        18: "hh:mm",
        19: "hh:mm:ss",
        20: "hh:mm",
        21: "hh:mm:ss",
        45: "mm:ss",
        46: "[h]:mm:ss",
        47: "mm:ss",
    },
}
_LONGEST_CODE = 255  # Excel's own limit
_MOST_DIGITS = 30
_EXACT = Context(prec=400)
_PARTS = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.|_.|\*.|.', re.DOTALL)
_DIGITS = re.compile(r"[0#?]([0#?,]*)(?:\.([0#?]*))?(E[+-]?0+)?")
_HOLDER = re.compile(r"[0#?]")
_SPLIT_SECOND = re.compile(r"s[.,]0+")
_FRACTION = re.compile(r"[?#0]\s*/\s*[?#\d]")
_ASIDE = str.maketrans("0#?", "\ue000\ue001\ue002")
_AS_WRITTEN = str.maketrans("\ue000\ue001\ue002", "0#?")
_CURRENCY = re.compile(r"\[\$([^\]-]*)(?:-[^\]]*)?\]")
_ELAPSED = re.compile(r"\[([hms])+\]", re.IGNORECASE)
_FIRST_OF_MARCH_1900 = 60
_DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class _Section:
    """One of up to four parts of a code, cut into what is shown as it stands and what the number fills."""

    before: str
    after: str
    digits: re.Match[str] | None
    time: str
    elapsed: str
    percents: int


def shown(value: float, code: str = GENERAL, from_1904: bool = False) -> str:
    """`value` in a format code such as `#,##0.00 "EUR"`; with the signs of the code's own notation, as in 1,234.50."""
    sections = _sections(code[:_LONGEST_CODE])
    if not sections:
        return plain(value)
    section = sections[0]
    if value < 0 and len(sections) > 1:
        # It says itself how the minus is shown.
        section, value = sections[1], -value
    elif value == 0 and len(sections) > 2:
        section = sections[2]
    if section.elapsed:
        return _duration(value, section.elapsed)
    if section.time:
        return _moment(value, section.time, from_1904) or plain(value)
    number = _number(value, section.digits, section.percents) if section.digits else ""
    minus, number = ("-", number[1:]) if number.startswith("-") else ("", number)
    return f"{minus}{section.before}{number}{section.after}".strip()


def plain(value: float) -> str:
    """A number without a format: 12 for 12.0, at most 10 digits else."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.10g}"


@cache
def _sections(code: str) -> tuple[_Section, ...]:
    """() for the general format, and for fractions and text, which are shown like it."""
    if GENERAL.lower() in code.lower() or _FRACTION.search(code):
        return ()
    sections: list[list[str]] = [[]]
    for part in _PARTS.findall(code):
        if part == ";":
            sections.append([])
        else:
            sections[-1].append(part)
    return tuple(_section(parts) for parts in sections if "@" not in parts)


def _section(parts: list[str]) -> _Section:
    elapsed = "".join(part[1:-1] for part in parts if _ELAPSED.fullmatch(part)).lower()
    bare = "".join(part for part in parts if len(part) == 1).lower()
    is_time = _HOLDER.search(_SPLIT_SECOND.sub("s", bare)) is None
    literal = "".join(map(_literal, parts))
    digits = _DIGITS.search(literal)
    before, after = (literal[: digits.start()], literal[digits.end() :]) if digits else (literal, "")
    return _Section(
        before=before.translate(_AS_WRITTEN),
        after=after.translate(_AS_WRITTEN),
        digits=digits,
        time="".join(sign for sign in bare if sign in "ymdhs") if is_time else "",
        elapsed=elapsed,
        percents=bare.count("%"),
    )


def _literal(part: str) -> str:
    """What a part of a code shows. Digits that hold no place are set aside until those that do have been found."""
    if len(part) == 1:
        return part
    if part[0] == "[":
        currency = _CURRENCY.fullmatch(part)
        part = f'"{currency[1]}"' if currency else '""'
    if part[0] in "_*":
        return " " if part[0] == "_" else ""
    return (part[1:-1] if part[0] == '"' else part[1:]).translate(_ASIDE)


def _number(value: float, digits: re.Match[str], percents: int) -> str:
    whole, decimals, power = digits[0].split(".")[0], digits[2] or "", digits[3]
    places = min(len(decimals), _MOST_DIGITS)
    if power:
        return f"{value:.{places}E}"
    places_up = 2 * percents - 3 * (len(whole) - len(whole.rstrip(",")))
    exact = Decimal(repr(value)).scaleb(places_up, _EXACT)
    rounded = exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _EXACT)
    ahead, _, behind = f"{abs(rounded):{',' if ',' in whole.rstrip(',') else ''}.{places}f}".partition(".")
    while behind.endswith("0") and len(behind) > len(decimals.rstrip("#?")):
        behind = behind[:-1]
    text = ahead.zfill(min(whole.count("0"), _MOST_DIGITS)) + (f".{behind}" if behind else "")
    return f"-{text}" if rounded < 0 else text


def _duration(value: float, largest: str) -> str:
    seconds = round(abs(value) * _DAY_SECONDS)
    sign = "-" if value < 0 else ""
    if largest.startswith("s"):
        return f"{sign}{seconds}"
    minutes, left = divmod(seconds, 60)
    if largest.startswith("m"):
        return f"{sign}{minutes}:{left:02}"
    return f"{sign}{minutes // 60}:{minutes % 60:02}:{left:02}"


def _moment(value: float, signs: str, from_1904: bool) -> str:
    """A day and time by its count of days; "" where there is none. `signs` are the y, m, d, h and s of its code."""
    if not from_1904 and value < _FIRST_OF_MARCH_1900:
        value += 1  # Excel counts 29 February 1900, which was none.
    start = datetime(1904, 1, 1) if from_1904 else datetime(1899, 12, 30)  # noqa: DTZ001  Sheets have no time zones.
    try:
        moment = start + timedelta(seconds=round(value * _DAY_SECONDS))
    except OverflowError:
        return ""
    day = ""
    if "d" in signs:
        day = moment.date().isoformat()
    elif "y" in signs:
        day = f"{moment:%Y-%m}" if "m" in signs else f"{moment:%Y}"
    if "h" in signs or "s" in signs:
        return f"{day} {moment.time().isoformat('seconds' if 's' in signs else 'minutes')}".strip()
    return day or moment.date().isoformat()
