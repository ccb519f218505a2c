from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.styles import Font
from openpyxl.worksheet.table import Table

from citewell.errors import LimitExceeded, PasswordNeeded, UnsupportedFormat
from citewell.loading.parsed import Parsed
from citewell.loading.sheets.document import load_sheets
from citewell.settings import Loading
from citewell.types import Element, ElementKind, PageState
from tests.loading.archives import edited
from tests.loading.checks import check_spans, of_kind, path_of, pieces

ROOT = Path(__file__).resolve().parents[2]
FILES = Path(os.environ.get("CITEWELL_SHARED", ROOT / ".." / "shared")).resolve() / "data" / "documents" / "files"
shared = pytest.mark.skipif(not FILES.is_dir(), reason="the shared documents are not there (CITEWELL_SHARED)")

Sheet = Any  # openpyxl has no types.


def saved(workbook: Any) -> bytes:
    target = io.BytesIO()
    workbook.save(target)
    return target.getvalue()


def read(*steps: Callable[[Sheet], object]) -> Parsed:
    workbook = openpyxl.Workbook()
    for step in steps:
        step(workbook.active)
    return load_sheets(saved(workbook), "fees.xlsx", Loading())


def rows(*lines: tuple[object, ...]) -> Callable[[Sheet], None]:
    def step(sheet: Sheet) -> None:
        for line in lines:
            sheet.append(line)

    return step


def tables(parsed: Parsed) -> list[Element]:
    return [element for element in parsed.elements if element.kind is ElementKind.TABLE]


@shared
def test_a_real_workbook_page_by_page() -> None:
    parsed = load_sheets((FILES / "xlsx_01.xlsx").read_bytes(), "xlsx_01.xlsx", Loading())
    check_spans(parsed)
    assert [(page.number, page.label, page.state) for page in parsed.pages] == [
        (1, "Sheet1", PageState.TEXT),
        (2, "Sheet2", PageState.TEXT),
        (3, "Sheet3", PageState.TEXT),
        (4, "Sheet4", PageState.SKIPPED),
    ]
    assert parsed.pages[3].reason == "it is a hidden sheet"
    assert parsed.metadata == {"author": "Peter Staar", "created": "2024-11-16", "modified": "2025-08-20"}
    second = [element for element in tables(parsed) if element.page == 2]
    assert [parsed.text[one.start : one.end].split("\n")[0] for one in second] == [
        "col-1 | col-2 | col-3 | col-4",
        "col-1 | col-2 | col-3",
        "col-1 | col-2 | col-3",
    ]
    assert [element.header_rows for element in tables(parsed)] == [1, 1, 1, 1, 2, 2]
    assert of_kind(parsed, ElementKind.TABLE)[4] == (
        "first | header | header\nfirst | second | third\n1 | 2 | 3\n3 | 4 | 5\n3 | 6 | 7\n8 | 9 | 9\n10 | 9 | 9"
    )


@shared
def test_a_false_size_costs_nothing() -> None:
    parsed = load_sheets((FILES / "xlsx_04_inflated.xlsx").read_bytes(), "x.xlsx", Loading())
    assert of_kind(parsed, ElementKind.TABLE)[0].startswith("first | second | third\n1 | 5 | 9\n")
    assert len(parsed.text) < 1_000


def test_cells_as_their_reader_sees_them() -> None:
    def fill(sheet: Sheet) -> None:
        values = (
            12.0,
            0.256,
            1234.5,
            date(2024, 2, 29),
            datetime.combine(date(2024, 2, 29), time(13, 5)),
            True,
            "#REF!",
            -3,
            0.1 + 0.2,
        )
        formats = (
            "General",
            "0.0%",
            '#,##0.00 "EUR"',
            "dd.mm.yy",
            "d/m/yy h:mm",
            "General",
            "General",
            "0;(0)",
            "General",
        )
        for at, (value, code) in enumerate(zip(values, formats, strict=True), start=1):
            sheet.cell(1, at, value).number_format = code
        sheet.cell(1, 7).data_type = "e"

    assert of_kind(read(fill), ElementKind.TABLE) == [
        "12 | 25.6% | 1,234.50 EUR | 2024-02-29 | 2024-02-29 13:05 | TRUE | #REF! | (3) | 0.3"
    ]


