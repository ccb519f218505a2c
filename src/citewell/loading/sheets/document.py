"""Spreadsheets (XLSX, ODS): a page a sheet, its cells divided into the tables that stand on it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath

from citewell.errors import UnsupportedFormat
from citewell.loading.archive import check_archive
from citewell.loading.bounds import check_pages
from citewell.loading.office.properties import core_properties
from citewell.loading.parsed import Details, Parsed, TextBuilder
from citewell.loading.sheets.model import Sheet, without_hidden
from citewell.loading.sheets.ods import ods_properties, read_ods
from citewell.loading.sheets.tables import Block, blocks
from citewell.loading.sheets.xlsx import read_xlsx
from citewell.loading.tables import table_text
from citewell.settings import Loading
from citewell.types import ElementKind, PageState


def load_sheets(data: bytes, name: str, limits: Loading) -> Parsed:
    """Read the sheets that are shown, as their reader sees them: results of formulas, numbers in their formats.

    Hidden sheets, rows and columns are left out, as are comments and charts. The text of a merged cell is repeated in
    the rows and columns it covers. The title is the file's property, else its name.

    Raises:
        LimitExceeded, PasswordNeeded, DamagedFile: see `check_archive`.
        UnsupportedFormat: a binary workbook (XLS, XLSB): what is known to read them tells neither number formats nor
            what is hidden.
    """
    if not zipfile.is_zipfile(io.BytesIO(data)):
        raise _binary()
    check_archive(data, limits)
    builder = TextBuilder(limits)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = set(archive.namelist())
        if "content.xml" in parts:
            sheets, properties = read_ods(archive), ods_properties(archive)
        elif "xl/workbook.bin" in parts:
            raise _binary()
        else:
            sheets, properties = read_xlsx(archive), core_properties(data)
        uncomputed = unknown = 0
        for number, sheet in enumerate(sheets, start=1):
            check_pages(number, limits)
            _add(builder, sheet, number)
            uncomputed += sheet.uncomputed
            unknown += sheet.unknown
    parsed = builder.build(properties.title or PurePath(name).stem, metadata=properties.metadata)
    lost = (
        f"{uncomputed:,} formulas are stored without a result" if uncomputed else "",
        f"{unknown:,} cells show text that is missing in the file" if unknown else "",
    )
    return replace(parsed, lost=tuple(filter(None, lost)))


def _binary() -> UnsupportedFormat:
    return UnsupportedFormat(
        "It is a binary workbook (XLS or XLSB), which cannot be read yet.", remedy="Save it as XLSX and index that."
    )


def _add(builder: TextBuilder, read: Sheet, number: int) -> None:
    sheet, hidden = without_hidden(read)
    state, reason = sheet.state, sheet.reason
    if hidden:
        reason = f"{hidden:,} cells in hidden rows or columns are left out"
    if state is PageState.TEXT and not sheet.cells:
        state = PageState.SKIPPED if hidden else PageState.BLANK
    builder.start_page(number, sheet.name, state, reason)
    if not sheet.cells:
        return
    builder.add(ElementKind.HEADING, sheet.name)
    for block in blocks(sheet):
        for kind, text, more in _pieces(block):
            builder.add(kind, text, path=(sheet.name,), more=more)


def _pieces(block: Block) -> Iterator[tuple[ElementKind, str, Details]]:
    yield ElementKind.CAPTION, "\n".join(block.caption), Details()
    if block.is_table:
        yield ElementKind.TABLE, table_text(block.rows), Details(header_rows=block.header_rows, links=block.links)
    else:
        yield ElementKind.PARAGRAPH, "\n".join(filter(None, map("".join, block.rows))), Details(links=block.links)
