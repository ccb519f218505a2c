"""Sets blocks on pages that are pictures: what a printer would have put on paper, with the text of each in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path

import reportlab
from PIL import Image, ImageDraw, ImageFont

from source.markup import Block, Chart, Heading, Items, Note, Paragraph, Table

DPI = 170
A4 = (595, 842)
LEFT, RIGHT, TOP, BOTTOM = 62.0, 533.0, 84.0, 768.0
"""The type area, like every length here in points from the page's top left corner."""
LEADING, ROW, PAD = 15.0, 13.5, 4.5
INK, GREY, PALE = 30, 120, 226
FONTS = Path(reportlab.__file__).parent / "fonts"


@dataclass(frozen=True, slots=True)
class Type:
    size: float
    bold: bool = False

    @property
    def font(self) -> ImageFont.FreeTypeFont:
        return _font(self.size, self.bold)

    def width(self, text: str) -> float:
        return self.font.getlength(text) * 72 / DPI


BODY, SMALL, CELL, HEAD_CELL = Type(10.2), Type(9.8), Type(9.8), Type(9.2, bold=True)
TITLE, CAPTION = Type(30, bold=True), Type(9.4, bold=True)
HEADINGS = (Type(17, bold=True), Type(12, bold=True), Type(10.2, bold=True))


@dataclass(slots=True)
class Sheet:
    """One page: its picture, and what a perfect reader reads on it, in order."""

    picture: Image.Image = field(default_factory=lambda: Image.new("L", (_px(A4[0]), _px(A4[1])), 255))
    words: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def write(self, x: float, y: float, text: str, kind: Type, *, right: bool = False) -> None:
        """Write one line with its ascenders' top at y, ending at x where `right`."""
        self.words.append(text)
        at = (_px(x - kind.width(text)) if right else _px(x), _px(y))
        ImageDraw.Draw(self.picture).text(at, text, fill=INK, font=kind.font)

    def line(self, x: float, y: float, to_x: float, to_y: float, ink: int = INK) -> None:
        ImageDraw.Draw(self.picture).line((_px(x), _px(y), _px(to_x), _px(to_y)), fill=ink, width=2)

    def fill(self, x: float, y: float, to_x: float, to_y: float, ink: int) -> None:
        ImageDraw.Draw(self.picture).rectangle((_px(x), _px(y), _px(to_x), _px(to_y)), fill=ink)


def set_pages(cover: Sequence[str], running: tuple[str, str], foot: str, blocks: Iterable[Block]) -> list[Sheet]:
    """The pages: a cover, then the blocks. `running` stands at the head of each page after it, `foot` below."""
    press = _Press(running)
    first = Sheet()
    first.write(LEFT, 230, cover[0], TITLE)
    for number, line in enumerate(cover[1:]):
        first.write(LEFT, 290 + 22 * number, line, HEADINGS[1])
    first.line(LEFT, 275, RIGHT, 275)
    for block in blocks:
        press.set(block)
    sheets = [first, *press.sheets]
    for number, sheet in enumerate(sheets, start=1):
        _draw_notes(sheet)
        sheet.write(LEFT, 794, foot, SMALL)
        sheet.write(RIGHT, 794, f"Page {number} of {len(sheets)}", SMALL, right=True)
    return sheets


