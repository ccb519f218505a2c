"""From lines in reading order to blocks: paragraphs, lists, code, captions, tables, footnotes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from citewell.loading.pdf.layout import Line, is_rtl, join_lines, widest_gap
from citewell.loading.pdf.sheet import Box
from citewell.loading.pdf.tables import CAPTION, Table
from citewell.loading.pdf.words import HYPHEN
from citewell.loading.tables import table_text
from citewell.types import ElementKind

Flow = Sequence[Line | Table]

_BULLET = re.compile(r"[•●○◦▪■□‣⁃∙·➢✓–—*\-]\s+\S")
_ITEM = re.compile(r"(\(?[a-z]\)|\(?[ivx]{1,5}\)|\(?\d{1,3}\)|\d{1,2}\.)\s+\S")
_NOTE = re.compile(r"[⁰¹²³⁴-⁹*†‡§¶∗]|\d{1,3}\)?\s+\S|\[\d{1,3}\]")
_SENTENCE_END = re.compile(r"[.!?:;。！？]['\"”’)\]]*$")
_LEADERS = re.compile(r"\s*(?:[.·…_]\s?){4,}\s*")
_LED = re.compile(r"(?:[.·…_]\s?){4}")
"""Found where leaders are, and sooner."""
_SMALL = 0.92
"""Of the body's size; a footnote is set smaller than this."""


@dataclass(frozen=True, slots=True)
class Body:
    """How most of the text is set: size in points, distance of base lines as a multiple of it, and if in one width."""

    size: float
    leading: float
    mono: bool


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a page, in reading order. `level` counts for headings, 1 outermost.

    One of a table has a `table` and no `lines`; where it `goes_on`, it is the rest of the table that ends the page
    before, and `preamble` names its columns where it does not.
    """

    kind: ElementKind
    text: str
    box: Box
    lines: tuple[Line, ...] = ()
    level: int = 0
    table: Table | None = None
    goes_on: bool = False
    preamble: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Title:
    """A heading named by the outline, at that depth, 1 outermost; its lines share one object."""

    level: int


def measure_body(flows: Iterable[Flow]) -> Body:
    sizes: Counter[float] = Counter()
    leadings: Counter[float] = Counter()
    mono: Counter[bool] = Counter()
    for flow in flows:
        found = [item for item in flow if isinstance(item, Line)]
        for line in found:
            signs = sum(len(word.text) for word in line.words)
            sizes[line.size] += signs
            mono[line.mono] += signs
        for before, after in pairwise(found):
            if before.size == after.size and 0.9 < (ratio := (after.baseline - before.baseline) / after.size) < 3:
                leadings[round(ratio * 20) / 20] += 1
    common = [ratio for ratio, count in leadings.items() if count * 5 >= sum(leadings.values())]
    size = sizes.most_common(1)[0][0] if sizes else 10.0
    return Body(size, min(common, default=1.3), mono[True] > mono[False])


def page_blocks(
    flows: Sequence[Flow], height: float, body: Body, titles: Mapping[int, Title], vocabulary: frozenset[str]
) -> list[Block]:
    """The blocks of a page of that height: its body flow by flow, then its footnotes. `titles` are by a line's `id`."""
    blocks: list[Block] = []
    notes: list[Block] = []
    has_body = any(isinstance(item, Line) and item.size > _SMALL * body.size for flow in flows for item in flow)
    for flow in flows:
        cut = _notes_begin(flow, height, body) if has_body else len(flow)
        own = _flow_blocks(flow[:cut], body, titles, vocabulary)
        if blocks and own and _runs_on(blocks[-1], own[0]):
            blocks[-1] = text_block((*blocks[-1].lines, *own[0].lines), ElementKind.PARAGRAPH, vocabulary)
            own = own[1:]
        blocks.extend(own)
        notes.extend(_notes([item for item in flow[cut:] if isinstance(item, Line)], vocabulary))
    return blocks + notes


def text_block(found: Sequence[Line], kind: ElementKind, vocabulary: frozenset[str]) -> Block:
    box = (
        min(line.x0 for line in found),
        min(line.top for line in found),
        max(line.x1 for line in found),
        max(line.bottom for line in found),
    )
    return Block(kind, join_lines([line.text for line in found], vocabulary), box, tuple(found))


def _notes_begin(flow: Flow, height: float, body: Body) -> int:
    """Where the footnotes at the end of a flow begin: at a line with a mark, the first of its last, small lines or set
    off from those before it by a gap. Small lines of one width are code."""
    begin = len(flow)
    while begin and isinstance(item := flow[begin - 1], Line) and item.size <= _SMALL * body.size:
        begin -= 1
    for at in range(begin, len(flow)):
        item = flow[at]
        if not isinstance(item, Line) or item.top < height / 2 or _is_code(item, body) or not _NOTE.match(item.text):
            continue
        if at == begin or item.baseline - flow[at - 1].bottom > 1.3 * body.leading * item.size:
            return at
    return len(flow)


def _notes(found: Sequence[Line], vocabulary: frozenset[str]) -> Iterator[Block]:
    begin = 0
    for at in range(1, len(found) + 1):
        if at == len(found) or _NOTE.match(found[at].text):
            if found[begin:at]:
                yield text_block(found[begin:at], ElementKind.FOOTNOTE, vocabulary)
            begin = at


