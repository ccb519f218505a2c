"""The Dispute Handling Procedures as a Word file, set from the same markup as the manual."""

from __future__ import annotations

import re
import zipfile
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from docx import Document
from docx.oxml.ns import qn
from docx.shared import Pt, RGBColor

from source.markup import Block, Heading, Items, Note, Paragraph, Table

ISSUED = datetime(2026, 1, 19, 9, 0, 0)  # noqa: DTZ001 (Word's properties have no time zone)


def write(path: Path, blocks: list[Block]) -> None:
    """Write the blocks with Word's own heading, list and table styles."""
    document = Document()
    _style(document)
    document.add_heading("Dispute Handling Procedures", 0)
    document.add_paragraph("Larkfield Bank plc · Disputes Team · version 3.2 of 19 January 2026", style="Subtitle")
    for block in blocks:
        _add(document, block)
    memory = BytesIO()
    document.save(memory)
    _rewrite(memory, path)


def _style(document: Any) -> None:
    normal = document.styles["Normal"]
    normal.font.name, normal.font.size = "Calibri", Pt(11)
    for level in (1, 2, 3):
        document.styles[f"Heading {level}"].font.color.rgb = RGBColor(0x1F, 0x5C, 0x4A)
    properties = document.core_properties
    properties.title, properties.author = "Dispute Handling Procedures", "Larkfield Bank, Disputes Team"
    properties.created = properties.modified = ISSUED
    properties.comments, properties.version, properties.last_modified_by = "", "3.2", "Disputes Team"


def _add(document: Any, block: Block) -> None:
    match block:
        case Heading(level=level, text=text):
            document.add_heading(text, level)
        case Paragraph(text=text):
            _runs(document.add_paragraph(), text)
        case Note(text=text):
            _runs(document.add_paragraph(style="Intense Quote"), text)
        case Items(items=items, numbered=True):
            _numbered(document, items)
        case Items(items=items):
            for item in items:
                _runs(document.add_paragraph(style="List Bullet"), item)
        case Table():
            _table(document, block)


def _numbered(document: Any, items: tuple[str, ...]) -> None:
    """A numbered list that starts at 1: each list gets a numbering of its own over the style's definition."""
    numbering = document.part.numbering_part.numbering_definitions._numbering
    style = document.styles["List Number"]
    abstract = numbering.num_having_numId(style.element.pPr.numPr.numId.val).abstractNumId.val
    fresh = numbering.add_num(abstract)
    fresh.add_lvlOverride(ilvl=0).add_startOverride(1)
    for item in items:
        paragraph = document.add_paragraph(style="List Number")
        paragraph._p.get_or_add_pPr().get_or_add_numPr().get_or_add_numId().val = fresh.numId
        _runs(paragraph, item)


def _table(document: Any, block: Table) -> None:
    document.add_paragraph(block.caption, style="Caption").paragraph_format.keep_with_next = True
    table = document.add_table(rows=1, cols=len(block.header), style="Light Grid Accent 3")
    for row, cells in enumerate((block.header, *block.rows)):
        target = table.rows[0] if row == 0 else table.add_row()
        for cell, text in zip(target.cells, cells, strict=True):
            cell.text = text
    repeat = table.rows[0]._tr.get_or_add_trPr()
    repeat.append(repeat.makeelement(qn("w:tblHeader"), {qn("w:val"): "true"}))
    document.add_paragraph()


def _runs(paragraph: Any, text: str) -> None:
    for part in re.split(r"(\*\*.+?\*\*)", text):
        if part:
            paragraph.add_run(part.strip("*")).bold = True if part.startswith("**") else None


def _rewrite(source: BytesIO, path: Path) -> None:
    """The same archive with fixed times: its bytes depend on no clock."""
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as fixed:
        for name in archive.namelist():
            entry = zipfile.ZipInfo(name, (2026, 1, 19, 9, 0, 0))
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            fixed.writestr(entry, archive.read(name), zipfile.ZIP_DEFLATED)