class _Press:
    """Puts block under block, and begins a page where the room ends and at each chapter."""

    def __init__(self, running: tuple[str, str]) -> None:
        self.running = running
        self.sheets: list[Sheet] = []
        self.y, self.bottom, self.tables, self.notes = TOP, BOTTOM, 0, 0

    @property
    def sheet(self) -> Sheet:
        return self.sheets[-1]

    def set(self, block: Block) -> None:
        match block:
            case Heading(level=level, text=text):
                if level == 1:
                    self._begin()
                self.sheet.write(LEFT, self.y, text, HEADINGS[level - 1])
                self.y += HEADINGS[level - 1].size + 16
            case Paragraph(text=text, footnote=note):
                self._paragraph(text, note)
            case Note(text=text):
                self._note(text)
            case Items(items=items, numbered=numbered):
                for place, item in enumerate(items, start=1):
                    self._lines(item, LEFT + 16, f"{place}." if numbered else "•")
                self.y += 6
            case Table():
                self._table(block)
            case Chart():
                self._chart(block)

    def _begin(self) -> None:
        self.sheets.append(Sheet())
        self.y, self.bottom = TOP, BOTTOM
        self.sheet.write(LEFT, 48, self.running[0], SMALL)
        self.sheet.write(RIGHT, 48, self.running[1], SMALL, right=True)
        self.sheet.line(LEFT, 63, RIGHT, 63, GREY)

    def _room(self, height: float) -> None:
        if self.y + height > self.bottom:
            self._begin()

    def _lines(self, text: str, x: float, mark: str = "") -> None:
        lines = _wrap(text, RIGHT - x, BODY)
        self._room(LEADING * len(lines))
        if mark:
            self.sheet.write(LEFT + 4, self.y, mark, BODY)
        for line in lines:
            self.sheet.write(x, self.y, line, BODY)
            self.y += LEADING

    def _paragraph(self, text: str, note: str) -> None:
        if note:
            self.notes += 1
            note = f"{self.notes}) {note}"
            height = _note_height(note)
            self._room(LEADING * len(_wrap(text, RIGHT - LEFT, BODY)) + height + 8)
            self.sheet.notes.append(note)
            self.bottom -= height
            text += f" {self.notes})"
        self._lines(text, LEFT)
        self.y += 8

    def _note(self, text: str) -> None:
        lines = _wrap(text, RIGHT - LEFT - 20, BODY)
        self._room(LEADING * len(lines) + 24)
        self.sheet.fill(LEFT, self.y, RIGHT, self.y + LEADING * len(lines) + 12, PALE)
        self.y += 7
        for line in lines:
            self.sheet.write(LEFT + 10, self.y, line, BODY)
            self.y += LEADING
        self.y += 16

    def _table(self, table: Table) -> None:
        self.tables += 1
        columns = _columns(table)
        heads = [table.above, table.header] if table.above else [table.header]
        self._room(2 * LEADING + 3 * (ROW + 2 * PAD) * len(heads))
        self.sheet.write(LEFT, self.y, f"Table {self.tables}. {table.caption}", CAPTION)
        self.y += LEADING + 2
        self._heads(heads, columns)
        for row in table.rows:
            if self.y + _row_height(row, columns, CELL) > self.bottom:
                self._begin()
                self._heads(heads, columns)
            self._row(row, columns, CELL)
        self.y += 14

    def _heads(self, heads: Sequence[Sequence[str]], columns: Sequence[float]) -> None:
        start, height = self.y, sum(_row_height(head, columns, HEAD_CELL) for head in heads)
        self.sheet.fill(columns[0], start, columns[-1], start + height, PALE)
        for head in heads:
            self._row(head, columns, HEAD_CELL)
        self.sheet.line(columns[0], start, columns[-1], start)

    def _row(self, row: Sequence[str], columns: Sequence[float], kind: Type) -> None:
        sheet, height = self.sheet, _row_height(row, columns, kind)
        for cell, left, right in _spans(row, columns):
            for number, line in enumerate(_wrap(cell, right - left - 2 * PAD, kind)):
                sheet.write(left + PAD, self.y + PAD + number * ROW, line, kind)
            sheet.line(left, self.y, left, self.y + height)
            if cell:  # an empty head is one with the head below it
                sheet.line(left, self.y + height, right, self.y + height)
        sheet.line(columns[-1], self.y, columns[-1], self.y + height)
        self.y += height

    def _chart(self, chart: Chart) -> None:
        step, axis = 24.0, LEFT + 90
        top = -(-max(number for _, number in chart.bars) // 10) * 10
        unit = (RIGHT - axis - 50) / top
        self._room(LEADING * 3 + step * len(chart.bars))
        self.sheet.write(LEFT, self.y, f"Figure 1. {chart.caption}", CAPTION)
        self.y += LEADING + 6
        end = self.y + step * len(chart.bars)
        for number in range(0, top + 1, 10):
            self.sheet.line(axis + unit * number, self.y, axis + unit * number, end, GREY)
        for label, number in chart.bars:
            self.sheet.write(LEFT, self.y + 5, label, CELL)
            self.sheet.fill(axis, self.y + 3, axis + unit * number, self.y + step - 4, GREY)
            self.sheet.write(axis + unit * number + 6, self.y + 5, f"{number} %", CELL)
            self.y += step
        for number in range(0, top + 1, 10):
            self.sheet.write(axis + unit * number - 5, end + 4, str(number), SMALL)
        self.y = end + 34


def _draw_notes(sheet: Sheet) -> None:
    y = BOTTOM - sum(map(_note_height, sheet.notes)) + 12
    if sheet.notes:
        sheet.line(LEFT, y - 4, LEFT + 120, y - 4, GREY)
    for note in sheet.notes:
        for line in _wrap(note, RIGHT - LEFT, SMALL):
            sheet.write(LEFT, y, line, SMALL)
            y += ROW


def _note_height(note: str) -> float:
    return ROW * len(_wrap(note, RIGHT - LEFT, SMALL)) + 10


def _row_height(row: Sequence[str], columns: Sequence[float], kind: Type) -> float:
    lines = (len(_wrap(cell, right - left - 2 * PAD, kind)) for cell, left, right in _spans(row, columns))
    return ROW * max(lines) + 2 * PAD


def _spans(row: Sequence[str], columns: Sequence[float]) -> Iterator[tuple[str, float, float]]:
    """Each cell with its left and right edge; a cell followed by "<" reaches over it."""
    for place, (cell, (left, right)) in enumerate(zip(row, pairwise(columns), strict=True)):
        if cell == "<":
            continue
        reach = place + 1
        while reach < len(row) and row[reach] == "<":
            reach += 1
        yield cell, left, columns[reach] if reach > place + 1 else right


def _columns(table: Table) -> list[float]:
    """The edges of the columns: as wide as the longest cell and the longest word of the head, and an equal share more.

    Raises:
        ValueError: that is wider than the page.
    """
    least = [
        max(*(HEAD_CELL.width(word) for word in head.split()), *(CELL.width(cell) for cell in cells)) + 2 * PAD + 1
        for head, *cells in zip(table.header, *table.rows, strict=True)
    ]
    spare = (RIGHT - LEFT - sum(least)) / len(least)
    if spare < 0:
        raise ValueError(f"table {table.caption!r} is wider than the page")
    return [LEFT + sum(least[:place]) + spare * place for place in range(len(least) + 1)]


def _wrap(text: str, width: float, kind: Type) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and kind.width(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


@cache
def _font(size: float, bold: bool) -> ImageFont.FreeTypeFont:
    path = FONTS / ("VeraBd.ttf" if bold else "Vera.ttf")
    return ImageFont.truetype(path, size * DPI / 72, layout_engine=ImageFont.Layout.BASIC)


def _px(points: float) -> int:
    return round(points * DPI / 72)