def test_formulas_give_their_stored_results() -> None:
    workbook = openpyxl.Workbook()
    workbook.active.append(["Total", "=1+1"])
    data = saved(workbook)
    part = "xl/worksheets/sheet1.xml"
    without = load_sheets(data, "x.xlsx", Loading())
    assert of_kind(without, ElementKind.TABLE) == ["Total"]
    assert without.lost == ("1 formulas are stored without a result",)
    calculated = load_sheets(edited(data, part, "<v></v>", "<v>2</v>"), "x.xlsx", Loading())
    assert of_kind(calculated, ElementKind.TABLE) == ["Total | 2"]
    assert calculated.lost == ()


def test_blank_rows_and_columns_divide_tables() -> None:
    parsed = read(
        rows(("A note",), (), ("Card", "Fee", None, "Code", "Days"), ("Debit", 1, None, "R-1", 30), ("Credit", 2)),
    )
    assert pieces(parsed) == [
        (ElementKind.HEADING, "Sheet"),
        (ElementKind.PARAGRAPH, "A note"),
        (ElementKind.TABLE, "Card | Fee\nDebit | 1\nCredit | 2"),
        (ElementKind.TABLE, "Code | Days\nR-1 | 30"),
    ]
    assert path_of(parsed, "Code") == ("Sheet",)
    assert [element.header_rows for element in tables(parsed)] == [1, 1]


def test_a_line_above_a_table_is_its_caption() -> None:
    def merge(sheet: Sheet) -> None:
        sheet.merge_cells("A1:C1")

    parsed = read(rows(("Fees of 2026",), ("per card",), ("Card", "Low", "High"), ("Debit", 1, 2)), merge)
    assert pieces(parsed)[1:] == [
        (ElementKind.CAPTION, "Fees of 2026\nper card"),
        (ElementKind.TABLE, "Card | Low | High\nDebit | 1 | 2"),
    ]


def test_merged_labels_are_repeated_and_bands_are_not() -> None:
    def merge(sheet: Sheet) -> None:
        for area in ("B1:C1", "A1:A2", "A4:A5", "A3:C3"):
            sheet.merge_cells(area)

    parsed = read(
        rows(("Card", "Fee"), (None, "Low", "High"), ("Europe",), ("Debit", 1, 2), (None, 3, 4)),
        merge,
    )
    assert of_kind(parsed, ElementKind.TABLE) == [
        "Card | Fee | Fee\nCard | Low | High\nEurope\nDebit | 1 | 2\nDebit | 3 | 4"
    ]
    assert tables(parsed)[0].header_rows == 2


def test_what_is_hidden_is_left_out_and_divides_nothing() -> None:
    def hide(sheet: Sheet) -> None:
        sheet.row_dimensions[3].hidden = True
        sheet.column_dimensions["B"].hidden = True

    parsed = read(rows(("Card", "secret", "Fee"), ("Debit", "s", 1), ("hidden", "s", 2), ("Credit", "s", 3)), hide)
    assert of_kind(parsed, ElementKind.TABLE) == ["Card | Fee\nDebit | 1\nCredit | 3"]
    assert (parsed.pages[0].state, parsed.pages[0].reason) == (
        PageState.TEXT,
        "6 cells in hidden rows or columns are left out",
    )


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_hidden_sheets_are_named_and_not_read(state: str) -> None:
    workbook = openpyxl.Workbook()
    workbook.active.append(["shown"])
    hidden = workbook.create_sheet("Salaries")
    hidden.append(["secret"])
    hidden.sheet_state = state
    workbook.create_sheet("Empty")
    parsed = load_sheets(saved(workbook), "x.xlsx", Loading())
    assert "secret" not in parsed.text
    assert [(page.label, page.state) for page in parsed.pages] == [
        ("Sheet", PageState.TEXT),
        ("Salaries", PageState.SKIPPED),
        ("Empty", PageState.BLANK),
    ]


