"""ODS: cells with the text that the program showed when it saved them, read row by row."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from lxml import etree

from citewell.errors import PasswordNeeded
from citewell.loading.office.ooxml import addresses, parse_part
from citewell.loading.office.properties import Properties, iso_day
from citewell.loading.sheets.model import Area, Cell, CellCount, Sheet
from citewell.types import PageState

_NAMES = "urn:oasis:names:tc:opendocument:xmlns:"
_OFFICE, _TABLE, _TEXT, _STYLE, _META = (
    f"{{{_NAMES}{name}:1.0}}" for name in ("office", "table", "text", "style", "meta")
)
_WEIGHT = f"{{{_NAMES}xsl-fo-compatible:1.0}}font-weight"
_ADDRESS = "{http://www.w3.org/1999/xlink}href"
_CREATOR, _DATE, _TITLE = (f"{{http://purl.org/dc/elements/1.1/}}{name}" for name in ("creator", "date", "title"))
_SIGNS = {f"{_TEXT}s": " ", f"{_TEXT}tab": " ", f"{_TEXT}line-break": " "}
_TABLES = f"{_TABLE}table"
_ROW = f"{_TABLE}table-row"
_COLUMN = f"{_TABLE}table-column"
_CELL = f"{_TABLE}table-cell"
_COVERED = f"{_TABLE}covered-table-cell"
_HEADER = f"{_TABLE}table-header-rows"
_ONE_STYLE = f"{_STYLE}style"
_LAST = 1_048_575


def read_ods(archive: zipfile.ZipFile) -> Iterator[Sheet]:
    """The sheets in their order; hidden ones unread.

    Raises:
        PasswordNeeded: its parts are encrypted.
        LimitExceeded: more cells than fit in memory.
        etree.XMLSyntaxError: it does not parse.
    """
    manifest = "META-INF/manifest.xml"
    if manifest in archive.namelist() and b"encryption-data" in archive.read(manifest):
        raise PasswordNeeded("It is a spreadsheet with a password.", remedy="Save a copy without it and index that.")
    reading = _Reading()
    with archive.open("content.xml") as stream:
        events = etree.iterparse(
            stream,
            events=("start", "end"),
            tag=(_TABLES, _ROW, _COLUMN, _HEADER, _ONE_STYLE),
            resolve_entities=False,
            no_network=True,
            remove_comments=True,
        )
        for event, element in events:
            if event == "start":
                reading.start(element)
            elif (finished := reading.end(element)) is not None:
                yield finished


def ods_properties(archive: zipfile.ZipFile) -> Properties:
    """Title, author and days of an OpenDocument file; nothing where it has none or they are broken."""
    if "meta.xml" not in archive.namelist():
        return Properties()
    try:
        root = parse_part(archive.read("meta.xml"))
    except etree.XMLSyntaxError:  # They are no reason to refuse the text.
        return Properties()
    written = {str(one.tag): " ".join((one.text or "").split())[:500] for one in root.iter(etree.Element)}
    found = {
        "author": written.get(f"{_META}initial-creator") or written.get(_CREATOR, ""),
        "created": iso_day(written.get(f"{_META}creation-date", "")),
        "modified": iso_day(written.get(_DATE, "")),
    }
    return Properties(written.get(_TITLE, ""), {key: value for key, value in found.items() if value})


@dataclass(slots=True)
class _Reading:
    """What is known on the way through a document: its styles come before its sheets."""

    count: CellCount = field(default_factory=CellCount)
    hidden_styles: set[str] = field(default_factory=set)
    bold_styles: set[str] = field(default_factory=set)
    sheet: Sheet = field(default_factory=lambda: Sheet(""))
    depth: int = 0
    row: int = 0
    column: int = 0
    header_from: int = 0

    def start(self, element: etree._Element) -> None:
        if element.tag == _TABLES:
            self.depth += 1
            if self.depth == 1:
                self.sheet = self._begin(element)
        elif element.tag == _HEADER:
            self.header_from = self.row

    def end(self, element: etree._Element) -> Sheet | None:
        """The sheet that ends here, if one does."""
        finished = None
        if element.tag == _TABLES:
            self.depth -= 1
            finished = self.sheet if self.depth == 0 else None
        elif element.tag == _ONE_STYLE:
            self._learn(element)
        elif self.depth == 1 and self.sheet.state is PageState.TEXT:
            self._take(element)
        # A table inside a cell is part of a row that is still to be read.
        if self.depth == 0 or (self.depth == 1 and element.tag != _TABLES):
            _forget(element)
        return finished

    def _begin(self, element: etree._Element) -> Sheet:
        self.row = self.column = 0
        sheet = Sheet(element.get(f"{_TABLE}name", ""))
        if element.get(f"{_TABLE}style-name") in self.hidden_styles:
            return replace(sheet, state=PageState.SKIPPED, reason="it is a hidden sheet")
        return sheet

    def _learn(self, style: etree._Element) -> None:
        name = style.get(f"{_STYLE}name", "")
        if any(one.get(f"{_TABLE}display") == "false" for one in style.iterchildren(f"{_STYLE}table-properties")):
            self.hidden_styles.add(name)
        if any(one.get(_WEIGHT) == "bold" for one in style.iterchildren(f"{_STYLE}text-properties")):
            self.bold_styles.add(name)

    def _take(self, element: etree._Element) -> None:
        if element.tag == _HEADER:
            self.sheet.named.append(Area(self.header_from, 0, self.row - 1, _LAST))
        elif element.tag == _COLUMN:
            width = _number(element.get(f"{_TABLE}number-columns-repeated"))
            if _is_hidden(element):
                self.sheet.hidden_columns.append((self.column, self.column + width - 1))
            self.column += width
        elif element.tag == _ROW:
            height = _number(element.get(f"{_TABLE}number-rows-repeated"))
            if _is_hidden(element):
                self.sheet.hidden_rows.append((self.row, self.row + height - 1))
            self._take_cells(element, height)
            self.row += height

    def _take_cells(self, row: etree._Element, height: int) -> None:
        column = 0
        for entry in row.iterchildren(_CELL, _COVERED):
            width = _number(entry.get(f"{_TABLE}number-columns-repeated"))
            text = _shown(entry) if entry.tag == _CELL else ""
            if text:
                self.count.add(height * width)
                self._add(entry, text, column, (height, width))
            column += width

    def _add(self, entry: etree._Element, text: str, column: int, repeated: tuple[int, int]) -> None:
        links = addresses(one.get(_ADDRESS, "") for one in entry.iter(f"{_TEXT}a"))
        cell = Cell(
            self.row, column, text, entry.get(f"{_TABLE}style-name") in self.bold_styles, links[0] if links else ""
        )
        height, width = repeated
        self.sheet.cells += [
            replace(cell, row=cell.row + down, column=cell.column + right)
            for down in range(height)
            for right in range(width)
        ]
        over = _number(entry.get(f"{_TABLE}number-columns-spanned"))
        down = _number(entry.get(f"{_TABLE}number-rows-spanned"))
        if over > 1 or down > 1:
            self.sheet.merged.append(Area(cell.row, column, cell.row + down - 1, column + over - 1))


def _shown(entry: etree._Element) -> str:
    """The text of a cell, as the program that saved it showed it; a day as ISO 8601 has it."""
    day: str = entry.get(f"{_OFFICE}date-value", "")
    if day:
        return day.removesuffix("T00:00:00").replace("T", " ")
    lines = [" ".join("".join(_runs(one)).split()) for one in entry.iterchildren(f"{_TEXT}p")]
    value: str = entry.get(f"{_OFFICE}value", "")
    return " ".join(filter(None, lines)) or value


def _runs(paragraph: etree._Element) -> Iterator[str]:
    for event, element in etree.iterwalk(paragraph, events=("start", "end")):
        if event == "start":
            yield _SIGNS.get(element.tag, element.text or "")
        elif element is not paragraph:
            yield element.tail or ""


def _forget(element: etree._Element) -> None:
    """Free what has been read; the document as a whole would take many times its size."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def _is_hidden(line: etree._Element) -> bool:
    visibility: str = line.get(f"{_TABLE}visibility", "visible")
    return visibility != "visible"


def _number(text: str | None) -> int:
    return int(text) if text and re.fullmatch(r"[1-9]\d{0,6}", text) else 1
