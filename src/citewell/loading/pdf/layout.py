"""From words to lines in reading order: runs of words, columns, lines."""

from __future__ import annotations

import bisect
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from operator import attrgetter
from statistics import median
from typing import Protocol

from citewell.loading.pdf.sheet import Style, Word
from citewell.loading.pdf.words import HYPHEN, RTL

GAP = 0.9
"""In ems: words further apart than this are not of one run; they are columns, table cells, or a line's loose ends."""
_NARROW = 8
"""In ems: a column of running text is wider than this."""
_FULL = 0.7
"""The middle line of a text column fills at least this share of its widest; cells of a table vary more."""
_MAX_CANDIDATES = 12
_MAX_RUNS = 500
"""Of a line; no one draws more of them but to keep a reader busy."""

_HYPHENS = f"-{HYPHEN}"
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_NUMBER_ALONE = re.compile(r"(chapter|section|part|appendix|annex)?\d*")
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
"""Scripts that put no space between words, so that none is put where a line ends."""


class Placed(Protocol):
    """Something with a place on the page: a run, a line, a table."""

    @property
    def x0(self) -> float: ...
    @property
    def x1(self) -> float: ...
    @property
    def top(self) -> float: ...
    @property
    def bottom(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Line:
    """Words on one base line, in reading order; a run is a line without a wide gap. `size` is that of most signs.

    In `text` raised figures (footnote marks, powers) are raised signs, never a part of a number before them.
    """

    words: tuple[Word, ...]
    text: str
    x0: float
    x1: float
    baseline: float
    size: float
    bold: bool
    mono: bool

    @property
    def top(self) -> float:
        return self.baseline - 0.8 * self.size

    @property
    def bottom(self) -> float:
        return self.baseline + 0.2 * self.size


def make_line(words: Sequence[Word]) -> Line:
    signs: dict[Style, int] = {}
    for style, alike in groupby(words, key=attrgetter("style")):
        signs[style] = signs.get(style, 0) + sum([len(word.text) for word in alike])
    total = sum(signs.values())
    size = max(signs, key=signs.__getitem__).size
    baseline = median([word.baseline for word in words if word.style.size == size])
    return Line(
        tuple(words),
        "".join(_spelled(words, size, baseline)),
        min([word.x0 for word in words]),
        max([word.x1 for word in words]),
        baseline,
        size,
        bold=sum(count for style, count in signs.items() if style.bold) >= 0.9 * total,
        mono=sum(count for style, count in signs.items() if style.mono) >= 0.9 * total,
    )


def _spelled(words: Sequence[Word], size: float, baseline: float) -> Iterator[str]:
    last = ""
    for word in words:
        text, spaced = word.text, word.spaced
        if word.style.size <= 0.85 * size and word.baseline < baseline - 0.1 * size and text.isdecimal():
            text, spaced = text.translate(_RAISED), spaced or last.isdecimal()
        if spaced and last:
            yield " "
        yield text
        last = text[-1:]  # a word may be nothing but signs without width


def widest_gap(line: Line) -> float:
    """The greatest distance between two words of a line that follow each other, in its ems; 0 for a single word."""
    distances = [max(after.x0 - before.x1, before.x0 - after.x1) for before, after in pairwise(line.words)]
    return max(distances, default=0.0) / line.size


def runs(words: Iterable[Word]) -> list[Line]:
    """Group words that follow each other on one base line without a wide gap."""
    groups: list[list[Word]] = []
    left = right = 0.0
    for word in words:
        if groups and _continues(groups[-1][-1], word, left, right):
            groups[-1].append(word)
            left, right = min(left, word.x0), max(right, word.x1)
        else:
            groups.append([word])
            left, right = word.x0, word.x1
    return [make_line(group) for group in groups]


def _continues(last: Word, word: Word, left: float, right: float) -> bool:
    before, style = last.style, word.style
    size = max(before.size, style.size)
    if before.turn != style.turn or before.skewed or style.skewed:
        return before == style and abs(word.x0 - last.x1) < size and style.skewed
    if abs(word.baseline - last.baseline) > (0.2 if style.size == before.size else 0.5) * size:
        return False
    # Distance from the run, not from the last word: right-to-left text runs towards smaller x.
    return max(word.x0 - right, left - word.x1) <= GAP * size and (word.x0 >= last.x0 or bool(RTL.search(word.text)))


def lines(pieces: Iterable[Line]) -> list[Line]:
    """Put runs of one base line together, top line first. Footnote marks join the line that they are raised above."""
    groups: list[list[Line]] = []
    for piece in sorted(pieces, key=lambda run: (run.baseline, run.x0)):
        for group in groups[:-4:-1]:
            if len(group) < _MAX_RUNS and all(_beside(other, piece) for other in group):
                group.append(piece)
                break
        else:
            groups.append([piece])
    return sorted((_joined(group) for group in groups), key=lambda line: line.baseline)


def is_rtl(text: str) -> bool:
    """Whether most of a text's letters are of a script written from right to left."""
    return not text.isascii() and 2 * len(RTL.findall(text)) > sum(map(str.isalpha, text))


def _beside(one: Line, other: Line) -> bool:
    alike = abs(one.size - other.size) < 0.15 * max(one.size, other.size)
    if abs(one.baseline - other.baseline) > (0.25 if alike else 0.6) * max(one.size, other.size):
        return False
    # A mark may stand in a space that the words of its line leave open.
    return not alike or min(one.x1, other.x1) - max(one.x0, other.x0) < 0.3 * min(one.size, other.size)


def _joined(group: list[Line]) -> Line:
    if len(group) == 1:
        return group[0]
    if is_rtl("".join(run.text for run in group)):
        words = [word for run in sorted(group, key=lambda run: -run.x1) for word in run.words]
    else:
        words = sorted((word for run in group for word in run.words), key=lambda word: word.x0)
    begins = {id(run.words[0]) for run in group} | {
        id(word) for word in words if word.style.size != words[0].style.size
    }
    placed = words[:1]
    for before, word in pairwise(words):
        # pdfium knows the spaces inside a run; between runs the distance tells.
        gap = max(word.x0 - before.x1, before.x0 - word.x1)
        spaced = gap > 0.15 * word.style.size if id(word) in begins else word.spaced
        placed.append(word if spaced == word.spaced else word._replace(spaced=spaced))
    return make_line(placed)


def columns(pieces: Sequence[Placed]) -> list[list[Placed]]:
    """Split what is on a page (or a part of it) into flows, each to be read from top to bottom before the next.

    A gutter is searched beside which lines of running text stand on both sides. What crosses it (a title, a wide
    table) divides the page into bands; in each band the left column is read before the right one.
    """
    gutter = _gutter([piece for piece in pieces if isinstance(piece, Line)])
    if gutter is None:
        return [list(pieces)] if pieces else []
    flows: list[list[Placed]] = []
    across: list[Placed] = []
    sides: tuple[list[Placed], list[Placed]] = ([], [])

    def close_band() -> None:
        nonlocal across, sides
        if sides[0] and sides[1]:
            flows.extend([across] if across else [])
            flows.extend(columns(sides[0]))
            flows.extend(columns(sides[1]))
            across = []
        else:
            # On one side only: the short last line of text that goes across.
            across += sides[0] + sides[1]
        sides = ([], [])

    for piece in sorted(pieces, key=lambda placed: placed.top):
        if piece.x1 <= gutter:
            sides[0].append(piece)
        elif piece.x0 >= gutter:
            sides[1].append(piece)
        else:
            close_band()
            across.append(piece)
    close_band()
    if across:
        flows.append(across)
    return flows


def _gutter(found: list[Line]) -> float | None:
    """The x of the middle of the best gutter; None for a single column."""
    edges = Counter(round(run.x0) for run in found)
    best: tuple[int, float] | None = None
    for edge, count in edges.most_common(_MAX_CANDIDATES):
        if count < 3:
            break
        left = [run for run in found if run.x1 < edge - 3]
        right = [run for run in found if run.x0 > edge - 1.5]
        if len(left) < 4 or len(right) < 4:
            continue
        crossing = len(found) - len(left) - len(right)
        beside = _count_beside(left, right)
        if beside >= max(4, 0.3 * crossing) and _is_column(left) and _is_column(right) and beside > (best or (0,))[0]:
            best = beside, (max(run.x1 for run in left) + edge) / 2
    return best[1] if best else None


def _count_beside(left: list[Line], right: list[Line]) -> int:
    heights = sorted(run.baseline for run in left)
    count = 0
    for run in right:
        at = bisect.bisect_left(heights, run.baseline - 0.8 * run.size)
        count += at < len(heights) and heights[at] <= run.baseline + 0.8 * run.size
    return count


def _is_column(side: list[Line]) -> bool:
    widths = [run.x1 - run.x0 for run in side]
    middle = median(widths)
    return middle >= _NARROW * median(run.size for run in side) and middle >= _FULL * max(widths)


def join_lines(texts: Sequence[str], vocabulary: frozenset[str]) -> str:
    """Lines as running text. A word divided at a line's end is put together; a hyphen that belongs to it stays.

    It belongs where the document writes the word with a hyphen elsewhere, where a figure stands beside it ("R-17"),
    and before a capital.
    """
    whole = ""
    for text in texts:
        if not whole:
            whole = text
        elif whole[-1] in _HYPHENS:
            whole = _undivided(whole, text, vocabulary)
        elif _UNSPACED.match(whole[-1]) and _UNSPACED.match(text[:1]):
            whole += text
        else:
            whole += " " + text
    return unicodedata.normalize("NFC", whole.replace(HYPHEN, "-"))


def _undivided(before: str, after: str, vocabulary: frozenset[str]) -> str:
    stem = re.search(rf"\w*[{_HYPHENS}]$", before)
    rest = re.match(r"\w*", after)
    first, last = (stem.group()[:-1] if stem else ""), (rest.group() if rest else "")
    if not first or not last:
        return before + (" " if before[-2:-1] in ("", " ") else "") + after
    whole, hyphened = (first + last).casefold(), f"{first}-{last}".casefold()
    known = hyphened in vocabulary and whole not in vocabulary
    keeps = known or not last[0].islower() or first[-1].isdecimal() or len(first) == 1
    return before[:-1] + ("-" if keeps else "") + after


@lru_cache(maxsize=4096)  # every bookmark of a page looks at all its lines
def letters(text: str) -> str:
    """What of a text tells titles apart: its letters and figures, without case."""
    return "".join(sign for sign in unicodedata.normalize("NFKC", text).casefold() if sign.isalnum())


def same_title(one: str, other: str) -> bool:
    """Whether two titles, given by their `letters`, are the same but for a number (or "chapter 4") in front of one."""
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    if len(shorter) < 3 or not longer.endswith(shorter):
        return one == other
    return _NUMBER_ALONE.fullmatch(longer[: len(longer) - len(shorter)]) is not None
