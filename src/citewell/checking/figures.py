"""The numbers of a text with their units: `EUR 25`, `25 €`, `1,500`, `1.500`, `3 million`, `120 days`, `twelve`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from citewell.checking.wording import only_asks
from citewell.retrieval.amounts import NUMBER, UNIT_WORDS, amount_tokens, plain_number

_SPELT = {
    1: "one eins un une uno una",
    2: "two zwei deux dos",
    3: "three drei trois tres",
    4: "four vier quatre cuatro",
    5: "five fünf cinq cinco",
    6: "six sechs seis",
    7: "seven sieben siete",
    8: "eight acht huit ocho",
    9: "nine neun neuf nueve",
    10: "ten zehn dix diez",
    11: "eleven elf onze",
    12: "twelve zwölf douze doce dozen",
    20: "twenty zwanzig vingt veinte",
    30: "thirty dreißig trente treinta",
    40: "forty vierzig quarante cuarenta",
    50: "fifty fünfzig cinquante cincuenta",
    60: "sixty sechzig soixante sesenta",
    70: "seventy siebzig setenta",
    80: "eighty achtzig ochenta",
    90: "ninety neunzig noventa",
}
_VALUES = {word: value for value, words in _SPELT.items() for word in words.split()}
_ARTICLES = frozenset({"one", "eins", "un", "une", "uno", "una", "a", "an", "ein", "eine", "einen", "einem", "einer"})

_UNITS = {
    "percent": "% percent prozent pct",
    "second": "second seconds sec secs sekunde sekunden seconde secondes segundo segundos",
    "minute": "minute minutes min mins minuten minuto minutos",
    "hour": "hour hours hr hrs stunde stunden heure heures hora horas",
    "day": "day days tag tage tagen jour jours día días dia dias giorno giorni dag dagen werktag werktage werktagen",
    "week": "week weeks woche wochen semaine semaines semana semanas",
    "month": "month months monat monate monaten mois mes meses mese mesi maand maanden",
    "quarter": "quarter quarters quartal quartale trimestre trimestres",
    "year": "year years yr yrs jahr jahre jahren ans an année années año años anno anni jaar",
    "km": "km kilometre kilometres kilometer kilometers",
    "metre": "metre metres meter meters",
    "mile": "mile miles",
    "kg": "kg kilogram kilograms kilo kilos",
    "mg": "mg milligram milligrams",
    "gb": "gb gigabyte gigabytes",
    "mb": "mb megabyte megabytes",
    "tb": "tb terabyte terabytes",
    "kb": "kb kilobyte kilobytes",
}
_TIMES = frozenset({"second", "minute", "hour", "day", "week", "month", "quarter", "year"})
_UNIT_OF = UNIT_WORDS | {word: unit for unit, words in _UNITS.items() for word in words.split()}
_SCALES = {
    3: "thousand tausend k tsd mil mille",
    6: "million millions mn mio millionen millón millones",
    9: "billion billions bn milliarde milliarden mrd milliard milliards",
    12: "trillion trillions tn billionen",
}
_SCALE_OF = {word: zeros for zeros, words in _SCALES.items() for word in words.split()}

_NUMBER = re.compile(rf"(?<!\d)(?<!\d[.,])\d{{1,3}}(?: \d{{3}})+(?![\d.,]\d)(?:[.,]\d+)?|{NUMBER}")
_WORD = re.compile(r"[^\W\d_]+")
_CLOCK = re.compile(
    r"(?<![\d:.,])([01]?\d|2[0-4])(?::([0-5]\d)(?![\d:])\s*(a\.?m\b|p\.?m\b)?|\s*(a\.?m\b|p\.?m\b|uhr\b|o'clock))",
    re.IGNORECASE,
)
_CURRENCY_BEFORE = re.compile(r"(?:(?<!\w)([A-Za-z]{3})\s|([^\w\s%§])\s?)\Z")
_SYMBOL_AFTER = re.compile(r"\s?([^\w\s§])")
_WORDS_AFTER = re.compile(r"[ \t\n-]{0,2}([^\W\d_]+)(?:[ \t\n-]{1,2}([^\W\d_]+))?")
_PER_CENT = re.compile(r"[ -]?(?:per cent|pour cent|por ciento|v\.? ?H\.)")
_RANGE = re.compile(r"\s?(?:-|to|bis|à|a|and|und|et|y|or|oder)\s?")
_JOINS = frozenset({"per", "after", "before", "within", "until", "since", "times", "und", "bis", "pro", "par", "por"})


@dataclass(frozen=True, slots=True)
class Figure:
    """A number at `start` to `end` of its text.

    `values` are its readings as plain decimals: `1.500` may be 1.5 or the European 1500. `unit` is "" where none is
    known, `noun` the word that then follows ("12 points"). `is_spelt` marks a number in words. `is_loose` marks what
    may be no number, as "one" and "a": it explains a figure, and asks for none.
    """

    values: frozenset[str]
    unit: str
    start: int
    end: int
    noun: str = ""
    is_spelt: bool = False
    is_loose: bool = False

    def __str__(self) -> str:
        return " ".join(filter(None, (min(self.values, key=len), self.unit)))

    def agrees(self, other: Figure) -> bool:
        """The same number, and not of another unit."""
        if self.values.isdisjoint(other.values):
            return False
        if self.unit and other.unit:
            return self.unit == other.unit
        return not (self.noun and other.unit) and not (other.noun and self.unit)


def figures(text: str) -> list[Figure]:
    """All numbers of a text, in order, each once; times of day are in the unit "clock"."""
    clocks = list(_clocks(text))
    blanked = _blank(text, clocks)
    found = [*clocks, *_written(blanked), *_spelt(blanked)]
    return _carry_units(sorted(found, key=lambda figure: figure.start), text)


def written(figure: Figure, text: str) -> str:
    """A figure of the text with its unit, as they are written there: `EUR 25`, `120 calendar days`."""
    start, end = span(figure, text)
    return text[start:end]


def span(figure: Figure, text: str) -> tuple[int, int]:
    """Where a figure of the text stands with its unit."""
    before = _CURRENCY_BEFORE.search(text[max(0, figure.start - 5) : figure.start])
    start, end = figure.start, figure.end
    if figure.unit and before and _unit_of(before[1] or before[2]) == figure.unit:
        start -= len(before[0])
    elif per_cent := _PER_CENT.match(text, end):
        end = per_cent.end()
    elif figure.unit and (following := _WORDS_AFTER.match(text, end)):
        ends = (following.end(n) for n in (1, 2) if _UNIT_OF.get((following[n] or "").casefold()) == figure.unit)
        end = next(ends, end)
    elif figure.unit and (symbol := _SYMBOL_AFTER.match(text, end)) and _unit_of(symbol[1]) == figure.unit:
        end = symbol.end()
    return start, end


def _clocks(text: str) -> Iterator[Figure]:
    for match in _CLOCK.finditer(text):
        hour, minute, half = int(match[1]), match[2] or "00", (match[3] or match[4] or "").casefold()
        if half.startswith("p") and hour < 12:
            hour += 12
        yield Figure(frozenset({f"{hour}:{minute}"}), "clock", match.start(), match.end())


def _written(text: str) -> Iterator[Figure]:
    for match in _NUMBER.finditer(text):
        before, unit = text[max(0, match.start() - 5) : match.start()], ""
        if found := _CURRENCY_BEFORE.search(before):
            unit = _unit_of(found[1] or found[2])
        yield _made(match[0], text, match.start(), match.end(), unit)
        if " " in match[0]:  # or else two cells of a row
            for part in re.finditer(r"\d+", match[0]):
                at = match.start() + part.start()
                yield Figure(_readings(part[0]), "", at, at + len(part[0]), is_loose=True)


def _spelt(text: str) -> Iterator[Figure]:
    skip = -1
    for match in _WORD.finditer(text):
        word = match[0].casefold()
        value = _VALUES.get(word)
        if match.start() < skip or (value is None and word not in _ARTICLES):
            continue
        end = match.end()
        following = _WORDS_AFTER.match(text, end)
        more = _VALUES.get(following[1].casefold(), 0) if following else 0
        if value is not None and 20 <= value < 100 and more < 10 and following and more:
            value, end = value + more, following.end(1)  # twenty-five
            skip = end
        made = _made(str(value or 1), text, match.start(), end, "")
        if word in _ARTICLES:
            # "one day" is a figure, "one of them" is not, and "a day" explains it.
            loose = not (word == "one" and made.unit in _TIMES)
            if made.unit or word == "one":
                yield replace(made, is_spelt=True, is_loose=loose)
        else:
            yield replace(made, is_spelt=True)


def _made(written: str, text: str, start: int, end: int, unit: str) -> Figure:
    values, noun = _readings(written), ""
    if following := _WORDS_AFTER.match(text, end):
        first, second = following[1].casefold(), (following[2] or "").casefold()
        zeros = 6 if first == "m" and unit else _SCALE_OF.get(first, 0)
        if zeros:
            scaled = frozenset(_scaled(value, zeros) for value in values)
            values = scaled | values if first == "k" else scaled  # 401k is no sum
            end, first, second = following.end(1), second, ""
        counted = first if not only_asks(first) and first not in _JOINS else ""
        unit = unit or _UNIT_OF.get(first) or (_UNIT_OF.get(second, "") if counted else "")
        noun = "" if unit else counted
    if not unit and _PER_CENT.match(text, end):
        unit, noun = "percent", ""
    if not unit and (symbol := _SYMBOL_AFTER.match(text, end)):
        unit = _unit_of(symbol[1])
    return Figure(values, unit, start, end, noun)


def _unit_of(sign: str) -> str:
    """The unit that a symbol or a currency's code stands for; "" for any other sign."""
    return _UNIT_OF.get(sign.casefold()) or next(amount_tokens(sign), "")


