"""HTML tables: which of them are data and not layout, their header rows, and merged cells put in their columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree
from lxml.html import HtmlElement

from citewell.loading.html.text import CELLS, IGNORED, LISTS, pieces, whole_number
from citewell.loading.tables import cell_text

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_SECTIONS = frozenset({"thead", "tbody", "tfoot"})
_OWN_ROWS = "./tr | ./thead/tr | ./tbody/tr | ./tfoot/tr"
_LONG_CELL = 2_000
_MOST_HEADER_ROWS = 5
_MOST_SPANNED = 50
_LONGEST_REPEATED = 100
_MOST_SLOTS = 1_000
_SLOTS_A_CELL = 10


@dataclass(slots=True)
class _Open:
    """An element under way in the walk, and what was met in it so far; of a table, its own rows, cells and captions."""

    tag: str
    chars: int = 0
    has_headings: bool = False
    has_blocks: bool = False
    rows: int = 0
    cells: int = 0
    longest_cell: int = 0
    chars_in_place: int = 0

    def take(self, inner: _Open) -> None:
        is_heading = inner.tag in _HEADINGS
        self.chars += inner.chars
        self.has_headings |= inner.has_headings or is_heading
        self.has_blocks |= inner.has_blocks or is_heading or inner.tag in {"pre", "table"}


def whole_blocks(root: HtmlElement) -> frozenset[HtmlElement]:
    """The lists and tables in `root` that are each one element of the text; the others hold parts of a page.

    One walk over all of them: to ask each for what it holds would be quadratic in the depth.
    """
    whole = []
    path = [_Open("")]
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "start":
            is_ignored = element.tag in IGNORED
            path.append(_Open(element.tag, 0 if is_ignored else _length(element.text)))
            if is_ignored:
                walk.skip_subtree()
            continue
        closed = path.pop()
        _put_in_table(path, closed)
        is_table = closed.tag == "table" and not _is_layout(element, closed)
        if is_table or (closed.tag in LISTS and not closed.has_blocks):
            whole.append(element)
        path[-1].take(closed)
        path[-1].chars += _length(element.tail) if element is not root else 0
    return frozenset(whole)


def _put_in_table(path: list[_Open], closed: _Open) -> None:
    """Tell the table about a row, cell or caption of its own."""
    table = _table_of(path, closed.tag)
    if table is None:
        return
    if closed.tag == "tr":
        table.rows += 1
        return
    table.chars_in_place += closed.chars
    if closed.tag in CELLS:
        table.cells += 1
        table.longest_cell = max(table.longest_cell, closed.chars)


def _table_of(path: list[_Open], tag: str) -> _Open | None:
    """The table that an element of `tag`, just closed, is a row, cell or caption of."""
    if tag not in {"tr", "caption", *CELLS} or (tag in CELLS and path[-1].tag != "tr"):
        return None
    up = 2 if tag in CELLS else 1
    if tag != "caption" and path[-up].tag in _SECTIONS:
        up += 1
    return path[-up] if path[-up].tag == "table" else None


def _is_layout(table: HtmlElement, seen: _Open) -> bool:
    """Whether the table only places parts of a page side by side, or holds text outside its cells."""
    return (
        not seen.rows
        or table.get("role", "") in {"presentation", "none"}
        or seen.cells <= 1
        or seen.has_headings
        or seen.longest_cell > _LONG_CELL
        # Where an end tag is missing, the rest of the page may stand between the cells.
        or seen.chars > seen.chars_in_place
    )


def table_rows(table: HtmlElement) -> tuple[list[list[str]], int]:
    """The rows of cells, nested tables flattened into theirs, and how many of the first rows name the columns."""
    rows = table.xpath(_OWN_ROWS)
    header_rows = _header_rows(rows)
    return list(_grid(rows, header_rows)), header_rows


def _header_rows(rows: list[HtmlElement]) -> int:
    """The rows of a <thead> at the top, else the first rows that have only <th>.

    0 where all rows do, or where none of them has two cells: such a row is a title, and names no column.
    """
    has_head = bool(rows) and rows[0].getparent().tag == "thead"
    found: list[HtmlElement] = []
    for row in rows[: _MOST_HEADER_ROWS + 1]:
        is_header = row.getparent().tag == "thead" if has_head else all(cell.tag == "th" for cell in _cells(row))
        if not is_header:
            return len(found[:_MOST_HEADER_ROWS]) if any(len(_cells(one)) > 1 for one in found) else 0
        found.append(row)
    return _MOST_HEADER_ROWS if len(rows) > len(found) else 0


def _grid(rows: list[HtmlElement], header_rows: int) -> Iterator[list[str]]:
    """Cells in their columns.

    A merged cell's text stands in every row that it covers, since rows are read one by one; in a header, in every
    column that it covers, which it helps to name. A long text stands once. Tables that would grow to many times the
    cells that they have are cut back to those.
    """
    slots = _MOST_SLOTS + _SLOTS_A_CELL * sum(map(len, rows))
    above: dict[int, tuple[int, str]] = {}  # column -> rows that a cell above still covers, and its text
    for number, row in enumerate(rows):
        is_header = number < header_rows and len(_cells(row)) > 1
        line: list[str] = []
        started: dict[int, tuple[int, str]] = {}
        for cell in _cells(row):
            _fill(line, above)
            width = min(whole_number(cell.get("colspan")), _MOST_SPANNED) if slots > 0 else 1
            text = cell_text(pieces(cell))
            again = text if len(text) <= _LONGEST_REPEATED else ""
            below = whole_number(cell.get("rowspan")) - 1
            if below:
                repeated = [""] * width if is_header else [again, *[""] * (width - 1)]
                started.update((len(line) + place, (below, one)) for place, one in enumerate(repeated))
            line += [text, *[again if is_header else ""] * (width - 1)]
        _fill(line, above)
        slots -= len(line)
        above = {column: (left - 1, text) for column, (left, text) in above.items() if left > 1} | started
        if slots <= 0:
            above = {}
        yield line


def _fill(line: list[str], above: dict[int, tuple[int, str]]) -> None:
    while len(line) in above:
        line.append(above[len(line)][1])


def _cells(row: HtmlElement) -> list[HtmlElement]:
    return [cell for cell in row if cell.tag in CELLS]


def _length(text: str | None) -> int:
    return sum(map(len, text.split())) if text else 0
