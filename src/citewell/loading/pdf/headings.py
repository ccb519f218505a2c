"""Which blocks are headings, and how deep: from the file's bookmarks, or else from how the lines are set."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from citewell.loading.pdf.blocks import Block, Body, Title
from citewell.loading.pdf.layout import Line, letters, same_title
from citewell.loading.pdf.sheet import Bookmark
from citewell.types import ElementKind

MAX_HEADING = 200
"""Signs; longer text set large is a quotation or a notice."""
_MAX_LINES = 4
_MAX_NUMBER = 20
"""Signs that a title may have in front on the page, and not in its bookmark."""
_MIN_MATCHED = 0.5
"""Of the bookmarks."""
_NUMBERED = re.compile(
    r"(?:(?:chapter|section|part|appendix|annex|article)\s+)?((?:\d+|[A-Z])(?:\.\d+)*)\.?(?=\s|$)", re.IGNORECASE
)
_PROSE_END = re.compile(r"[.,;:]$")

StyleKey = tuple[float, bool, int]


def outline_titles(pages: Sequence[Sequence[Line]], bookmarks: Sequence[Bookmark]) -> dict[int, Title]:
    """The lines that bookmarks name, by their `id`; the lines of one title share it. Page n has lines `pages[n - 1]`.

    Empty where most bookmarks name no line of their page: then they are no outline of the text.
    """
    titles: dict[int, Title] = {}
    last: dict[int, int] = {}
    found = 0
    for bookmark in bookmarks:
        # Some programs set the mark before the page break that the heading comes after.
        for page in range(bookmark.page, min(bookmark.page + 1, len(pages)) + 1):
            spot = _spot(pages[page - 1], letters(bookmark.title), titles, last.get(page, -1))
            if spot is not None:
                title = Title(bookmark.level)
                titles.update((id(line), title) for line in pages[page - 1][spot.start : spot.stop])
                last[page] = spot.start
                found += 1
                break
    return titles if found >= _MIN_MATCHED * len(bookmarks) else {}


def _spot(found: Sequence[Line], wanted: str, taken: Mapping[int, Title], last: int) -> range | None:
    """The lines that say a title, in the largest type where several do (the others mention it), and if they can after
    the `last` title of the page."""
    best: tuple[tuple[bool, float, bool], range] | None = None
    for begin, line in enumerate(found):
        text = ""
        for end in range(begin, min(begin + _MAX_LINES, len(found))):
            text += letters(found[end].text)
            if id(found[end]) in taken or len(text) > len(wanted) + _MAX_NUMBER:
                break
            if same_title(text, wanted):
                rank = begin > last, line.size, line.bold
                if best is None or rank > best[0]:
                    best = rank, range(begin, end + 1)
                break
    return best[1] if best else None


def complete_headings(pages: Sequence[Sequence[Block]], body: Body) -> list[list[Block]]:
    """The pages' blocks with the headings that the outline leaves out, or with all of them where there is none."""
    completed = [list(blocks) for blocks in pages]
    if any(block.kind is ElementKind.HEADING for blocks in completed for block in blocks):
        _add_unmarked(completed, body)
    else:
        _add_by_style(completed, body)
    return completed


def _add_unmarked(pages: list[list[Block]], body: Body) -> None:
    """Those set like others of the outline (in the front matter, often), and numbered ones below its depth."""
    levels: dict[tuple[float, bool], Counter[int]] = {}
    for block in (block for blocks in pages for block in blocks if block.kind is ElementKind.HEADING):
        levels.setdefault(_style(block)[:2], Counter())[block.level] += 1
    deepest = max(max(counts) for counts in levels.values())
    more = [
        (blocks, at, _style(block))
        for blocks in pages
        for at, block in enumerate(blocks)
        if _is_heading(block, body) and (_style(block)[:2] in levels or _style(block)[2] > 0)
    ]
    deeper = sorted({style for _, _, style in more if style[:2] not in levels})
    for blocks, at, style in more:
        alike = levels.get(style[:2])
        level = alike.most_common(1)[0][0] if alike else deepest + 1 + deeper.index(style)
        blocks[at] = replace(blocks[at], kind=ElementKind.HEADING, level=level)


def _add_by_style(pages: list[list[Block]], body: Body) -> None:
    """Headings by size and weight: every way of setting them is a level, the largest outermost.

    Numbers tell apart what is set alike: "4.2" is deeper than "4". The title of the whole document, the only block
    set as it is, shares the outermost level, so that it does not stand above every chapter.
    """
    styles: dict[tuple[int, int], StyleKey] = {}
    for page, blocks in enumerate(pages):
        if _is_contents(blocks):
            continue
        for at, block in enumerate(blocks):
            if _is_heading(block, body):
                styles[page, at] = _style(block)
    counts = Counter(styles.values())
    first = next(iter(styles.values()), None)
    ranks = sorted(counts)
    is_title = len(ranks) > 1 and first == ranks[0] and counts[ranks[0]] == 1
    levels = {key: max(rank + (not is_title), 1) for rank, key in enumerate(ranks)}
    for (page, at), key in styles.items():
        pages[page][at] = replace(pages[page][at], kind=ElementKind.HEADING, level=levels[key])


def _style(block: Block) -> StyleKey:
    """Sorts outermost first: larger, then bold, then by the parts of its number."""
    line = block.lines[0]
    number = _NUMBERED.match(block.text)
    return -round(line.size * 2) / 2, not line.bold, number.group(1).count(".") if number else 0


def _is_heading(block: Block, body: Body) -> bool:
    if block.kind is not ElementKind.PARAGRAPH or len(block.text) > MAX_HEADING or len(block.lines) > _MAX_LINES:
        return False
    if "@" in block.text or block.text.count(",") > 2:
        return False
    line = block.lines[0]
    large = line.size >= 1.1 * body.size
    bold = all(row.bold for row in block.lines) and line.size >= 0.97 * body.size
    if not (large or bold) or not any(sign.isalpha() for sign in block.text):
        return False
    return not _PROSE_END.search(block.text) or bool(_NUMBERED.match(block.text) and large)


def _is_contents(blocks: list[Block]) -> bool:
    """Whether a page is a table of contents: most of its lines end with a page number set apart."""
    found: list[Line] = [line for block in blocks for line in block.lines]
    ends = sum(_ends_with_page(line) for line in found)
    return ends >= 4 and ends * 2 >= len(found)


def _ends_with_page(line: Line) -> bool:
    last = line.words[-1]
    if not re.fullmatch(r"\.*(\d{1,4}|[ivxlc]{1,6})", last.text):
        return False
    return any(after.x0 - before.x1 > line.size for before, after in pairwise(line.words[-2:])) or "...." in line.text
