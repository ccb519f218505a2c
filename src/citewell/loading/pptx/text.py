"""What the shapes of a slide say: text and lists, tables, charts, diagrams, and what pictures are said to show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from lxml.etree import _Element

from citewell.loading.columns import header_rows
from citewell.loading.office.ooxml import addresses, parse_part
from citewell.loading.pptx.bullets import Bullets
from citewell.loading.pptx.charts import chart_tables, chart_title
from citewell.loading.pptx.shapes import DRAWING, PRESENTATION, Placed, Shape
from citewell.loading.tables import cell_text, table_text
from citewell.types import ElementKind

if TYPE_CHECKING:
    from pptx.slide import Slide

_RELATED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_MATH_TEXT = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_SIGNS = {f"{DRAWING}br": "\n"}
_CONTENT = frozenset({None, "node", "asst"})
"""The points of a diagram that hold text, not lines between them."""
_FILE_NAME = re.compile(r"\S+\.(?:png|jpe?g|gif|bmp|tiff?|[ew]mf|svg)", re.IGNORECASE)
"""What PowerPoint once wrote where nobody said what a picture shows."""
_YES = frozenset({"1", "true"})


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a shape that becomes an element."""

    kind: ElementKind
    text: str
    header_rows: int = 0
    links: tuple[str, ...] = ()


def pieces(placed: Placed, slide: Slide) -> Iterator[Piece]:
    """What a shape on `slide` says, in order; nothing for most lines and pictures."""
    found = list(_pieces(placed.shape, slide))
    yield from found
    named = next(placed.shape.element.iter(f"{PRESENTATION}cNvPr"), None)
    said = "" if named is None else str(named.get("descr", "")).strip()
    if not found and said and not _FILE_NAME.fullmatch(said):
        yield Piece(ElementKind.IMAGE, said, links=_links([named], slide))


def _pieces(shape: Shape, slide: Slide) -> Iterator[Piece]:
    if shape.has_text_frame:
        yield from _texts(shape, slide)
    elif shape.has_table:
        yield from _table(shape, slide)
    elif shape.has_chart:
        chart = shape.chart.element
        yield from _filled(Piece(ElementKind.CAPTION, chart_title(chart)))
        for rows in chart_tables(chart):
            yield from _filled(Piece(ElementKind.TABLE, table_text(rows), header_rows=1))
    else:
        for mark in shape.element.iter(f"{_DIAGRAM}relIds"):
            diagram = parse_part(slide.part.related_part(mark.get(f"{_RELATED}dm", "")).blob)
            yield from _filled(Piece(ElementKind.LIST, "\n".join(f"- {line}" for line in _diagram_lines(diagram))))


def _filled(piece: Piece) -> Iterator[Piece]:
    if piece.text.strip():
        yield piece


def _texts(shape: Shape, slide: Slide) -> Iterator[Piece]:
    bullets = Bullets.of(shape, slide)
    paragraphs = [(bullets.mark(one), one) for one in shape.element.iter(f"{DRAWING}p") if _text(one)]
    for is_list, group in groupby(paragraphs, key=lambda pair: bool(pair[0])):
        members = list(group)
        text = "\n".join(f"{mark}{_text(one)}" for mark, one in members)
        links = _links([*(one for _, one in members), *shape.element.iter(f"{PRESENTATION}cNvPr")], slide)
        yield Piece(ElementKind.LIST if is_list else ElementKind.PARAGRAPH, text, links=links)


def _table(shape: Shape, slide: Slide) -> Iterator[Piece]:
    """A merged cell's text stands once, at its top left, as it does in the file."""
    table = next(shape.element.iter(f"{DRAWING}tbl"))
    rows = [[_cell(cell) for cell in row.iterchildren(f"{DRAWING}tc")] for row in table.iterchildren(f"{DRAWING}tr")]
    filled = [row for row in rows if any(row)]
    look = table.find(f"{DRAWING}tblPr")
    set_off = look is not None and look.get("firstRow") in _YES
    top = next(table.iterchildren(f"{DRAWING}tr"), None)
    grouped = top is not None and any(cell.get("gridSpan", "1") != "1" for cell in top)
    named = header_rows(filled, [set_off, *[False] * (len(filled) - 1)], grouped)
    yield from _filled(Piece(ElementKind.TABLE, table_text(filled), named, _links([table], slide)))


def _cell(cell: _Element) -> str:
    if cell.get("hMerge") in _YES or cell.get("vMerge") in _YES:
        return ""
    return cell_text(_text(one) for one in cell.iter(f"{DRAWING}p"))


def _diagram_lines(diagram: _Element) -> Iterator[str]:
    for point in diagram.iter(f"{_DIAGRAM}pt"):
        if point.get("type") in _CONTENT:
            line = " ".join(_text(one) for one in point.iter(f"{DRAWING}p")).strip()
            if line:
                yield " ".join(line.split())


def _text(paragraph: _Element) -> str:
    tags = (f"{DRAWING}t", _MATH_TEXT, *_SIGNS)
    return "".join(_SIGNS.get(str(one.tag), one.text or "") for one in paragraph.iter(*tags)).strip()


def _links(elements: Iterable[_Element], slide: Slide) -> tuple[str, ...]:
    """The addresses that a click on one of `elements`, or on something in it, leads to."""
    clicks: Sequence[_Element] = [click for one in elements for click in one.iter(f"{DRAWING}hlinkClick")]
    known = slide.part.rels
    ids = [click.get(f"{_RELATED}id", "") for click in clicks]
    return addresses(known[one].target_ref for one in ids if one in known and known[one].is_external)
