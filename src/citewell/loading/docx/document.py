"""DOCX: the body in document order. Word lays out pages when it is opened, so the file has none."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from lxml.etree import _Element

from citewell.errors import UnsupportedFormat
from citewell.loading.archive import check_archive
from citewell.loading.docx.numbering import value, w, whole_number
from citewell.loading.docx.styles import Styles
from citewell.loading.docx.tables import named_rows, own_rows
from citewell.loading.docx.text import NOTES, Reader, inside
from citewell.loading.office.ooxml import addresses
from citewell.loading.office.properties import core_properties
from citewell.loading.parsed import Details, Parsed, TextBuilder
from citewell.loading.tables import cell_text, table_text
from citewell.settings import Loading
from citewell.types import ElementKind

if TYPE_CHECKING:
    from docx.document import Document
    from docx.opc.part import Part

_MOST_SPANNED = 50
_MOST_JOINED = 3
"""Levels of nested tables whose cells are joined by commas; each copies what is below it."""
_BLOCKS = frozenset({w("p"), w("tbl")})
_CELLS = frozenset({w("tc")})


def load_docx(data: bytes, name: str, limits: Loading) -> Parsed:
    """Read headings, paragraphs, lists with their numbers, tables, text boxes and notes; not headers and comments.

    Text deleted in tracked changes is left out, and so is what no reader sees (hidden, white or tiny text), which makes
    the file suspicious. The title is the file's property, else the paragraph in Title style, else the file's name.

    Raises:
        LimitExceeded, PasswordNeeded, DamagedFile: see `check_archive`.
        UnsupportedFormat: a Word template or a document with macros.
    """
    import docx

    check_archive(data, limits)
    try:
        document = docx.Document(io.BytesIO(data))
    except ValueError as error:  # Its main part is of another type.
        raise UnsupportedFormat(
            "It is a Word template or holds macros.", remedy="Save it as a plain .docx and index that."
        ) from error
    reading = _Reading.of(document, limits)
    reading.take(document.element.body)
    properties = core_properties(data)
    title = properties.title or reading.title or PurePath(name).stem
    parsed = reading.builder.build(title, metadata=properties.metadata)
    return replace(parsed, suspicious=tuple(f"it holds {what}, left out" for what in reading.reader.unseen))


@dataclass(slots=True)
class _Reading:
    """What has been read of the body, and the list that is under way."""

    styles: Styles
    notes: dict[str, dict[str, _Element]]
    builder: TextBuilder
    reader: Reader = field(init=False)
    title: str = ""
    list_lines: list[str] = field(default_factory=list)
    links_due: list[str] = field(default_factory=list)
    notes_due: list[str] = field(default_factory=list)
    notes_seen: int = 0

    @classmethod
    def of(cls, document: Document, limits: Loading) -> _Reading:
        styles = Styles.read(document.styles.element, _related(document, "numbering"))
        reading = cls(styles, {kind: _notes(document, kind) for kind in NOTES.values()}, TextBuilder(limits))
        targets = {key: one.target_ref for key, one in document.part.rels.items() if one.is_external}
        on_white = document.element.find(w("background")) is None
        reading.reader = Reader(styles, targets, on_white, reading.mark_note)
        return reading

    def take(self, container: _Element) -> None:
        """Add the paragraphs and tables of the body, or of a text box or single cell, in order."""
        for block in inside(container, _BLOCKS):
            if block.tag == w("p"):
                self._add_paragraph(block)
            else:
                self._add_table(block)
        self._close_list()

    def _add_paragraph(self, paragraph: _Element) -> None:
        look = self.styles.look(paragraph)
        inline = self.reader.read(paragraph)
        text = inline.text
        if look.label and not look.level and text:
            self.links_due += inline.links
            self.list_lines.append("  " * look.depth + f"{look.label} {text}")
        elif text:
            self._close_list()
            if look.style == "title":
                self.title = self.title or text
            kind = ElementKind.CAPTION if look.style == "caption" else ElementKind.PARAGRAPH
            labelled = f"{look.label} {text}".strip()
            more = Details(links=addresses(inline.links))
            self.builder.add(ElementKind.HEADING if look.level else kind, labelled, level=look.level, more=more)
            self._add_notes()
        for box in inline.boxes:
            self._close_list()
            self.take(box)

    def _add_table(self, table: _Element) -> None:
        self._close_list()
        rows = [list(inside(row, _CELLS)) for row in own_rows(table)]
        if sum(map(len, rows)) == 1:
            # A frame around text.
            self.take(rows[0][0])
            return
        lines = [(row, cells) for row, cells in zip(own_rows(table), self._grid(table), strict=True) if any(cells)]
        named = named_rows(table, lines, self.styles)
        more = Details(header_rows=named, links=self._take_links())
        self.builder.add(ElementKind.TABLE, table_text(cells for _, cells in lines), more=more)
        self._add_notes()

    def _grid(self, table: _Element, depth: int = 0) -> Iterator[list[str]]:
        """Cells in their columns. A merged cell's text stands once, at its top left; the rest of it is empty."""
        for row in own_rows(table):
            line = [""] * min(whole_number(value(row, "trPr/gridBefore")), _MOST_SPANNED)
            for cell in inside(row, _CELLS):
                merge = cell.find(f"{w('tcPr')}/{w('vMerge')}")
                goes_on = merge is not None and merge.get(w("val"), "continue") == "continue"
                width = min(whole_number(value(cell, "tcPr/gridSpan"), 1), _MOST_SPANNED)
                line += ["" if goes_on else cell_text(self._pieces(cell, depth)), *[""] * (width - 1)]
            yield line

    def _pieces(self, cell: _Element, depth: int) -> Iterator[str]:
        for block in inside(cell, _BLOCKS):
            if block.tag == w("tbl"):
                yield from self._nested(block, depth + 1)
                continue
            look = self.styles.look(block)
            inline = self.reader.read(block)
            self.links_due += inline.links
            if inline.text:
                yield f"{look.label} {inline.text}" if look.label != "-" else inline.text
            for box in inline.boxes:
                yield from self._pieces(box, depth)

    def _nested(self, table: _Element, depth: int) -> Iterator[str]:
        if depth <= _MOST_JOINED:
            for cells in self._grid(table, depth):
                yield ", ".join(filter(None, cells))
            return
        for row in own_rows(table):
            for cell in inside(row, _CELLS):
                yield from self._pieces(cell, depth)

    def mark_note(self, kind: str, note_id: str) -> str:
        """Number a foot or end note, and keep its text until the paragraph, list or table around it is complete."""
        note = self.notes[kind].pop(note_id, None)
        if note is None:
            return ""
        self.notes_seen += 1
        mark = f"[{self.notes_seen}]"
        text = " ".join(self.reader.read(paragraph).text for paragraph in note.iterfind(w("p")))
        self.notes_due.append(f"{mark} {text}")
        return mark

    def _add_notes(self) -> None:
        for note in self.notes_due:
            self.builder.add(ElementKind.FOOTNOTE, note)
        self.notes_due = []

    def _take_links(self) -> tuple[str, ...]:
        links, self.links_due = self.links_due, []
        return addresses(links)

    def _close_list(self) -> None:
        self.builder.add(ElementKind.LIST, "\n".join(self.list_lines), more=Details(links=self._take_links()))
        self.list_lines = []
        self._add_notes()


def _part(document: Document, kind: str) -> Part | None:
    """A part by the last word of its relationship; asking python-docx for it would make one where there is none."""
    for relationship in document.part.rels.values():
        if relationship.reltype.rsplit("/", 1)[-1] == kind and not relationship.is_external:
            target: Part = relationship.target_part
            return target
    return None


def _related(document: Document, kind: str) -> _Element | None:
    from docx.oxml.parser import parse_xml

    part = _part(document, kind)
    return None if part is None else parse_xml(part.blob)


def _notes(document: Document, kind: str) -> dict[str, _Element]:
    root = _related(document, kind)
    if root is None:
        return {}
    # Those with a type are the lines that separate notes from text.
    return {note.get(w("id"), ""): note for note in root if note.get(w("type"), "normal") == "normal"}