def test_links_of_cells_that_lead_out() -> None:
    def link(sheet: Sheet) -> None:
        sheet["A2"].hyperlink = "https://example.org/debit"
        sheet["A3"].hyperlink = "javascript:alert(1)"

    parsed = read(rows(("Card", "Fee"), ("Debit", 1), ("Credit", 2)), link)
    assert tables(parsed)[0].links == ("https://example.org/debit",)


WORDS = rows(("Code", "Text"), ("a", "b"), ("c", "d"))


@pytest.mark.parametrize("declare", ["table", "filter", "frozen", "bold", ""])
def test_headers_of_words_are_known_where_they_are_declared(declare: str) -> None:
    def step(sheet: Sheet) -> None:
        if declare == "table":
            sheet.add_table(Table(displayName="codes", ref="A1:B3"))
        elif declare == "filter":
            sheet.auto_filter.ref = "A1:B3"
        elif declare == "frozen":
            sheet.freeze_panes = "A2"
        elif declare == "bold":
            for cell in sheet[1]:
                cell.font = Font(bold=True)

    assert tables(read(WORDS, step))[0].header_rows == (1 if declare else 0)


def test_a_stray_cell_far_away_costs_nothing() -> None:
    def stray(sheet: Sheet) -> None:
        sheet["XFD1048576"] = "far"

    assert pieces(
        read(
            rows(
                ("a", "b"),
            ),
            stray,
        )
    )[1:] == [
        (ElementKind.TABLE, "a | b"),
        (ElementKind.PARAGRAPH, "far"),
    ]


def test_a_merged_column_costs_nothing() -> None:
    workbook = openpyxl.Workbook()
    workbook.active.append(["a", "b"])
    workbook.active.append(["c", "d"])
    merge = '<mergeCells count="1"><mergeCell ref="A1:XFD1048576"/></mergeCells>'
    data = edited(saved(workbook), "xl/worksheets/sheet1.xml", "</sheetData>", f"</sheetData>{merge}")
    assert of_kind(load_sheets(data, "x.xlsx", Loading()), ElementKind.TABLE) == ["a | b\nc | d"]


def test_a_damaged_sheet_does_not_take_the_others_along() -> None:
    workbook = openpyxl.Workbook()
    workbook.active.append(["lost"])
    workbook.create_sheet("Good").append(["kept"])
    data = edited(saved(workbook), "xl/worksheets/sheet1.xml", "</sheetData>", "</sheet>")
    parsed = load_sheets(data, "x.xlsx", Loading())
    assert [page.state for page in parsed.pages] == [PageState.FAILED, PageState.TEXT]
    assert "does not parse" in parsed.pages[0].reason
    assert "kept" in parsed.text


def test_the_title_is_the_property_or_the_name() -> None:
    workbook = openpyxl.Workbook()
    workbook.active.append(["x"])
    assert load_sheets(saved(workbook), "fees 2026.xlsx", Loading()).title == "fees 2026"
    workbook.properties.title = "Card fees"
    assert load_sheets(saved(workbook), "fees 2026.xlsx", Loading()).title == "Card fees"


def test_too_many_pages_are_refused() -> None:
    workbook = openpyxl.Workbook()
    workbook.create_sheet("second")
    with pytest.raises(LimitExceeded, match="max_pages"):
        load_sheets(saved(workbook), "x.xlsx", Loading(max_pages=1))


def test_binary_workbooks_are_refused_by_name() -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as target:
        target.writestr("xl/workbook.bin", "x")
    for data in (archive.getvalue(), b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500)):
        with pytest.raises(UnsupportedFormat, match="binary workbook"):
            load_sheets(data, "x.xls", Loading())


_NAMES = {name: name for name in ("office", "table", "text", "style", "meta")} | {"fo": "xsl-fo-compatible"}
_SPACES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for short, name in _NAMES.items()
)
_STYLES = """
<office:automatic-styles>
  <style:style style:name="shut" style:family="table"><style:table-properties table:display="false"/></style:style>
  <style:style style:name="strong" style:family="table-cell">
    <style:text-properties fo:font-weight="bold"/>
  </style:style>
</office:automatic-styles>
"""
_META = """
<office:meta><dc:title>Card fees</dc:title><meta:initial-creator>Ann</meta:initial-creator>
<meta:creation-date>2024-02-29T10:00:00</meta:creation-date><dc:date>2025-01-31T10:00:00</dc:date></office:meta>
"""


