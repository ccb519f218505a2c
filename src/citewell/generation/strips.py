"""Strips: of a passage the units that a prompt shows, with what they cannot be understood without."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set

from citewell.generation.units import Unit, units
from citewell.types import BETWEEN_CELLS, Chunk, ElementKind

Strips = Mapping[str, tuple[Unit, ...]]
"""The units shown of a passage, by its id and in reading order. A passage without an entry is shown whole."""

WHOLE: Strips = {}

LEFT_OUT = " …"
"""Where units were left out: a model must not read two sentences as if one followed the other."""

# The first words of a sentence that says something only with the one before it.
_LEANS = re.compile(
    r"""(?:it|its|they|them|their|this|that|these|those|he|his|she|her|such|there|here|then|otherwise|however|but|and|or
    |also|so|both|neither|nor|yes|no|(?:if|unless)\s(?:so|not)|in\s(?:this|that|these|those|such)|the\s(?:same|former|latter)
    |dies\w*|jene\w*|er|sie|es|dabei|dann|sonst|jedoch|aber|il|elle|ils|elles|ce|cet|cette|cela|cependant|mais|esto|este|esta
    |ello|ellos|pero|questo|questa|ci\u00f2|per\u00f2|ma|dit|deze|dat|hij|zij|maar)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_EXCEPTS = re.compile(
    r"""(?:except|excluding|unless|not|no|nor|never|only|without|exempt|ausgenommen|au\u00dfer|nicht|kein\w*|nur|sauf|except\u00e9
    |salvo|excepto|tranne|eccetto|behalve|niet)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_TURNS = re.compile(
    r"""\b(?:not|no|never|none|neither|nor|nothing|nobody|without|cannot|except\w*|excluding|unless|only|however|but
    |nicht|kein\w*|nie|ohne|au\u00dfer|jedoch|aber|pas|jamais|sans|sauf|aucun\w*|sin|nunca|salvo|non|senza|tranne|niet|geen)\b
    |n['\u2019]t\b""",
    re.IGNORECASE | re.VERBOSE,
)
MOST_BEFORE = 2
"""Sentences before a quoted one that are quoted for its sake."""

_ENDS = re.compile(r"[.!…。।؟]\S{0,3}$")
_TERM_WORDS, _TERM_CHARS = 3, 30  # `Refund. The merchant gives back ...`, `No. The friend would be warned.`


def excerpt(chunk: Chunk, kept: Sequence[Unit]) -> str:
    """The text of a passage but for the units that are not kept: line breaks, bullets and bars stay as they are."""
    shown = {unit.start for unit in kept}
    text, end = "", 0
    for unit in units(chunk):
        stop = unit.end - chunk.start
        if unit.start in shown:
            text += chunk.text[end:stop]
        elif not text.endswith(LEFT_OUT):
            text += LEFT_OUT
        end = stop
    return text.strip()


def is_row(chunk: Chunk, unit: Unit) -> bool:
    """Whether a unit is a row of a table."""
    return chunk.kind is not ElementKind.CODE and BETWEEN_CELLS in _text(chunk, unit.start, unit.end)


def goes_on(chunk: Chunk, found: Sequence[Unit], place: int) -> bool:
    """Whether a unit is the next sentence of the paragraph of the one before."""
    return not (is_row(chunk, found[place]) or found[place].is_fragment or "\n\n" in _before(chunk, found, place))


def tables(chunk: Chunk, found: Sequence[Unit]) -> Iterator[range]:
    """The places of rows that stand together, those that name the columns among them."""
    begin = None
    for place, unit in enumerate(found):
        if is_row(chunk, unit):
            begin = place if begin is None else begin
        elif begin is not None:
            yield range(begin, place)
            begin = None
    if begin is not None:
        yield range(begin, len(found))


def with_what_belongs(chunk: Chunk, found: Sequence[Unit], chosen: Set[int]) -> set[int]:
    """The places chosen among the units of a passage, and those that must not be torn from them.

    These are what a line or a term only leads in to, a negation or exception right after a unit, the sentence before
    one that leans on it, and the headings, captions and names of columns above.
    """
    kept = set(chosen)
    if chunk.kind is ElementKind.CODE:
        return kept
    for place in chosen:
        kept.update(_led(chunk, found, place))
    for place in range(1, len(found)):
        if place - 1 in kept and _takes_back(chunk, found[place]):
            kept.add(place)
    for place in range(len(found) - 1, 0, -1):
        if place in kept and _leans(chunk, found, place):
            kept.add(place - 1)
    return kept | _above(chunk, found, kept)


def quoted_with(chunk: Chunk, found: Sequence[Unit], place: int) -> tuple[list[int], list[int]]:
    """The places of the sentences beside one of a paragraph or list without which it would be misread: those before it
    that it leans on, the nearest first, and one after it that takes it back."""
    if chunk.kind is ElementKind.CODE:
        return [], []
    first = place
    while (
        place - first < MOST_BEFORE and first > 0 and _LEANS.match(found[first].shown) and goes_on(chunk, found, first)
    ):
        first -= 1
    before = [at for at in range(place - 1, first - 1, -1) if not found[at].is_fragment and not _is_term(found[at])]
    after = place + 1
    limits = after < len(found) and goes_on(chunk, found, after) and _takes_back(chunk, found[after])
    return before, [after] if limits else []


def _led(chunk: Chunk, found: Sequence[Unit], place: int) -> list[int]:
    """What comes after a unit that only leads in to it: a table, the list after `You need:`, else one sentence."""
    line = found[place]
    if is_row(chunk, line) or (_ENDS.search(line.shown) and not _is_term(line)):
        return []
    led: list[int] = []
    for after in range(place + 1, len(found)):
        if found[after].is_fragment and not led:
            continue  # the names of the columns
        item = not _before(chunk, found, after).isspace() or (bool(led) and goes_on(chunk, found, after))
        listed = is_row(chunk, found[after]) or (item and line.shown.endswith(":"))
        if led and not listed:
            break
        led.append(after)
        if not listed:
            break
    return led


def _leans(chunk: Chunk, found: Sequence[Unit], place: int) -> bool:
    """Whether a unit says something only with the one before it."""
    if found[place].is_fragment or is_row(chunk, found[place]):
        return False
    defines = _is_term(found[place - 1]) and goes_on(chunk, found, place)
    return defines or _LEANS.match(found[place].shown) is not None


def _is_term(unit: Unit) -> bool:
    return len(unit.shown) <= _TERM_CHARS and len(unit.shown.split()) <= _TERM_WORDS


def _takes_back(chunk: Chunk, unit: Unit) -> bool:
    """Whether a sentence limits the one before it: `This does not apply to ...`, `Except ...`, `However, ...`"""
    opens = _EXCEPTS.match(unit.shown) or (_LEANS.match(unit.shown) and _TURNS.search(unit.shown))
    return opens is not None and not unit.is_fragment and not is_row(chunk, unit)


def _above(chunk: Chunk, found: Sequence[Unit], kept: Set[int]) -> set[int]:
    """The fragments that stand together right above what is kept; those above a table are above its rows alone."""
    above: set[int] = set()
    leading: list[int] = []
    for place, unit in enumerate(found):
        if unit.is_fragment:
            follows = place > 0 and found[place - 1].is_fragment
            leading = [*leading, place] if follows else [place]
        else:
            if place > 0 and is_row(chunk, found[place - 1]) and not is_row(chunk, unit):
                leading = []
            if place in kept:
                above.update(leading)
    return above


def _before(chunk: Chunk, found: Sequence[Unit], place: int) -> str:
    """What stands between a unit and the one before it: white space, and the bullet of a list's item."""
    return _text(chunk, found[place - 1].end, found[place].start)


def _text(chunk: Chunk, start: int, end: int) -> str:
    return chunk.text[start - chunk.start : end - chunk.start]
