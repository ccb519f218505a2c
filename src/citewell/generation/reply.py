"""A model's reply, checked: every sentence that stays points at a passage that was shown."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from citewell.chunking.sentences import sentences
from citewell.generation.citations import Citations
from citewell.generation.prompt import DONT_KNOW
from citewell.generation.strips import WHOLE, Strips
from citewell.generation.units import Unit, units
from citewell.retrieval.analyser import analyse
from citewell.types import Hit, Sentence

MARKER = re.compile(
    r"""(?<![ \t])[ \t]*[\[【［]\s*(?:passages?\s*)?
    (\d{1,3}(?:\s*[,;、]\s*\d{1,3})*)
    \s*(?:†[^\]】］]{0,80})?[\]】］]""",
    re.IGNORECASE | re.VERBOSE,
)
"""How a model cites, with the blanks before it: [1], [1, 3], [1][3], 【2】, 【2†source】, [passage 2]. Group 1 has the
numbers."""

_FIGURE_WEIGHT = 3.0
_CONTEXT_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the reply without its markers, and the numbers that they gave.

    `basis` is the statement that its quote must support: its own text, but for a lead-in. `opens_line`: a line begins.
    """

    text: str
    numbers: tuple[int, ...]
    basis: str
    opens_line: bool


@dataclass(frozen=True, slots=True)
class Checked:
    """The sentences that stay, the answer's text with markers in one form, and what was struck or looks doubtful."""

    text: str
    sentences: tuple[Sentence, ...]
    warnings: tuple[str, ...]


def says_dont_know(reply: str) -> bool:
    """Whether the reply is, or opens with, the one sentence that the rules give for not knowing."""
    first = next((claim.text for claim in _claims(reply)), "")
    return _plain(first) == _plain(DONT_KNOW)


def check(reply: str, shown: Sequence[Hit], citations: Citations, strips: Strips = WHOLE) -> Checked:
    """Strike what cites nothing that was shown; quote for each citation the part of its passage that fits best.

    Of a passage in `strips` that is a part that was shown.
    """
    kept: list[Sentence] = []
    lines: list[str] = []
    warnings: list[str] = []
    for claim in _led_in(_claims(reply)):
        unknown = [n for n in claim.numbers if not 1 <= n <= len(shown)]
        if unknown:
            warnings.append(f"The model cited {_brackets(unknown)}, which it was not shown; dropped.")
        hits = [shown[n - 1] for n in claim.numbers if n not in unknown]
        if not hits:
            warnings.append("The model wrote a sentence that cites no passage; struck.")
            continue
        numbers = tuple(dict.fromkeys(citations.cite(hit, supporting_unit(claim.basis, hit, strips)) for hit in hits))
        separator = "" if not lines else "\n" if claim.opens_line else " "
        lines.append(f"{separator}{claim.text} {_brackets(numbers)}")
        kept.append(Sentence(claim.text, numbers))
    return Checked("".join(lines), tuple(kept), tuple(dict.fromkeys(warnings)))


def _claims(reply: str) -> list[Claim]:
    claims: list[Claim] = []
    for line in reply.splitlines():
        bare, markers = _without_markers(line.strip())
        spans = sentences(bare)
        for place, (start, end) in enumerate(spans):
            # A marker belongs to the sentence that it stands in or right behind, full stop or not.
            stop = spans[place + 1][0] if place + 1 < len(spans) else len(bare)
            low = start if place else -1
            numbers = (n for at, found in markers if low < at <= stop for n in found)
            text = bare[start:end]
            claims.append(Claim(text, tuple(dict.fromkeys(numbers)), basis=text, opens_line=place == 0))
    return claims


def _without_markers(line: str) -> tuple[str, list[tuple[int, list[int]]]]:
    """The line without markers, and for each the offset where it stood and its numbers."""
    pieces: list[str] = []
    markers: list[tuple[int, list[int]]] = []
    length = last = 0
    for match in MARKER.finditer(line):
        pieces.append(line[last : match.start()])
        length += match.start() - last
        markers.append((length, [int(n) for n in re.findall(r"\d+", match.group(1))]))
        last = match.end()
    return "".join([*pieces, line[last:]]), markers


def _led_in(claims: list[Claim]) -> list[Claim]:
    """The claims, where one that ends in a colon rests on what the next one rests on."""
    led: list[Claim] = []
    for claim in reversed(claims):
        leads = claim.text.endswith(":") and not claim.numbers and led
        led.append(replace(claim, numbers=led[-1].numbers, basis=led[-1].basis) if leads else claim)
    return led[::-1]


def supporting_unit(sentence: str, hit: Hit, strips: Strips = WHOLE) -> Unit:
    """What to quote for a sentence that cites a hit: the unit shown of its passage that shares most with the sentence,
    figures before words, for its length."""
    words = set(analyse(sentence))

    def overlap(unit: Unit) -> float:
        own = set(analyse(unit.shown))
        around = (words & set(analyse(unit.context))) - own
        shared = sum(_weight(word) for word in words & own) + _CONTEXT_WEIGHT * sum(map(_weight, around))
        return shared / math.sqrt(len(own) + 1) - unit.is_fragment

    return max(strips.get(hit.passage.id) or units(hit.passage), key=overlap)


def _weight(word: str) -> float:
    return _FIGURE_WEIGHT if any(sign.isdigit() for sign in word) else 1.0


def _brackets(numbers: Sequence[int]) -> str:
    return "".join(f"[{n}]" for n in numbers)


def _plain(text: str) -> str:
    return re.sub(r"[^a-z ]", "", text.casefold())
