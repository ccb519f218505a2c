"""What can be quoted of a passage: its sentences, the rows of its tables, the blocks of its code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from citewell.chunking.sentences import sentences
from citewell.types import BETWEEN_CELLS, Chunk, ElementKind

MAX_CODE_LINES = 12
MAX_TITLE_WORDS = 10
MAX_HEADER_ROWS = 3

_BULLET = re.compile(r"\s*(?:[-*+•‣◦–—]|\d{1,3}[.)]|\(?[a-z][.)])\s+")
_BLOCK_OF_CODE = re.compile(r"\n[ \t]*\n(?=\S)")
_NUMBERED = re.compile(r"\s*(?:Table|Figure|Form|Appendix|Annex)\s+[\w.-]+[:.]?\s*", re.IGNORECASE)
_FILE_NAME = re.compile(r"[^\s|]{1,100}\.(?=[a-z0-9]*[a-z])[a-z0-9]{1,5}", re.IGNORECASE)
_NAMED = re.compile(r"(?P<key>[^\s:.!?][^:.!?]{0,60}):\s")
_FIGURE = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Unit:
    """A quotable stretch: `document.text[start:end]`.

    `shown` is it in one readable line (a row with its column names, a sentence without line breaks); `context` is what
    else it says by where it stands: the headings above it, the head of its table. `is_fragment` marks what is no
    statement by itself, such as a heading. `key` is what a row is about: its first cell, or the name before a colon.
    """

    start: int
    end: int
    shown: str
    context: str
    is_fragment: bool = False
    key: str = ""


def units(chunk: Chunk) -> tuple[Unit, ...]:
    """The units of a chunk, in reading order."""
    if chunk.kind is ElementKind.CODE:
        found = _code(chunk)
    else:
        found = (unit for start, end in _blocks(chunk.text) for unit in _prose_or_table(chunk, start, end))
    # Nothing but a bullet, say: still something that can be pointed at.
    return tuple(found) or (_unit(chunk, 0, len(chunk.text), chunk.text.strip(), "", is_fragment=True),)


def _blocks(text: str) -> list[tuple[int, int]]:
    """Spans of what empty lines separate."""
    blocks: list[tuple[int, int]] = []
    for start, end in _lines(text, 0, len(text)):
        if blocks and text.count("\n", blocks[-1][1], start) == 1:
            blocks[-1] = (blocks[-1][0], end)
        else:
            line = text[start:end]
            blocks.append((start + len(line) - len(line.lstrip()), end))
    return blocks


def _prose_or_table(chunk: Chunk, start: int, end: int) -> Iterator[Unit]:
    lines = _lines(chunk.text, start, end)
    rows = [line for line in lines if BETWEEN_CELLS in chunk.text[slice(*line)]]
    if len(rows) > len(lines) / 2:
        yield from _table(chunk, lines)
        return
    titled = _is_title(chunk.text[start:end])
    for begin, stop in _items(chunk.text, lines):
        for first, last in sentences(chunk.text[begin:stop]):
            yield from _sentence(chunk, begin + first, begin + last, titled=titled)


def _is_title(block: str) -> bool:
    """Whether a paragraph is a caption or a title: a few words without a figure, a colon, a bullet or an end."""
    named = _NUMBERED.sub("", block)
    return (
        len(named.split()) <= MAX_TITLE_WORDS
        and not re.search(r"[\d:]|[.!?…。।؟]\W*$", named)
        and not _BULLET.match(block)
    )


def _lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Spans of the lines with something on them, without the blanks at their ends."""
    spans = []
    for line in text[start:end].split("\n"):
        if line.strip():
            spans.append((start, start + len(line.rstrip())))
        start += len(line) + 1
    return spans