def _flow_blocks(flow: Flow, body: Body, titles: Mapping[int, Title], vocabulary: frozenset[str]) -> list[Block]:
    left = min((item.x0 for item in flow), default=0.0)
    right = max((item.x1 for item in flow), default=0.0)
    blocks: list[Block] = []
    pending: list[Line] = []
    title: Title | None = None
    for item in flow:
        own = titles.get(id(item))
        if pending and (
            isinstance(item, Table) or own is not title or (own is None and _begins(pending, item, left, right, body))
        ):
            blocks.append(_close(pending, title, body, vocabulary))
            pending = []
        title = own
        if isinstance(item, Table):
            blocks.extend(_table_blocks(item))
        else:
            pending.append(item)
    if pending:
        blocks.append(_close(pending, title, body, vocabulary))
    return _merge_lists(blocks)


def _table_blocks(table: Table) -> Iterator[Block]:
    if table.title:
        yield Block(ElementKind.CAPTION, table.title, (table.x0, table.top, table.x1, table.top))
    box = table.x0, table.top, table.x1, table.bottom
    yield Block(ElementKind.TABLE, table_text(table.rows), box, table=table)


def _begins(pending: list[Line], line: Line, left: float, right: float, body: Body) -> bool:
    """Whether a line begins a new block after the lines `pending`."""
    before = pending[-1]
    size = max(before.size, line.size)
    if abs(before.size - line.size) > 0.08 * size or before.mono != line.mono:
        return True
    gap = line.baseline - before.baseline
    if _is_code(before, body):
        return gap > 2.5 * body.leading * size
    if gap > 1.2 * body.leading * size or gap < 0:
        return True
    if before.bold != line.bold and not _wraps(before, line, left, right):
        return True
    if _stands_alone(before) or _stands_alone(line) or _is_item(line, body):
        return True
    return _is_indented(pending, line, left, right) or not _wraps(before, line, left, right)


def _wraps(before: Line, line: Line, left: float, right: float) -> bool:
    """Whether the line before is full: the next word would not have fitted, or it breaks off inside a sentence."""
    if _centred(before, line):
        return True
    indent, room = _insets(before, left, right)
    room -= 0.5 * before.size
    first = line.words[0]
    if first.x1 - first.x0 > room:
        return True
    return not _SENTENCE_END.search(before.text) and room < 0.4 * (right - left - indent)


def _insets(line: Line, left: float, right: float) -> tuple[float, float]:
    """How far a line's beginning and its end are from the edges of its column, in reading direction."""
    if is_rtl(line.text):
        return right - line.x1, line.x0 - left
    return line.x0 - left, right - line.x1


def _centred(before: Line, line: Line) -> bool:
    return abs(before.x0 - line.x0) > before.size and abs((before.x0 + before.x1) - (line.x0 + line.x1)) < 4


def _is_indented(pending: list[Line], line: Line, left: float, right: float) -> bool:
    """Whether the line's beginning is a paragraph's: further in than the text, or further out than a hanging one's."""
    before = pending[-1]
    indent, _ = _insets(before, left, right)
    shift = _insets(line, left, right)[0] - indent
    if _centred(before, line) or abs(shift) < 0.8 * line.size:
        return False
    if shift > 0:
        return len(pending) > 1 or (indent <= 1 and bool(_SENTENCE_END.search(before.text)))
    return len(pending) > 1


def _stands_alone(line: Line) -> bool:
    """Whether a line is one of a table of contents or of a list of pairs: a wide gap, or leaders, inside."""
    return bool(_LED.search(line.text)) or widest_gap(line) > 2


def _is_item(line: Line, body: Body) -> bool:
    plain = not line.bold and line.size <= 1.05 * body.size
    return bool(_BULLET.match(line.text)) or (plain and bool(_ITEM.match(line.text)))


def _is_code(line: Line, body: Body) -> bool:
    return line.mono and not body.mono


def _close(found: list[Line], title: Title | None, body: Body, vocabulary: frozenset[str]) -> Block:
    first = found[0]
    if title is not None:
        return replace(text_block(found, ElementKind.HEADING, vocabulary), level=title.level)
    if _is_code(first, body) and len(found) > 1:
        return _code(found, vocabulary)
    if CAPTION.match(first.text) and len(found) <= 6:
        return text_block(found, ElementKind.CAPTION, vocabulary)
    block = text_block(found, ElementKind.PARAGRAPH, vocabulary)
    if _stands_alone(first) or _is_item(first, body):
        return replace(block, kind=ElementKind.LIST, text=_LEADERS.sub(" ... ", block.text))
    return block


def _code(found: list[Line], vocabulary: frozenset[str]) -> Block:
    left = min(line.x0 for line in found)
    pitch = 0.6 * found[0].size
    text = "\n".join(" " * round((line.x0 - left) / pitch) + line.text for line in found)
    return replace(text_block(found, ElementKind.CODE, vocabulary), text=text)


def _merge_lists(blocks: list[Block]) -> list[Block]:
    """Items that follow each other are one list, an item a line."""
    merged: list[Block] = []
    for block in blocks:
        last = merged[-1] if merged else None
        if last is not None and block.kind is last.kind is ElementKind.LIST:
            box = (
                min(last.box[0], block.box[0]),
                last.box[1],
                max(last.box[2], block.box[2]),
                max(last.box[3], block.box[3]),
            )
            merged[-1] = replace(last, text=f"{last.text}\n{block.text}", box=box, lines=(*last.lines, *block.lines))
        else:
            merged.append(block)
    return merged


def _runs_on(before: Block, after: Block) -> bool:
    """Whether a paragraph goes on at the top of the next column."""
    if not before.kind is after.kind is ElementKind.PARAGRAPH:
        return False
    last, first = before.lines[-1], after.lines[0]
    if abs(last.size - first.size) > 0.08 * last.size or last.bold != first.bold:
        return False
    return last.text[-1] in f"-{HYPHEN}," or (not _SENTENCE_END.search(last.text) and first.text[:1].islower())
