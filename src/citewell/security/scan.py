"""Instructions that were planted in a text: where they stand, and how sure that is.

A text is read as a reader makes it out (`signs`), and what stands encoded in it is decoded (`encodings`). Rules on
words in five languages (`patterns`) and forged marks (`delimiters`) each give a sign. The signs in one sentence are
joined, and where they are strong enough the sentence is a suspicion. It is a filter and no proof: a planted question
that could stand in any document ("What is the capital of Brazil?") is not seen, see docs/injection.md.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from citewell.security.delimiters import marks, unopened
from citewell.security.encodings import runs
from citewell.security.patterns import Kind, Sign, signs
from citewell.security.phrases import Reading
from citewell.security.signs import View, folded, readings

THRESHOLD = 0.5
"""The least strength of a suspicion. Chosen on every second text of the injections data, see docs/injection.md."""

SHOWN = 160
"""Signs at most of what a suspicion shows."""

_WORD = re.compile(r"[^\W_]")
_HIDDEN = re.compile("\U0001f3f4[\U000e0020-\U000e007f]+|([\U000e0020-\U000e007e]{4,})")
"""Invisible tag characters, but for those in a flag."""
_HIDDEN_STRENGTH = 0.7
_ENCODED_STRENGTH = 0.9
_DEPTH = 2


@dataclass(frozen=True, slots=True)
class Suspicion:
    """`text[start:end]` seems to be an instruction to a language model: the sentences that signs of it stand in.

    `kind` is that of the strongest sign; `strength` is 0 to 1; `shown` are the words that gave it away, as they are
    read, in one line.
    """

    start: int
    end: int
    kind: Kind
    strength: float
    shown: str


def scan(text: str, least: float = THRESHOLD) -> tuple[Suspicion, ...]:
    """The suspicions in a text that are at least so strong, in order; none overlaps another.

    Time grows with the text's length: see `phrases`, `delimiters` and `encodings`.
    """
    return _scanned(text, least, _DEPTH)


def _scanned(text: str, least: float, depth: int) -> tuple[Suspicion, ...]:
    plain = folded(text)
    found: list[Suspicion] = []
    for view in readings(plain):
        reading = Reading.of(view.text)
        given = [*signs(reading), *marks(view.text)]
        if view is plain:
            given += [*_within(text, plain, depth), *unopened(view.text)]
        found += _suspicions(view, reading.sentences, given)
    return tuple(each for each in _merged(found) if each.strength >= least)


def _within(text: str, plain: View, depth: int) -> Iterator[Sign]:
    """Signs in what is encoded or hidden, as they stand in the folded text."""
    hidden = [(*found.span(), Kind.HIDDEN, _HIDDEN_STRENGTH) for found in _HIDDEN.finditer(text) if found[1]]
    encoded = [
        (run.start, run.end, Kind.ENCODED, _ENCODED_STRENGTH)
        for run in (runs(text) if depth else ())
        if _scanned(run.decoded, THRESHOLD, depth - 1)
    ]
    for start, end, kind, strength in hidden + encoded:
        yield Sign(bisect_left(plain.places, start), bisect_left(plain.places, end), kind, strength)


def _suspicions(view: View, sentences: Sequence[tuple[int, int]], given: Iterable[Sign]) -> Iterator[Suspicion]:
    """The signs joined by the sentence of their first word; one that reaches over its end takes the next ones along."""
    starts = [start for start, _ in sentences]
    groups: dict[int, list[Sign]] = {}
    for sign in given:
        word = _WORD.search(view.text, sign.start, sign.end)
        begins = word.start() if word else sign.start
        groups.setdefault(max(bisect_right(starts, begins) - 1, 0), []).append(sign)
    for place, some in groups.items():
        first, last = min(sign.start for sign in some), max(sign.end for sign in some)
        begin, stop = sentences[place] if sentences else (first, last)
        span = view.span(min(begin, first), max(stop, last))
        telling = _strongest(some)
        strength = 1 - prod(1 - sign.strength for sign in telling)
        shown = " ".join(view.text[first:last].split())[:SHOWN]
        yield Suspicion(*span, telling[0].kind, round(strength, 3), shown)


def _strongest(some: Iterable[Sign]) -> list[Sign]:
    """Of each kind the strongest sign, and the strongest of all first: signs of one kind often share their words."""
    best: dict[Kind, Sign] = {}
    for sign in some:
        if sign.kind not in best or sign.strength > best[sign.kind].strength:
            best[sign.kind] = sign
    return sorted(best.values(), key=lambda sign: -sign.strength)


def _merged(found: Iterable[Suspicion]) -> list[Suspicion]:
    """Those that overlap as one, which is as strong and of the kind as the strongest of them."""
    merged: list[Suspicion] = []
    for each in sorted(found, key=lambda one: (one.start, one.end)):
        if merged and each.start < merged[-1].end:
            before = merged.pop()
            best = max(before, each, key=lambda one: one.strength)
            merged.append(Suspicion(before.start, max(before.end, each.end), best.kind, best.strength, best.shown))
        else:
            merged.append(each)
    return merged