def _items(text: str, lines: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Lines joined to paragraphs, but for bullets: a list's items are statements of their own."""
    begin, stop = lines[0]
    for first, last in lines[1:]:
        if _BULLET.match(text, first, last):
            yield begin, stop
            begin = first
        stop = last
    yield begin, stop


def _sentence(chunk: Chunk, start: int, end: int, *, titled: bool) -> Iterator[Unit]:
    text = chunk.text[start:end]
    start += len(text) - len(text.lstrip())
    bullet = _BULLET.match(chunk.text, start, end)
    start = bullet.end() if bullet else start
    shown = " ".join(chunk.text[start:end].split())
    if shown:
        fragment = (
            titled
            or _FILE_NAME.fullmatch(shown) is not None
            or shown in chunk.heading_path
            or shown.strip("# ") in chunk.heading_path
            or shown.endswith(":")
        )
        named = None if fragment else _NAMED.match(shown)
        key = named["key"] if named else ""
        yield _unit(chunk, start, start + len(chunk.text[start:end].rstrip()), shown, "", is_fragment=fragment, key=key)


def _table(chunk: Chunk, lines: list[tuple[int, int]]) -> Iterator[Unit]:
    texts = [chunk.text[slice(*line)] for line in lines]
    first = next(place for place, text in enumerate(texts) if BETWEEN_CELLS in text)
    rows = [_cells(text) for text in texts[first:]]
    above = [line for line in chunk.preamble.split("\n") if line.strip()]
    headers = _header_rows(rows)
    head = _names(rows[:headers] or [_cells(line) for line in above if BETWEEN_CELLS in line])
    caption = " ".join([*(line.strip() for line in above if BETWEEN_CELLS not in line), *map(str.strip, texts[:first])])
    context = f"{caption} {' '.join(head)}".strip()
    for place, (line, row) in enumerate(zip(lines[first:], rows, strict=True)):
        names_columns = place < headers
        shown = BETWEEN_CELLS.join(row) if names_columns else _readable(row, head)
        yield _unit(chunk, *line, shown, context, is_fragment=names_columns, key="" if names_columns else _key(row))


def _cells(line: str) -> list[str]:
    bare = line.strip()
    # Drawn with a bar at both ends, as in Markdown; else a bar at the start follows an empty cell.
    framed = len(bare) > 1 and bare[0] == bare[-1] == "|"
    return [cell.strip() for cell in (bare[1:-1] if framed else bare).split("|")]


def _key(row: list[str]) -> str:
    """The first cell; where that is a number or a code, with the name that follows it."""
    named = len(row) > 1 and _FIGURE.search(row[0]) and not _FIGURE.search(row[1])
    return f"{row[0]} {row[1]}".strip() if named else row[0]


def _header_rows(rows: list[list[str]]) -> int:
    """How many rows name the columns: none or the first, and after it those with nothing above the rows' own names."""
    count = 0
    while count < MAX_HEADER_ROWS and _is_head(rows[count:]) and (count == 0 or not rows[count][0]):
        count += 1
    return count


def _names(headers: list[list[str]]) -> list[str]:
    """The columns' names: what stands in each column of the header rows, from the top down."""
    columns = zip_longest(*headers, fillvalue="")
    return [" ".join(dict.fromkeys(cell for cell in column if cell)) for column in columns]


def _is_head(rows: list[list[str]]) -> bool:
    """Whether the first row names the columns: it holds no figure in a column where most of the others do.

    A piece of a longer table begins with any row, and a row must not be read as the names of columns.
    """
    body = rows[1:]
    if not body:
        return False
    width = min(len(row) for row in rows)
    counts = [sum(bool(_FIGURE.search(row[column])) for row in body) for column in range(width)]
    figures = [column for column in range(width) if counts[column] * 2 > len(body)]
    return any(not _FIGURE.search(rows[0][column]) for column in figures)


def _readable(row: list[str], head: list[str]) -> str:
    """`Chargeback – Debit: 15; Credit: 20` of the row `Chargeback | 15 | 20` under the head `Fee | Debit | Credit`."""
    if not 2 <= len(row) <= len(head):
        return BETWEEN_CELLS.join(row)
    # Not strict: a row's empty last cells are left out.
    pairs = [f"{name}: {cell}" if name else cell for name, cell in zip(head[1:], row[1:], strict=False) if cell]
    return f"{row[0]} – {'; '.join(pairs)}"


def _code(chunk: Chunk) -> Iterator[Unit]:
    start = 0
    for stop in [*(match.end() for match in _BLOCK_OF_CODE.finditer(chunk.text)), len(chunk.text)]:
        lines = _lines(chunk.text, start, stop)
        for place in range(0, len(lines), MAX_CODE_LINES):
            piece = lines[place : place + MAX_CODE_LINES]
            begin, end = piece[0][0], piece[-1][1]
            yield _unit(chunk, begin, end, chunk.text[begin:end], "")
        start = stop


def _unit(
    chunk: Chunk, start: int, end: int, shown: str, context: str, *, is_fragment: bool = False, key: str = ""
) -> Unit:
    above = " ".join([*chunk.heading_path[-2:], context]).strip()
    return Unit(chunk.start + start, chunk.start + end, shown, above, is_fragment, key)
