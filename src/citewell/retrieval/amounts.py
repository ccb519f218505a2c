"""Amounts and percentages: `€25`, `EUR 25`, `25 euros` and `25.00 €` all give the token `eur25`."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SYMBOLS = {
    "€": "eur", "$": "usd", "£": "gbp", "¥": "jpy", "₹": "inr", "₩": "krw", "₽": "rub", "₺": "try", "₪": "ils",
    "₫": "vnd", "฿": "thb", "₴": "uah", "%": "percent", "§": "section",
}  # fmt: skip
_CODES = (
    "eur", "usd", "gbp", "jpy", "chf", "cny", "inr", "krw", "rub", "ils", "thb", "uah", "aud", "cad", "nzd", "hkd",
    "sgd", "brl", "mxn", "zar", "sek", "nok", "dkk", "pln", "czk", "huf",
)  # fmt: skip
UNIT_WORDS = {
    **{code: code for code in _CODES},
    "euro": "eur", "euros": "eur", "dollar": "usd", "dollars": "usd", "pound": "gbp", "pounds": "gbp", "yen": "jpy",
    "franc": "chf", "francs": "chf", "rupee": "inr", "rupees": "inr", "percent": "percent", "section": "section",
    "sections": "section",
}  # fmt: skip
"""Words that stand for a unit, casefolded, with the token that each shares with its symbol."""

# As written with thousands (1,200.50 or 1'200), the European way (1.200,50), dotted (4.2.1), or with a decimal comma.
NUMBER = r"\d{1,3}(?:[,']\d{3})+(?!\d)(?:\.\d+)?|\d{1,3}(?:\.\d{3})+,\d+|\d+(?:\.\d+)+|(?<![,\d])\d+,\d+(?![,\d])|\d+"
_CURRENCY = "[" + re.escape("".join(symbol for symbol in _SYMBOLS if symbol not in "%§")) + "]"
_UNIT = "|".join(sorted((unit for unit in UNIT_WORDS if unit != "section"), key=len, reverse=True))
# (`EUR25` without a space is a code, and already gives `eur25`.)
_BEFORE = re.compile(rf"({_CURRENCY}(?=\s?\d)|(?<!\w)(?:{'|'.join(_CODES)})(?=\s))\s?({NUMBER})", re.IGNORECASE)
_AFTER = re.compile(rf"(?<![\w.,])({NUMBER})[\s-]?({_CURRENCY}|%|(?:{_UNIT}|per cent)(?!\w))", re.IGNORECASE)
# Beside a number or alone; not the sigils of program text (`$name`, `${`, `%d`).
_SYMBOL = re.compile("[" + re.escape("".join(_SYMBOLS)) + r"](?![^\W\d]|[{(])")


def plain_number(written: str) -> str:
    """A number as a token: no thousands separators, a point for decimals; `4.10` and `1.2.3` stay as they are."""
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+,\d+", written):
        return written.replace(".", "").replace(",", ".")
    if re.fullmatch(r"\d+,\d+", written) and not re.fullmatch(r"\d{1,3},\d{3}", written):
        return written.replace(",", ".")
    return re.sub("[,']", "", written)


def amount_tokens(text: str) -> Iterator[str]:
    """Unit with value for each amount (`eur25`), and the unit of each symbol; the number is a token of its own."""
    for unit, number in _BEFORE.findall(text):
        yield from _amount(number, unit)
    for number, unit in _AFTER.findall(text):
        yield from _amount(number, unit)
    for symbol in _SYMBOL.findall(text):
        yield _SYMBOLS[symbol]


def _amount(written: str, unit: str) -> Iterator[str]:
    number = plain_number(written)
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+", number):  # money has no thousandths: 1.200 is the European 1,200
        number = number.replace(".", "")
    value = re.sub(r"(\.\d*?)0+$", r"\1", number).rstrip(".")
    name = _SYMBOLS.get(unit) or UNIT_WORDS.get(unit.casefold(), "percent")
    yield f"{name}{value}"
    if value != plain_number(written):
        yield value