def _readings(written: str) -> frozenset[str]:
    bare = written.replace(" ", "")
    plain = {_trimmed(plain_number(bare))}
    if re.fullmatch(r"[1-9]\d{0,2}(?:\.\d{3})+", bare):
        plain.add(bare.replace(".", ""))
    return frozenset(plain)


def _trimmed(number: str) -> str:
    """Without zeros that say nothing; a version such as 1.2.10 stays."""
    if number.count(".") > 1:
        return number
    whole, point, part = number.partition(".")
    whole, part = whole.lstrip("0") or "0", part.rstrip("0")
    return f"{whole}.{part}" if point and part else whole


def _scaled(number: str, zeros: int) -> str:
    whole, _, part = number.partition(".")
    if not part.isdigit():
        part = ""
    digits = part.ljust(zeros, "0")
    return _trimmed(f"{whole}{digits[:zeros]}.{digits[zeros:]}")


def _blank(text: str, figures: list[Figure]) -> str:
    for figure in figures:
        text = text[: figure.start] + "\x00" * (figure.end - figure.start) + text[figure.end :]
    return text


def _carry_units(found: list[Figure], text: str) -> list[Figure]:
    """`10-20 days`: the first of a range has the unit of the second."""
    carried = found[-1:]
    for figure in reversed(found[:-1]):
        following = carried[-1]
        joined = following.unit and not figure.unit and _RANGE.fullmatch(text, figure.end, following.start)
        carried.append(replace(figure, unit=following.unit) if joined and not figure.is_loose else figure)
    return carried[::-1]
