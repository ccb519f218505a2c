from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from citewell.errors import UnsupportedFormat
from citewell.loading.docx import load_docx
from citewell.loading.docx_numbering import Labels
from citewell.loading.parsed import Parsed
from citewell.settings import Loading
from citewell.types import ElementKind
from tests.loading.checks import of_kind, path_of, pieces

Document = Any  # python-docx's is untyped where it matters


def read(*steps: Callable[[Document], object]) -> Parsed:
    document = docx.Document()
    document.core_properties.title = ""
    for step in steps:
        step(document)
    target = io.BytesIO()
    document.save(target)
    return load_docx(target.getvalue(), "procedures.docx", Loading())


def add_xml(inner: str) -> Callable[[Document], None]:
    """Put WordprocessingML at the end of the body."""

    def step(document: Document) -> None:
        for element in parse_xml(f"<w:body {nsdecls('w', 'r')}>{inner}</w:body>"):
            document.element.body.insert(len(document.element.body) - 1, element)

    return step


def test_headings_lists_and_paragraphs_in_order() -> None:
    def fill(document: Document) -> None:
        document.add_heading("Procedures", 0)
        document.add_heading("Disputes", 1)
        document.add_heading("Deadlines", 2)
        document.add_paragraph("120 days.")
        document.add_paragraph("first", style="List Number")
        document.add_paragraph("second", style="List Number")
        document.add_paragraph("dash", style="List Bullet")
        document.add_paragraph("Figure 1", style="Caption")

    parsed = read(fill)
    assert pieces(parsed) == [
        (ElementKind.HEADING, "Procedures"),
        (ElementKind.HEADING, "Disputes"),
        (ElementKind.HEADING, "Deadlines"),
        (ElementKind.PARAGRAPH, "120 days."),
        (ElementKind.LIST, "1. first\n2. second\n- dash"),
        (ElementKind.CAPTION, "Figure 1"),
    ]
    assert path_of(parsed, "120 days") == ("Disputes", "Deadlines")
    assert parsed.title == "Procedures"
    assert parsed.pages == ()


def test_the_title_property_comes_first_and_the_name_last() -> None:
    def entitle(document: Document) -> None:
        document.core_properties.title = "  Fraud\nprocedures "

    def write(document: Document) -> None:
        document.add_paragraph("x")

    assert read(write, entitle).title == "Fraud procedures"
    assert read(write).title == "procedures"


def test_styles_made_from_headings_and_outline_levels_are_headings() -> None:
    def fill(document: Document) -> None:
        custom = document.styles.add_style("Abschnitt", WD_STYLE_TYPE.PARAGRAPH)
        custom.base_style = document.styles["Heading 2"]
        document.add_paragraph("by style", style="Abschnitt")
        outlined = document.styles.add_style("Kapitel", WD_STYLE_TYPE.PARAGRAPH)
        outlined.element.get_or_add_pPr().append(parse_xml(f'<w:outlineLvl {nsdecls("w")} w:val="0"/>'))
        document.add_paragraph("by outline", style="Kapitel")
        document.add_paragraph("below")

    parsed = read(fill, add_xml('<w:p><w:pPr><w:outlineLvl w:val="2"/></w:pPr><w:r><w:t>itself</w:t></w:r></w:p>'))
    assert of_kind(parsed, ElementKind.HEADING) == ["by style", "by outline", "itself"]
    assert path_of(parsed, "below") == ("by outline",)
    assert path_of(parsed, "itself") == ("by outline", "itself")


def test_a_loop_of_styles_is_no_endless_loop() -> None:
    def fill(document: Document) -> None:
        first, second = (document.styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH) for name in ("A", "B"))
        first.base_style, second.base_style = second, first
        document.add_paragraph("x", style="A")

    assert pieces(read(fill)) == [(ElementKind.PARAGRAPH, "x")]


def test_merged_cells_stand_once_and_keep_the_columns() -> None:
    def fill(document: Document) -> None:
        table = document.add_table(3, 3)
        for row, texts in enumerate((("Card", "Fee", "x"), ("Debit", "1", "2"), ("y", "3", "4"))):
            for column, text in enumerate(texts):
                table.cell(row, column).text = text
        table.cell(0, 1).merge(table.cell(0, 2)).text = "Fee"
        table.cell(1, 0).merge(table.cell(2, 0)).text = "Debit"

    assert pieces(read(fill)) == [(ElementKind.TABLE, "Card | Fee\nDebit | 1 | 2\n | 3 | 4")]


