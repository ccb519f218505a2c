"""The blocks of an RTF text put together: list items to lists, cells to tables, notes after what they belong to."""

from __future__ import annotations

from dataclasses import dataclass, field

from citewell.loading.parsed import Details, TextBuilder
from citewell.loading.tables import cell_text, table_text
from citewell.types import ElementKind

_BULLETS = frozenset("\u00b7\u2022\u25aa\u25cf\u25e6\u2023\u2043\uf0b7\uf0a7\uf0d8\u00a7o-\u2013*")


@dataclass(slots=True)
class Blocks:
    """What is under way, and where finished elements go."""

    builder: TextBuilder
    list_lines: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    header_rows: int = 0
    row: list[str] = field(default_factory=list)
    cell: list[str] = field(default_factory=list)
    asides: list[tuple[ElementKind, str]] = field(default_factory=list)
    asides_of_items: int = 0  # those that stand in the list or table under way
    first_heading: str = ""

    def add_paragraph(self, text: str, level: int | None, links: tuple[str, ...]) -> None:
        """A paragraph, or a heading of `level` (1 is outermost)."""
        if not text.strip():
            return
        self.close()
        if level is None:
            self.builder.add(ElementKind.PARAGRAPH, text, more=Details(links=links))
        else:
            self.first_heading = self.first_heading or " ".join(text.split())
            self.builder.add(ElementKind.HEADING, text, level=level)
        self._add_asides(len(self.asides))

    def add_item(self, mark: str, text: str, depth: int) -> None:
        """An item of a list; `depth` 0 is outermost."""
        self._close_table()
        shown = "-" if mark in _BULLETS else mark
        self.asides_of_items = len(self.asides)
        self.list_lines.append("  " * depth + f"{shown} {' '.join(text.split())}")

    def add_to_cell(self, text: str) -> None:
        self.cell.append(text)

    def end_cell(self) -> None:
        self.row.append(cell_text(self.cell))
        self.cell = []

    def end_row(self, is_header: bool) -> None:
        """`is_header` where the row is repeated on each page."""
        self._close_list()
        self.asides_of_items = len(self.asides)
        if any(self.row):
            self.header_rows += is_header and self.header_rows == len(self.rows)
            self.rows.append(self.row)
        self.row = []

    def add_aside(self, kind: ElementKind, text: str) -> None:
        """A note or text box, to stand after the paragraph, list or table that it is in."""
        self.asides.append((kind, text))

    def finish(self) -> None:
        """Add what is left at the end of the file."""
        self.close()
        self._add_asides(len(self.asides))

    def close(self) -> None:
        """Add the list or table that is complete, and what stands after it."""
        self._close_list()
        self._close_table()

    def _close_list(self) -> None:
        if self.list_lines:
            self.builder.add(ElementKind.LIST, "\n".join(self.list_lines))
            self._add_asides(self.asides_of_items)
            self.list_lines = []

    def _close_table(self) -> None:
        if self.cell:  # in a row without an end
            self.end_cell()
        if any(self.row):
            self.rows.append(self.row)
        if self.rows:
            self.builder.add(ElementKind.TABLE, table_text(self.rows), more=Details(self.header_rows))
            self._add_asides(self.asides_of_items)
        self.rows, self.row, self.header_rows = [], [], 0

    def _add_asides(self, count: int) -> None:
        for kind, text in self.asides[:count]:
            self.builder.add(kind, text)
        self.asides = self.asides[count:]
        self.asides_of_items = 0
