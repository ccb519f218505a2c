"""DOCX: the body in document order. Word lays out pages when it is opened, so the file has none."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

from lxml.etree import _Element

from citewell.errors import UnsupportedFormat
from citewell.loading.archive import check_archive
from citewell.loading.docx_numbering import value, w, whole_number
from citewell.loading.docx_styles import Styles
from citewell.loading.parsed import Parsed, TextBuilder
from citewell.loading.tables import cell_text, table_text
from citewell.settings import Loading
from citewell.types import ElementKind

if TYPE_CHECKING:
    from docx.document import Document
    from docx.opc.part import Part

_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
# Deleted or moved away in tracked changes; or a second copy of a drawing for old programs.
_LEFT_OUT = frozenset({w("del"), w("moveFrom"), w("pPr"), w("rPr"), f"{_COMPATIBILITY}Fallback"})
_TEXT = frozenset({w("t"), f"{_MATH}t"})
_SIGNS = {w("tab"): "\t", w("br"): "\n", w("cr"): "\n", w("noBreakHyphen"): "-"}
_NOTES = {w("footnoteReference"): "footnotes", w("endnoteReference"): "endnotes"}
_MOST_SPANNED = 50


def load_docx(data: bytes, name: str, limits: Loading) -> Parsed:
    """Read headings, paragraphs, lists with their numbers, tables, text boxes and notes; not headers and comments.

    Text that is hidden or deleted in tracked changes is left out: a reader does not see it. The title is the file's
    property, else the paragraph in Title style, else the file's name.

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
    notes = {kind: _notes(document, kind) for kind in _NOTES.values()}
    reading = _Reading(
        Styles.read(document.styles.element, _related(document, "numbering")), notes, TextBuilder(limits)
    )
    reading.take(document.element.body)
    return reading.builder.build(_title_property(document) or reading.title or PurePath(name).stem)


@dataclass(slots=True)
class _Inline:
    """The text of a paragraph, and the text boxes that hang on it."""

    parts: list[str] = field(default_factory=list)
    boxes: list[_Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.parts).strip()


@dataclass(slots=True)
class _Reading:
    """What has been read of the body, and the list that is under way."""

    styles: Styles
    notes: dict[str, dict[str, _Element]]
    builder: TextBuilder
    title: str = ""
    list_lines: list[str] = field(default_factory=list)
    notes_due: list[str] = field(default_factory=list)
    notes_seen: int = 0

    def take(self, container: _Element) -> None:
        """Add the paragraphs and tables of the body, or of a text box or single cell, in order."""
        for block in _inside(container, {w("p"), w("tbl")}):
            if block.tag == w("p"):
                self._add_paragraph(block)
            else:
                self._add_table(block)
        self._close_list()

    def _add_paragraph(self, paragraph: _Element) -> None:
        look = self.styles.look(paragraph)
        inline = _read_inline(paragraph, _Inline(), self)
        text = inline.text
        if look.label and not look.level and text:
            self.list_lines.append("  " * look.depth + f"{look.label} {text}")
        elif text:
            self._close_list()
            if look.style == "title":
                self.title = self.title or text
            kind = ElementKind.CAPTION if look.style == "caption" else ElementKind.PARAGRAPH
            labelled = f"{look.label} {text}".strip()
            self.builder.add(ElementKind.HEADING if look.level else kind, labelled, level=look.level)
            self._add_notes()
        for box in inline.boxes:
            self._close_list()
            self.take(box)

    def _add_table(self, table: _Element) -> None:
        self._close_list()
        rows = [list(_inside(row, {w("tc")})) for row in _rows(table)]
        if sum(map(len, rows)) == 1:
            # A frame around text.
            self.take(rows[0][0])
            return
        self.builder.add(ElementKind.TABLE, table_text(self._grid(table)))
        self._add_notes()

    def _grid(self, table: _Element) -> Iterator[list[str]]:
        """Cells in their columns. A merged cell's text stands once, at its top left; the rest of it is empty."""
        for row in _rows(table):
            line = [""] * min(whole_number(value(row, "trPr/gridBefore")), _MOST_SPANNED)
            for cell in _inside(row, {w("tc")}):
                merge = cell.find(f"{w('tcPr')}/{w('vMerge')}")
                goes_on = merge is not None and merge.get(w("val"), "continue") == "continue"
                width = min(whole_number(value(cell, "tcPr/gridSpan"), 1), _MOST_SPANNED)
                line += ["" if goes_on else self._cell(cell), *[""] * (width - 1)]
            yield line

    def _cell(self, cell: _Element) -> str:
        return cell_text(self._pieces(cell))

    def _pieces(self, cell: _Element) -> Iterator[str]:
        for block in _inside(cell, {w("p"), w("tbl")}):
            if block.tag == w("tbl"):
                for row in self._grid(block):
                    yield ", ".join(filter(None, row))
                continue
            look = self.styles.look(block)
            inline = _read_inline(block, _Inline(), self)
            if inline.text:
                yield f"{look.label} {inline.text}" if look.label != "-" else inline.text
            for box in inline.boxes:
                yield from self._pieces(box)

    def mark_note(self, kind: str, note_id: str) -> str:
        """Number a foot or end note, and keep its text until the paragraph, list or table around it is complete."""
        note = self.notes[kind].pop(note_id, None)
        if note is None:
            return ""
        self.notes_seen += 1
        mark = f"[{self.notes_seen}]"
        text = " ".join(_read_inline(paragraph, _Inline(), self).text for paragraph in note.iterfind(w("p")))
        self.notes_due.append(f"{mark} {text}")
        return mark

    def _add_notes(self) -> None:
        for note in self.notes_due:
            self.builder.add(ElementKind.FOOTNOTE, note)
        self.notes_due = []

    def _close_list(self) -> None:
        self.builder.add(ElementKind.LIST, "\n".join(self.list_lines))
        self.list_lines = []
        self._add_notes()


def _read_inline(element: _Element, into: _Inline, reading: _Reading) -> _Inline:
    for child in element:
        if child.tag in _LEFT_OUT or (child.tag == w("r") and _is_hidden(child)):
            continue
        if child.tag in _TEXT:
            into.parts.append(child.text or "")
        elif child.tag in _SIGNS:
            into.parts.append(_SIGNS[child.tag])
        elif child.tag in _NOTES:
            into.parts.append(reading.mark_note(_NOTES[child.tag], child.get(w("id"), "")))
        elif child.tag == w("txbxContent"):
            into.boxes.append(child)
        else:
            _read_inline(child, into, reading)
    return into


def _is_hidden(run: _Element) -> bool:
    vanish = run.find(f"{w('rPr')}/{w('vanish')}")
    return vanish is not None and vanish.get(w("val"), "true") not in {"0", "false", "off"}


def _inside(container: _Element, wanted: set[str]) -> Iterator[_Element]:
    """The wanted children, also inside content controls, tracked insertions and the like, but not in each other."""
    for child in container:
        if child.tag in wanted:
            yield child
        elif child.tag not in _LEFT_OUT:
            yield from _inside(child, wanted)


def _rows(table: _Element) -> Iterator[_Element]:
    for row in _inside(table, {w("tr")}):
        if row.find(f"{w('trPr')}/{w('del')}") is None:
            yield row


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


def _title_property(document: Document) -> str:
    relationships = document.part.package.rels.values() if document.part.package else ()
    if any(one.reltype.endswith("/metadata/core-properties") for one in relationships):
        return " ".join(document.core_properties.title.split())
    return ""