def ods(sheets: str, manifest: str = "") -> bytes:
    outer = f'{_SPACES} xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink"'
    content = f"<office:body><office:spreadsheet>{sheets}</office:spreadsheet></office:body>"
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "content.xml", f"<office:document-content {outer}>{_STYLES}{content}</office:document-content>"
        )
        archive.writestr("meta.xml", f"<office:document-meta {outer}>{_META}</office:document-meta>")
        archive.writestr("META-INF/manifest.xml", f"<manifest>{manifest}</manifest>")
    return target.getvalue()


def cell(text: str, attributes: str = "") -> str:
    return f"<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>"


def row(*cells: str, attributes: str = "") -> str:
    return f"<table:table-row {attributes}>{''.join(cells)}</table:table-row>"


def test_an_open_document_spreadsheet() -> None:
    link = '<text:a xlink:href="https://example.org/x">Debit</text:a>'
    note = "<table:table-cell><office:annotation><text:p>comment</text:p></office:annotation></table:table-cell>"
    first = "".join(
        (
            '<table:table-column/><table:table-column table:visibility="collapse"/><table:table-column/>',
            row(cell("Card", 'table:style-name="strong"'), cell("secret"), cell("Since", 'table:style-name="strong"')),
            row(cell(link), cell("s"), cell("29.02.24", 'office:value-type="date" office:date-value="2024-02-29"')),
            row(cell("unseen"), attributes='table:visibility="filter"'),
            row(cell("Cash<text:s/>card", 'table:number-rows-spanned="2"'), cell("s"), cell("1,50 €")),
            row("<table:covered-table-cell/>", cell("s"), cell("2,50 €")),
            row(note, attributes='table:number-rows-repeated="1048000"'),
            row(cell("same", 'table:number-columns-repeated="3"')),
        )
    )
    parsed = load_sheets(
        ods(
            f'<table:table table:name="Cards">{first}</table:table>'
            f'<table:table table:name="Old" table:style-name="shut">{row(cell("closed"))}</table:table>'
        ),
        "x.ods",
        Loading(),
    )
    assert pieces(parsed) == [
        (ElementKind.HEADING, "Cards"),
        (ElementKind.TABLE, "Card | Since\nDebit | 2024-02-29\nCash card | 1,50 €\nCash card | 2,50 €"),
        (ElementKind.TABLE, "same | same"),
    ]
    assert [(page.label, page.state) for page in parsed.pages] == [
        ("Cards", PageState.TEXT),
        ("Old", PageState.SKIPPED),
    ]
    assert (tables(parsed)[0].header_rows, tables(parsed)[0].links) == (1, ("https://example.org/x",))
    assert parsed.title == "Card fees"
    assert parsed.metadata == {"author": "Ann", "created": "2024-02-29", "modified": "2025-01-31"}


def test_repeated_cells_have_a_bound() -> None:
    bomb = row(cell("x", 'table:number-columns-repeated="16384"'), attributes='table:number-rows-repeated="1048576"')
    with pytest.raises(LimitExceeded, match="filled cells"):
        load_sheets(ods(f'<table:table table:name="a">{bomb}</table:table>'), "x.ods", Loading())


def test_an_encrypted_open_document_asks_for_its_password() -> None:
    with pytest.raises(PasswordNeeded):
        load_sheets(ods("", manifest="<encryption-data/>"), "x.ods", Loading())


def test_text_that_is_missing_in_the_file_is_told() -> None:
    """A cell names its text by its number in a list of its own part."""
    workbook = openpyxl.Workbook()
    rows(("Card", "Fee"), ("Debit", 5))(workbook.active)
    data = edited(saved(workbook), "xl/worksheets/sheet1.xml", 't="inlineStr"><is><t>Debit</t></is>', 't="s"><v>2</v>')
    parsed = load_sheets(data, "x.xlsx", Loading())
    assert of_kind(parsed, ElementKind.TABLE) == ["Card | Fee\n | 5"]
    assert parsed.lost == ("1 cells show text that is missing in the file",)
