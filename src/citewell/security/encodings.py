"""What stands encoded in a text, where it decodes to something that can be read.

Each expression is bounded or possessive, and what it finds is decoded once, so that time grows with the text's length.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote_plus

from citewell.security.signs import SELECTORS

LEAST_SIGNS = 8
"""A shorter decoded text says nothing."""
PRINTABLE = 0.95

_CODES = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. "
    "----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----. .-.-.- --..-- ..--.. .----. -.-.-- -..-. .--.-. "
    "..--.- ---... -....- .-..-."
)
_MORSE = dict(zip(_CODES.split(), "abcdefghijklmnopqrstuvwxyz0123456789.,?'!/@_:-\"", strict=True))
_DOTS_AND_DASHES = str.maketrans("·•−–—|", "..---/")


@dataclass(frozen=True, slots=True)
class Run:
    """`text[start:end]` says `decoded`."""

    start: int
    end: int
    decoded: str


def runs(text: str) -> Iterator[Run]:
    """The encoded runs of a text that decode to a text, kind by kind."""
    for expression, decode in _KINDS:
        for found in expression.finditer(text):
            decoded = decode(found[0])
            if decoded and _reads(decoded):
                yield Run(*found.span(), decoded)


def _reads(text: str) -> bool:
    printable = sum(sign.isprintable() or sign in "\n\r\t" for sign in text)
    return len(text) >= LEAST_SIGNS and printable >= PRINTABLE * len(text)


def _utf8(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return ""


def _base64(run: str) -> str:
    lines = run.translate(str.maketrans("-_", "+/", "=\r")).split("\n")
    # The last line may be the first word of what follows.
    return _from_base64("".join(lines)) or _from_base64("".join(lines[:-1]))


def _from_base64(bare: str) -> str:
    whole = bare[: len(bare) - (len(bare) % 4 == 1)]
    return _utf8(base64.b64decode(whole + "=" * (-len(whole) % 4)))


def _base32(run: str) -> str:
    bare = run.rstrip("=")
    try:
        return _utf8(base64.b32decode(bare + "=" * (-len(bare) % 8)))
    except binascii.Error:  # a length that no text has
        return ""


def _hexadecimal(run: str) -> str:
    digits = re.sub(r"0x|[^0-9a-fA-F]", "", run)
    return _utf8(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _binary(run: str) -> str:
    return _utf8(bytes(int(byte, 2) for byte in re.findall("[01]{8}", run)))


def _decimal(run: str) -> str:
    return "".join(chr(int(number)) for number in re.findall(r"\d+", run))


def _morse(run: str) -> str:
    words = re.split(r"\s*/\s*|\s{3,}", run.translate(_DOTS_AND_DASHES).strip())
    letters = [[_MORSE.get(code, "") for code in word.split()] for word in words]
    return " ".join(map("".join, letters)) if all(all(word) for word in letters) else ""


def _escapes(run: str) -> str:
    plain = re.sub(
        r"\\u\{?([0-9a-fA-F]{4,6})\}?|\\x([0-9a-fA-F]{2})|U\+([0-9a-fA-F]{4,6})\s?",
        lambda found: chr(min(int(found[1] or found[2] or found[3], 16), 0x10FFFF)),
        run,
    )
    return html.unescape(plain)


def _percent(run: str) -> str:
    return unquote_plus(run) if run.count("%") >= 3 else ""


def _apart(run: str) -> str:
    """Letters one by one; where more than one sign divides them, a word ends."""
    return re.sub(r"[ .\-_*]+", lambda gap: " " if len(gap[0]) > 1 else "", run)


def _bytes_of_selectors(run: str) -> str:
    signs = map(ord, run)
    return _utf8(bytes(sign - 0xFE00 if sign < 0xE0100 else sign - 0xE0100 + 16 for sign in signs))


_B64 = "[A-Za-z0-9+/_-]"
_KINDS: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = (
    (
        re.compile(rf"(?<![\w+/=%])(?:(?:[A-Za-z0-9+/]{{40,76}}+\r?\n)++{_B64}++={{0,2}}|{_B64}{{16,}}+={{0,2}})"),
        _base64,
    ),
    (re.compile(r"(?<!\w)[A-Z2-7]{24,}+={0,6}(?!\w)"), _base32),
    (re.compile(r"(?<!\w)(?:(?:0x)?[0-9a-fA-F]{2}[ \t\n,:;]{0,2}){10,}+"), _hexadecimal),
    (re.compile(r"(?<!\w)(?:[01]{8}[ \t\n,]{0,2}){8,}+"), _binary),
    (re.compile(r"(?<!\d)(?:(?:3[2-9]|[4-9]\d|1[01]\d|12[0-6])[ \t\n,;]{1,2}){10,}+(?:\d{2,3})?+"), _decimal),
    (re.compile(r"(?<![\w.-])[.\-·•−–—][.\-·•−–—/| \t]{23,}+"), _morse),
    (
        re.compile(
            r"(?:(?:\\u\{?[0-9a-fA-F]{4,6}\}?|\\x[0-9a-fA-F]{2}|&#x?[0-9a-fA-F]{1,6};|U\+[0-9A-F]{4,6})\s?){8,}+"
        ),
        _escapes,
    ),
    (re.compile(r"[^\s%]{0,80}(?:%[0-9a-fA-F]{2}[^\s%]{0,80}){3,}+"), _percent),
    (re.compile(r"(?<!\w)[^\W_](?:[ .\-_*]{1,3}[^\W_](?!\w)){7,}+"), _apart),
    (SELECTORS, _bytes_of_selectors),
)
