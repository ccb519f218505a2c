"""A text as a reader makes it out, whatever signs it is written in, and where each sign of that stood.

Case, accents, width, look-alike letters and signs that cannot be seen are taken away, so that a phrase is looked for in
one spelling. What was written by a rule (digits for letters, backwards, thirteen letters on) is read by that rule too,
where the text looks like it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

TAGS = range(0xE0020, 0xE007F)
"""The invisible tag characters that stand for ASCII signs."""

SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{8,}+")
"""Variation selectors, which cannot be seen: so many in a row select nothing, but stand for bytes."""

# Letters of other scripts that look like Latin ones once case and width are gone.
_LOOK_ALIKE = {
    ord(sign): latin
    for latin, signs in {
        "a": "аαɑᴀա",
        "b": "ьвβʙ",
        "c": "сᴄϲ",
        "d": "ԁᴅɗđ",
        "e": "еєεᴇҽ",
        "f": "ғƒ",
        "g": "ɡɢց",
        "h": "һнʜհ",
        "i": "іιıɪӏ",
        "j": "јᴊ",
        "k": "кκᴋ",
        "l": "ⅼʟłǀ",
        "m": "мᴍ",
        "n": "пηɴո",
        "o": "оοσᴏօø",
        "p": "рρᴘ",
        "q": "ԛգ",
        "r": "гʀ",
        "s": "ѕꜱ",
        "t": "тτᴛ",
        "u": "υսᴜ",
        "v": "νѵᴠ",
        "w": "ԝωᴡѡ",
        "x": "хχ",
        "y": "уүγʏ",
        "z": "ᴢ",
    }.items()
    for sign in signs
}
_DIGITS_FOR_LETTERS = str.maketrans("013457@$", "oieastas")
_ONE_FOR_L = str.maketrans("013457@$", "oleastas")
_THIRTEEN_ON = str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")
_MIXED = re.compile(r"(?<![\w@$])(?=[a-z@$]{0,20}[013457@$])(?=[013457@$]{0,20}[a-z])[a-z013457@$]{2,20}(?![\w@$])")
_ALMOST_WORDS = re.compile(r"(?<![\w@$])[a-z013457@$]{1,20}(?![\w@$])")
# The commonest words of the five languages, as they look backwards and thirteen letters on.
_BACKWARDS = re.compile(
    r"\b(?:eht|dna|fo|lla|siht|ruoy|uoy|erongi|snoitcurtsni|suoiverp|metsys|dnu|eid|sel|ud|sol|ehc)\b"
)
_THIRTEENTH = re.compile(
    r"\b(?:gur|naq|bs|nyy|guvf|lbhe|lbh|vtaber|vafgehpgvbaf|cerivbhf|flfgrz|haq|qvr|yrf|qh|ybf|pur)\b"
)
ENOUGH = 3
"""So many of them near each other, and a text is read that way: two may be names."""
NEAR, AROUND = 200, 300
"""Signs within which they must stand, and signs on both sides that are read along."""


@dataclass(frozen=True, slots=True)
class View:
    """A reading of a text: the sign `text[n]` stood at `places[n]`. Both have one length."""

    text: str
    places: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where `text[start:end]`, which must not be empty, stood in what was read."""
        first, last = self.places[start], self.places[end - 1]
        return min(first, last), max(first, last) + 1


def folded(text: str) -> View:
    """The text in lower-case letters without accents, Latin wherever they look it; unseen signs left out."""
    if text.isascii():
        return View(text.lower(), range(len(text)))
    signs: list[str] = []
    places: list[int] = []
    kept = {place for run in SELECTORS.finditer(text) for place in range(*run.span())}
    for place, sign in enumerate(text):
        plain = sign if place in kept else _plain(sign)
        signs.append(plain)
        places.extend([place] * len(plain))
    return View("".join(signs), places)


def readings(view: View) -> Iterator[View]:
    """The folded text, and how parts of it may be meant to be read."""
    yield view
    for part in _parts(_MIXED, view):
        for letters in (_DIGITS_FOR_LETTERS, _ONE_FOR_L):
            yield View(_translated(part.text, letters), part.places)
    for part in _parts(_THIRTEENTH, view):
        yield View(part.text.translate(_THIRTEEN_ON), part.places)
    for part in _parts(_BACKWARDS, view):
        yield View(part.text[::-1], part.places[::-1])


def _translated(text: str, letters: dict[int, int]) -> str:
    return _ALMOST_WORDS.sub(lambda word: word[0].translate(letters), text)


def _parts(telling: re.Pattern[str], view: View) -> Iterator[View]:
    """The parts of a text in which enough stands that tells of a rule, with what is around it."""
    found = [match.start() for match in telling.finditer(view.text)]
    spans: list[tuple[int, int]] = []
    for first, last in zip(found, found[ENOUGH - 1 :], strict=False):
        if last - first <= NEAR:
            start, end = max(first - AROUND, 0), last + AROUND
            joins = spans and start <= spans[-1][1]
            spans[-1:] = [(spans[-1][0], end)] if joins else [*spans[-1:], (start, end)]
    for start, end in spans:
        yield View(view.text[start:end], view.places[start:end])


@lru_cache(maxsize=4096)
def _plain(sign: str) -> str:
    if ord(sign) in TAGS:
        return chr(ord(sign) - TAGS.start + 0x20)
    if unicodedata.category(sign) == "Cf":
        return ""
    letters = unicodedata.normalize("NFKD", sign).casefold()
    return "".join(each for each in letters if unicodedata.category(each) != "Mn").translate(_LOOK_ALIKE)
