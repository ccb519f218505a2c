"""XLSX: cells as they are stored, read row by row, so that neither a large sheet nor a false size costs memory."""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import IO

from lxml import etree

from citewell.loading.office.ooxml import Relation, addresses, parse_part, relations
from citewell.loading.sheets.model import Area, Cell, CellCount, Sheet
from citewell.loading.sheets.numbers import BUILT_IN, GENERAL, shown
from citewell.types import PageState

_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?([1-9]\d{0,6})")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_LAST_ROW, _LAST_COLUMN = 1_048_575, 16_383
_YES = frozenset({"1", "true"})
_READ_TAGS = ("row", "col", "mergeCell", "hyperlink", "pane", "autoFilter")


def read_xlsx(archive: zipfile.ZipFile) -> Iterator[Sheet]:
    """The sheets in their order; hidden ones unread.

    Raises:
        LimitExceeded: more cells than fit in memory.
        etree.XMLSyntaxError: the workbook, its strings or its styles do not parse. A sheet that does not is FAILED.
    """
    main = next((one.target for one in relations(archive).values() if one.kind == "officeDocument"), "xl/workbook.xml")
    parts = relations(archive, main)
    root = parse_part(archive.read(main))
    properties = root.find("{*}workbookPr")
    book = _Book(
        archive=archive,
        strings=_strings(archive, _part(archive, parts, "sharedStrings")),
        styles=_styles(archive, _part(archive, parts, "styles")),
        from_1904=properties is not None and properties.get("date1904") in _YES,
        count=CellCount(),
    )
    for entry in root.iterfind("{*}sheets/{*}sheet"):
        yield _sheet(book, entry, parts)


@dataclass(frozen=True, slots=True)
class _Style:
    code: str = GENERAL
    bold: bool = False


_PLAIN = _Style()
_NOTHING = etree.Element("v")


@dataclass(frozen=True, slots=True)
class _Book:
    """What all sheets of a file share."""

    archive: zipfile.ZipFile
    strings: list[str]
    styles: list[_Style]
    from_1904: bool
    count: CellCount


def _sheet(book: _Book, entry: etree._Element, parts: dict[str, Relation]) -> Sheet:
    sheet = Sheet(entry.get("name", ""))
    part = next((parts[value] for key, value in entry.items() if key.endswith("}id") and value in parts), None)
    if entry.get("state", "visible") != "visible":
        return replace(sheet, state=PageState.SKIPPED, reason="it is a hidden sheet")
    if part is not None and part.kind != "worksheet":
        return replace(sheet, state=PageState.SKIPPED, reason=f"it is a {part.kind}, without cells")
    if part is None or part.target not in book.archive.namelist():
        return replace(sheet, state=PageState.FAILED, reason="its part is missing")
    try:
        _read(book, part.target, sheet)
    except etree.XMLSyntaxError as error:
        return Sheet(sheet.name, state=PageState.FAILED, reason=f"it does not parse ({error.msg})")
    return sheet


def _read(book: _Book, part: str, sheet: Sheet) -> None:
    """Fill `sheet`, an element at a time: what has been read is let go."""
    related = relations(book.archive, part)
    links: dict[tuple[int, int], str] = {}
    row_number = -1
    with book.archive.open(part) as stream:
        for element in _elements(stream, _READ_TAGS):
            match etree.QName(element).localname:
                case "row":
                    row_number = _number(element.get("r"), row_number + 2) - 1
                    _add_row(book, sheet, element, row_number)
                case "col":
                    if _is_hidden(element, "width"):
                        span = _number(element.get("min"), 1) - 1, _number(element.get("max"), 0) - 1
                        sheet.hidden_columns.append(span)
                case "mergeCell":
                    sheet.merged.extend(_area(element.get("ref", "")))
                case "autoFilter":
                    sheet.named.extend(area._replace(bottom=area.top) for area in _area(element.get("ref", "")))
                case "pane":
                    if element.get("state", "").startswith("frozen") and element.get("ySplit") is not None:
                        sheet.named.append(Area(0, 0, _number(element.get("ySplit"), 0) - 1, _LAST_COLUMN))
                case "hyperlink":
                    _add_link(links, element, related)
    for table in (one.target for one in related.values() if one.kind == "table"):
        sheet.named.extend(_table_header(book.archive, table))
    if links:
        sheet.cells = [replace(cell, link=links.get((cell.row, cell.column), "")) for cell in sheet.cells]


def _elements(stream: IO[bytes], names: tuple[str, ...]) -> Iterator[etree._Element]:
    """The elements of these names when they are complete; they are emptied, and forgotten, after use."""
    tags = [f"{{*}}{name}" for name in names]
    for _, element in etree.iterparse(stream, tag=tags, resolve_entities=False, no_network=True, remove_comments=True):
        yield element
        element.clear()
        parent = element.getparent()
        while parent is not None and element.getprevious() is not None:
            del parent[0]