def test_rich_cells_and_nested_tables_become_one_line() -> None:
    def fill(document: Document) -> None:
        table = document.add_table(1, 2)
        cell = table.cell(0, 0)
        cell.text = "One."
        cell.add_paragraph("Two")
        cell.add_paragraph("item", style="List Number")
        nested = cell.add_table(2, 2)
        for number, text in enumerate("abcd"):
            nested.cell(number // 2, number % 2).text = text
        table.cell(0, 1).text = "right"

    assert pieces(read(fill)) == [(ElementKind.TABLE, "One. Two; 1. item; a, b; c, d | right")]


def test_a_table_of_one_cell_is_a_frame() -> None:
    def fill(document: Document) -> None:
        cell = document.add_table(1, 1).cell(0, 0)
        cell.text = "Note"
        cell.add_paragraph("dash", style="List Bullet")

    assert pieces(read(fill)) == [(ElementKind.PARAGRAPH, "Note"), (ElementKind.LIST, "- dash")]


def test_what_a_reader_sees_is_read_and_nothing_else() -> None:
    inner = """
      <w:sdt><w:sdtContent><w:p><w:r><w:t>control</w:t></w:r></w:p></w:sdtContent></w:sdt>
      <w:p><w:r><w:t xml:space="preserve">kept </w:t></w:r><w:ins><w:r><w:t>inserted</w:t></w:r></w:ins>
        <w:del><w:r><w:delText>deleted</w:delText></w:r></w:del>
        <w:moveFrom><w:r><w:t>moved away</w:t></w:r></w:moveFrom>
        <w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>
        <w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:tab/><w:t>shown</w:t></w:r>
        <w:hyperlink><w:r><w:t>-link</w:t></w:r></w:hyperlink>
        <w:r><w:fldChar w:fldCharType="begin"/><w:instrText>PAGE</w:instrText><w:br/><w:t>end</w:t></w:r></w:p>
    """
    assert pieces(read(add_xml(inner))) == [
        (ElementKind.PARAGRAPH, "control"),
        (ElementKind.PARAGRAPH, "kept inserted\tshown-link\nend"),
    ]


def test_a_text_box_is_read_once() -> None:
    compatibility = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    box = "<w:txbxContent><w:p><w:r><w:t>in the box</w:t></w:r></w:p></w:txbxContent>"
    inner = (
        f"<w:p><w:r><w:t>anchor</w:t></w:r><w:r><mc:AlternateContent {compatibility}>"
        f"<mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )
    assert pieces(read(add_xml(inner))) == [
        (ElementKind.PARAGRAPH, "anchor"),
        (ElementKind.PARAGRAPH, "in the box"),
    ]


def level(depth: int, form: str, text: str, start: int = 1, style: str = "") -> str:
    tied = f'<w:pStyle w:val="{style}"/>' if style else ""
    return (
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>{tied}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


NUMBERING = f"""
<w:numbering {nsdecls("w")}>
  <w:abstractNum w:abstractNumId="0">
    {level(0, "decimal", "%1.", start=4, style="Heading1")}{level(1, "decimal", "%1.%2", style="Heading2")}
    {level(2, "lowerLetter", "(%3)")}{level(3, "upperRoman", "%4")}{level(4, "bullet", "o")}{level(5, "none", "")}
  </w:abstractNum>
  <w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
  <w:num w:numId="2"><w:abstractNumId w:val="0"/></w:num>
  <w:num w:numId="3"><w:abstractNumId w:val="0"/>
    <w:lvlOverride w:ilvl="0"><w:startOverride w:val="9"/></w:lvlOverride></w:num>
</w:numbering>
"""


def test_numbers_are_counted_as_word_does() -> None:
    labels = Labels.read(parse_xml(NUMBERING))
    steps = [("1", 0), ("1", 1), ("1", 1), ("1", 2), ("2", 2), ("1", 3), ("1", 4), ("1", 5), ("1", 1), ("1", 2)]
    assert [labels.next(*step) for step in steps] == ["4.", "4.1", "4.2", "(a)", "(b)", "I", "-", "", "4.3", "(a)"]
    assert [labels.next(*step) for step in (("2", 0), ("1", 1), ("3", 0), ("3", 0), ("7", 0), ("1", 8))] == [
        "5.",
        "5.1",
        "9.",
        "10.",
        "",
        "",
    ]
    assert labels.depth_of_style("1", "Heading2") == 1
    assert labels.depth_of_style("1", "Heading3") is None


def test_letters_and_roman_numbers_go_on() -> None:
    labels = Labels.read(parse_xml(NUMBERING))
    letters = [labels.next("1", 2) for _ in range(28)]
    assert letters[24:] == ["(y)", "(z)", "(aa)", "(bb)"]
    assert [labels.next("1", 3) for _ in range(14)][3::5] == ["IV", "IX", "XIV"]


def test_numbered_headings_carry_their_numbers() -> None:
    def fill(document: Document) -> None:
        numbering = document.part.numbering_part.element
        for child in list(numbering):
            numbering.remove(child)
        numbering.extend(list(parse_xml(NUMBERING)))
        for name in ("Heading 1", "Heading 2"):
            properties = document.styles[name].element.get_or_add_pPr()
            properties.append(parse_xml(f'<w:numPr {nsdecls("w")}><w:numId w:val="1"/></w:numPr>'))
        document.add_heading("Disputes", 1)
        document.add_heading("Terms", 2)
        document.add_heading("Deadlines", 2)
        document.add_paragraph("120 days")

    assert path_of(read(fill), "120 days") == ("4. Disputes", "4.2 Deadlines")


def test_a_template_is_refused_by_name() -> None:
    target = io.BytesIO()
    document = docx.Document()
    document.part._content_type = document.part.content_type.replace("document.main", "template.main")
    document.save(target)
    with pytest.raises(UnsupportedFormat, match="template"):
        load_docx(target.getvalue(), "a.dotx", Loading())
