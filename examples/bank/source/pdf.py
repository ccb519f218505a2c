"""Sets a manual as a PDF: cover, contents with roman page labels, body, bookmarks, running heads, footnotes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from reportlab.lib.colors import HexColor
from reportlab.lib.enums import TA_JUSTIFY
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    KeepTogether,
    NextPageTemplate,
    PageBreak,
    PageTemplate,
    Spacer,
    TableStyle,
)
from reportlab.platypus import Paragraph as Text
from reportlab.platypus import Table as Grid
from reportlab.platypus.tableofcontents import TableOfContents

from source.markup import Block, Heading, Items, Note, Paragraph, Table

INK, GREEN, PALE, RULE = HexColor("#1d1d1f"), HexColor("#1f5c4a"), HexColor("#e9f1ed"), HexColor("#9fb8ae")
SIDE, TOP, BOTTOM = 27 * mm, 27 * mm, 26 * mm
WIDTH = A4[0] - 2 * SIDE
WHOLE = 7
"""Paragraphs of up to this many lines are never divided between two pages."""

BODY = ParagraphStyle("body", fontName="Times-Roman", fontSize=10.5, leading=14, textColor=INK, alignment=TA_JUSTIFY,
                      spaceAfter=6.5, allowWidows=0, allowOrphans=0)  # fmt: skip
ITEM = ParagraphStyle("item", BODY, leftIndent=18, bulletIndent=4, bulletFontName="Times-Roman", spaceAfter=2.5)
LAST_ITEM = ParagraphStyle("last item", ITEM, spaceAfter=BODY.spaceAfter)
NOTE = ParagraphStyle("note", BODY, fontName="Times-Italic", backColor=PALE, borderPadding=(5, 7, 6, 7), leftIndent=7,
                      rightIndent=7, spaceBefore=7, spaceAfter=12)  # fmt: skip
FOOTNOTE = ParagraphStyle("footnote", BODY, fontSize=8.5, leading=10.4, spaceAfter=0)
CAPTION = ParagraphStyle("caption", BODY, fontName="Helvetica-Bold", fontSize=8.6, leading=11, textColor=GREEN,
                         spaceBefore=5, spaceAfter=3, alignment=0, keepWithNext=1)  # fmt: skip
CELL = ParagraphStyle("cell", BODY, fontSize=9.3, leading=11.2, spaceAfter=0, alignment=0)
HEAD_CELL = ParagraphStyle("head cell", CELL, fontName="Helvetica-Bold", fontSize=8.4, textColor=HexColor("#ffffff"))
HEADINGS = (
    ParagraphStyle("h1", fontName="Helvetica-Bold", fontSize=21, leading=26, textColor=GREEN, spaceAfter=16,
                   keepWithNext=1),
    ParagraphStyle("h2", fontName="Helvetica-Bold", fontSize=13.2, leading=17, textColor=GREEN, spaceBefore=13,
                   spaceAfter=5, keepWithNext=1),
    ParagraphStyle("h3", fontName="Helvetica-Bold", fontSize=10.6, leading=14, textColor=INK, spaceBefore=8,
                   spaceAfter=3, keepWithNext=1),
)  # fmt: skip
TITLE = ParagraphStyle("title", fontName="Helvetica-Bold", fontSize=34, leading=40, textColor=GREEN, spaceAfter=10)
SUBTITLE = ParagraphStyle("subtitle", fontName="Helvetica", fontSize=14, leading=20, textColor=INK, spaceAfter=4)
CONTENTS = (
    ParagraphStyle("toc1", fontName="Helvetica-Bold", fontSize=10, leading=12.5, spaceBefore=5, textColor=GREEN),
    ParagraphStyle("toc2", fontName="Times-Roman", fontSize=10, leading=11.7, leftIndent=14, textColor=INK),
)


def write_manual(
    path: Path, edition: int, cover: Sequence[str], control: Sequence[Block], body: Sequence[Block]
) -> None:
    """Write the PDF. `cover` is the title and the lines under it; `control` fills the page after it."""
    story: list[Flowable] = [Spacer(1, 70 * mm), Text(cover[0], TITLE), *(Text(line, SUBTITLE) for line in cover[1:])]
    story += [NextPageTemplate("front"), PageBreak()]
    story += list(_Setter(frozenset(), "").set(control))
    contents = TableOfContents(dotsMinLevel=1)
    contents.levelStyles = list(CONTENTS)
    story += [PageBreak(), Text("Contents", HEADINGS[0]), contents, NextPageTemplate("body")]
    sections = frozenset(block.number for block in body if isinstance(block, Heading))
    story += list(_Setter(sections, "sec-").set(body))
    _Manual(str(path), edition, cover[0]).multiBuild(story)


class _Manual(BaseDocTemplate):  # type: ignore[misc]  # reportlab is untyped
    """Page templates, page labels, bookmarks and entries of the contents."""

    def __init__(self, filename: str, edition: int, title: str) -> None:
        super().__init__(filename, pagesize=A4, title=f"{title}, edition {edition}", author="Larkfield Bank",
                         subject="Internal policy. Invented for testing.", lang="en-GB", invariant=1,
                         pageCompression=0)  # fmt: skip
        # Not compressed: the bytes then depend on no version of zlib.
        self.edition, self.front, self.chapter = edition, 0, ""
        frame = {"leftPadding": 0, "rightPadding": 0, "topPadding": 0, "bottomPadding": 0}
        area = (SIDE, BOTTOM, WIDTH, A4[1] - TOP - BOTTOM)
        self.addPageTemplates([
            PageTemplate("cover", [Frame(*area, **frame)], onPage=_draw_cover),
            PageTemplate("front", [Frame(*area, **frame)], onPageEnd=_draw_front),
            PageTemplate("body", [_NotedFrame(*area, **frame)], onPage=_start_body, onPageEnd=_draw_body),
        ])  # fmt: skip

    def beforeDocument(self) -> None:  # noqa: N802 (reportlab's name)
        self.front = 0
        self.canv.addPageLabel(0, "ROMAN_LOWER", 1)

    def afterFlowable(self, flowable: Flowable) -> None:  # noqa: N802 (reportlab's name)
        if not isinstance(flowable, _HeadingText) or not flowable.key:
            return
        if flowable.level == 1:
            self.chapter = flowable.plain
        self.canv.bookmarkPage(flowable.key)
        self.canv.addOutlineEntry(flowable.plain, flowable.key, flowable.level - 1, closed=True)
        if flowable.level == 1 or (flowable.level == 2 and flowable.plain[0].isdigit()):
            self.notify("TOCEntry", (flowable.level - 1, escape(flowable.plain), self.page - self.front, flowable.key))


class _HeadingText(Text):  # type: ignore[misc]  # reportlab is untyped
    def __init__(self, heading: Heading, prefix: str) -> None:
        super().__init__(escape(heading.text), HEADINGS[heading.level - 1])
        self.level, self.plain = heading.level, heading.text
        self.key = f"{prefix}{heading.number}" if prefix else ""


class _WholeText(Text):  # type: ignore[misc]  # reportlab is untyped
    """A paragraph that is divided between pages only when it is long."""

    def split(self, width: float, height: float) -> list[Flowable]:
        self.wrap(width, height)
        parts: list[Flowable] = super().split(width, height) if len(self.blPara.lines) > WHOLE else []
        return parts


class _NotedFrame(Frame):  # type: ignore[misc]  # reportlab is untyped
    """A frame whose foot rises with every footnote put on its page."""

    def _reset(self) -> None:
        super()._reset()
        self._geom()
        self.notes: list[Text] = []


class _NotedText(_WholeText):
    """A paragraph with a footnote at the foot of the same page."""

    def __init__(self, text: str, note: str) -> None:
        super().__init__(text, BODY)
        self.note = Text(note, FOOTNOTE)

    def wrap(self, width: float, height: float) -> tuple[float, float]:
        _, text_height = super().wrap(width, height)
        _, note_height = self.note.wrap(width, height)
        self.note_height = note_height + 7
        unbounded = height > A4[1]  # asked by KeepTogether, which wants all the room that is needed
        fits = text_height + self.note_height <= height
        return width, text_height + (0 if fits and not unbounded else self.note_height)

    def split(self, width: float, height: float) -> list[Flowable]:  # noqa: ARG002 (reportlab's signature)
        return []

    def draw(self) -> None:
        super().draw()
        self._frame._y1p += self.note_height
        self._frame.notes.append(self.note)


class _Setter:
    """Turns blocks into flowables; numbers tables by chapter and footnotes through the document."""

    def __init__(self, sections: frozenset[str], prefix: str) -> None:
        self.sections, self.prefix = sections, prefix
        self.chapter, self.tables, self.notes = "", 0, 0

    def set(self, blocks: Sequence[Block]) -> Iterator[Flowable]:
        for block in blocks:
            match block:
                case Heading(level=level):
                    if level == 1 and self.prefix:
                        self.chapter, self.tables = block.number, 0
                        yield PageBreak()
                    yield _HeadingText(block, self.prefix)
                case Paragraph(text=text, footnote=""):
                    yield _WholeText(self._inline(text), BODY)
                case Paragraph(text=text, footnote=note):
                    self.notes += 1
                    mark = f"<super rise=4 size=7>{self.notes}</super>"
                    yield _NotedText(f"{self._inline(text)}{mark}", f"{mark} {self._inline(note)}")
                case Note(text=text):
                    yield KeepTogether([Text(self._inline(text), NOTE)])
                case Items():
                    yield from self._items(block)
                case Table():
                    yield self._table(block)

    def _inline(self, text: str) -> str:
        marked = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(text))
        marked = re.sub(r"\*(.+?)\*", r"<i>\1</i>", marked)
        return re.sub(r"\b(section|sections|chapter|appendix) ([A-F]|\d+(?:\.\d+)*)\b", self._link, marked)

    def _link(self, found: re.Match[str]) -> str:
        if not self.prefix:
            return found[0]
        if found[2] not in self.sections:
            raise ValueError(f"reference to {found[0]!r}, which does not exist")
        return f'<a href="#{self.prefix}{found[2]}" color="{GREEN.hexval().replace("0x", "#")}">{found[0]}</a>'

    def _items(self, block: Items) -> Iterator[Flowable]:
        for place, item in enumerate(block.items, start=1):
            style = LAST_ITEM if place == len(block.items) else ITEM
            yield _WholeText(self._inline(item), style, bulletText=f"{place}." if block.numbered else "•")

    def _table(self, table: Table) -> Flowable:
        self.tables += 1
        name = f"Table {self.chapter}-{self.tables}. " if self.prefix else ""
        cells = [[Text(self._inline(cell), HEAD_CELL) for cell in table.header]]
        cells += [[Text(self._inline(cell), CELL) for cell in row] for row in table.rows]
        style = TableStyle([
            ("BACKGROUND", (0, 0), (-1, 0), GREEN), ("GRID", (0, 0), (-1, -1), 0.5, RULE),
            ("VALIGN", (0, 0), (-1, -1), "TOP"), ("TOPPADDING", (0, 0), (-1, -1), 3),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 4), ("LEFTPADDING", (0, 0), (-1, -1), 5),
            ("RIGHTPADDING", (0, 0), (-1, -1), 5),
        ])  # fmt: skip
        grid = Grid(cells, colWidths=_widths(table), repeatRows=1, style=style, spaceAfter=11)
        return KeepTogether([Text(f"{name}{escape(table.caption)}", CAPTION), grid])


def _widths(table: Table) -> list[float]:
    """Column widths in points: by the longest cell, dampened, so that no code or figure is broken."""
    columns = list(zip(table.header, *table.rows, strict=True))
    weights = [min(60, max(6, *(len(cell) for cell in column))) ** 0.75 for column in columns]
    return [WIDTH * weight / sum(weights) for weight in weights]


def _draw_cover(canvas: Any, doc: _Manual) -> None:  # noqa: ARG001 (reportlab's signature)
    canvas.setFillColor(GREEN)
    canvas.rect(0, A4[1] - 52 * mm, A4[0], 52 * mm, stroke=0, fill=1)
    canvas.setFillColor(HexColor("#ffffff"))
    canvas.setFont("Helvetica-Bold", 20)
    canvas.drawString(SIDE, A4[1] - 33 * mm, "Larkfield Bank")
    canvas.setFillColor(RULE)
    canvas.rect(SIDE, 40 * mm, WIDTH, 0.8, stroke=0, fill=1)


def _draw_front(canvas: Any, doc: _Manual) -> None:
    _draw_foot(canvas, doc, ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")[doc.page])


def _start_body(canvas: Any, doc: _Manual) -> None:
    if not doc.front:
        doc.front = doc.page - 1
        canvas.addPageLabel(doc.front, "ARABIC", 1)


def _draw_body(canvas: Any, doc: _Manual) -> None:
    canvas.setFillColor(INK)
    canvas.setFont("Helvetica", 8)
    canvas.drawString(SIDE, A4[1] - 18 * mm, f"Larkfield Bank · Fraud Policy Manual, edition {doc.edition}")
    canvas.drawRightString(A4[0] - SIDE, A4[1] - 18 * mm, doc.chapter)
    canvas.setStrokeColor(RULE)
    canvas.setLineWidth(0.6)
    canvas.line(SIDE, A4[1] - 20 * mm, A4[0] - SIDE, A4[1] - 20 * mm)
    _draw_foot(canvas, doc, str(doc.page - doc.front))
    _draw_notes(canvas, doc.frame)


def _draw_notes(canvas: Any, frame: _NotedFrame) -> None:
    if not frame.notes:
        return
    y = BOTTOM + sum(note.height + 4 for note in frame.notes) - 2
    canvas.line(SIDE, y, SIDE + 45 * mm, y)
    for note in frame.notes:
        y -= note.height + 4
        note.drawOn(canvas, SIDE, y)


def _draw_foot(canvas: Any, doc: _Manual, label: str) -> None:
    canvas.setFillColor(INK)
    canvas.setFont("Helvetica", 8)
    canvas.drawString(SIDE, 15 * mm, f"Internal · in force from 1 January {doc.edition}")
    canvas.drawRightString(A4[0] - SIDE, 15 * mm, f"Page {label}")