def _add_row(book: _Book, sheet: Sheet, row: etree._Element, number: int) -> None:
    if _is_hidden(row, "ht"):
        sheet.hidden_rows.append((number, number))
    column = -1
    before = len(sheet.cells)
    for entry in row.iterchildren("{*}c"):
        place = _REFERENCE.fullmatch(entry.get("r", ""))
        column = _column(place[1]) if place else column + 1
        parts = {child.tag.rpartition("}")[2]: child for child in entry}
        style = book.styles[at] if (at := _index(entry.get("s"), book.styles)) is not None else _PLAIN
        kind = entry.get("t", "n")
        text = _shown(book, kind, parts, style.code)
        sheet.unknown += kind == "s" and _index((parts.get("v", _NOTHING).text or "").strip(), book.strings) is None
        uncomputed = "f" in parts and kind == "n" and not parts.get("v", _NOTHING).text
        sheet.uncomputed += uncomputed
        if text.strip() or uncomputed:
            sheet.cells.append(Cell(number, column, text, style.bold))
    book.count.add(len(sheet.cells) - before)


def _shown(book: _Book, kind: str, parts: dict[str, etree._Element], code: str) -> str:
    """What a cell shows, "" for nothing."""
    if kind == "inlineStr":
        return _text(parts["is"]) if "is" in parts else ""
    value = (parts["v"].text or "") if "v" in parts else ""
    if kind == "s":
        at = _index(value.strip(), book.strings)
        return "" if at is None else book.strings[at]
    if kind == "b":
        return "TRUE" if value == "1" else "FALSE"
    if kind == "n":
        return _shown_number(value, code, book.from_1904)
    # An ISO date; or the text of a formula, an error such as #REF!
    return value.removesuffix("T00:00:00").replace("T", " ") if kind == "d" else _unescaped(value)


def _shown_number(value: str, code: str, from_1904: bool) -> str:
    try:
        number = float(value)
    except ValueError:
        return value
    return shown(number, code, from_1904) if math.isfinite(number) else value


def _add_link(links: dict[tuple[int, int], str], element: etree._Element, related: dict[str, Relation]) -> None:
    areas = _area(element.get("ref", ""))
    targets = [related[value].target for key, value in element.items() if key.endswith("}id") and value in related]
    if areas and (found := addresses(targets)):
        links[areas[0].top, areas[0].left] = found[0]


def _table_header(archive: zipfile.ZipFile, part: str) -> list[Area]:
    if part not in archive.namelist():
        return []
    table = parse_part(archive.read(part))
    height = _number(table.get("headerRowCount"), 1)
    return [area._replace(bottom=area.top + height - 1) for area in _area(table.get("ref", "")) if height]


def _strings(archive: zipfile.ZipFile, part: str | None) -> list[str]:
    if part is None:
        return []
    with archive.open(part) as stream:
        return [_text(item) for item in _elements(stream, ("si",))]


def _styles(archive: zipfile.ZipFile, part: str | None) -> list[_Style]:
    if part is None:
        return []
    root = parse_part(archive.read(part))
    codes = dict(BUILT_IN)
    for form in root.iterfind("{*}numFmts/{*}numFmt"):
        codes[_number(form.get("numFmtId"), -1)] = form.get("formatCode", GENERAL)
    bold = [_is_bold(font) for font in root.iterfind("{*}fonts/{*}font")]
    return [
        _Style(
            codes.get(_number(style.get("numFmtId"), 0), GENERAL),
            (at := _index(style.get("fontId"), bold)) is not None and bold[at],
        )
        for style in root.iterfind("{*}cellXfs/{*}xf")
    ]


def _is_bold(font: etree._Element) -> bool:
    bold = font.find("{*}b")
    return bold is not None and bold.get("val", "1") in _YES


def _text(item: etree._Element) -> str:
    """A string with its runs joined, without the reading aids of Japanese text."""
    parts = (text.text or "" for text in item.iter("{*}t") if not str(text.getparent().tag).endswith("}rPh"))
    return _unescaped("".join(parts))


def _unescaped(text: str) -> str:
    """ECMA-376 part 1, 22.4.2.4: signs that XML cannot hold are written as `_x000D_`."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text).replace("\r", "") if "_x" in text else text


def _part(archive: zipfile.ZipFile, parts: dict[str, Relation], kind: str) -> str | None:
    found = next((one.target for one in parts.values() if one.kind == kind), None)
    return found if found in archive.namelist() else None


def _area(reference: str) -> list[Area]:
    """The cells of "B2:C4" or "B2"; [] where it is no reference."""
    corners = [_REFERENCE.fullmatch(corner) for corner in reference.split(":")]
    first, last = corners[0], corners[-1]
    if first is None or last is None:
        return []
    area = Area(int(first[2]) - 1, _column(first[1]), int(last[2]) - 1, _column(last[1]))
    return [area] if area.top <= area.bottom <= _LAST_ROW and area.left <= area.right <= _LAST_COLUMN else []


def _column(letters: str) -> int:
    """0 for A, 26 for AA."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _is_hidden(line: etree._Element, size: str) -> bool:
    return line.get("hidden") in _YES or line.get(size) == "0"


def _number(text: str | None, default: int) -> int:
    return int(text) if text and re.fullmatch(r"\d{1,7}", text) else default


def _index(text: str | None, into: Sequence[object]) -> int | None:
    at = _number(text, len(into))
    return at if at < len(into) else None
