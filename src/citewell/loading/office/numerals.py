"""Counts as list items show them: 3, 03, c, C, iii, III."""

from __future__ import annotations

_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_MOST_COUNTED = 4_000  # Beyond it letters and Roman numbers grow without use.


def numeral(count: int, form: str) -> str:
    """`count` in a form by its name in ECMA-376 part 1, 17.18.59; a plain number for forms not known here."""
    if form == "none":
        return ""
    if form == "decimalZero":
        return f"{count:02}"
    if form in {"lowerLetter", "upperLetter"} and 0 < count <= _MOST_COUNTED:
        letters = chr(ord("a") + (count - 1) % 26) * ((count - 1) // 26 + 1)
        return letters if form == "lowerLetter" else letters.upper()
    if form in {"lowerRoman", "upperRoman"} and 0 < count <= _MOST_COUNTED:
        return _roman(count) if form == "lowerRoman" else _roman(count).upper()
    return str(count)


def _roman(count: int) -> str:
    signs = ""
    for worth, sign in _ROMAN:
        signs += sign * (count // worth)
        count %= worth
    return signs
