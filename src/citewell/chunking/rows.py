"""The rows of tables as sentences.

A row is found by a question about one cell when it says by itself what a reader sees from the table around it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Self

from citewell.chunking.borders import Solid
from citewell.chunking.pieces import Piece, as_chunk, touched
from citewell.chunking.preamble import Preambles, header_lines
from citewell.chunking.prefix import Places
from citewell.chunking.shorten import without_end
from citewell.types import BETWEEN_CELLS, Chunk

# Characters that hold a token of any real text. A row of thousands of cells repeats as many column names, and so does
# the next: what cannot be embedded is not even put together.
_CHARS_PER_TOKEN = 16
_ENDS = (".", "!", "?", ":", "…", "。", "！", "？", "।", "؟")


@dataclass(frozen=True, slots=True)
class _Sentences:
    """Rows of one table as sentences: `lead` says where it stands and what it shows, `names` are its columns'."""

    lead: str
    names: Sequence[str]
    most_chars: int

    @classmethod
    def of(cls, places: Places, table: Solid) -> Self:
        measured, element = places.measured, table.element
        text = measured.document.text
        place = places.line(element.heading_path, element.heading_path).strip()
        caption = " ".join(text[table.caption.start : table.caption.end].split()) if table.caption else ""
        caption = without_end(caption, measured.token_spans, measured.limit // 4)
        # A table that goes on after a page has its column names from there.
        above = [line for line in element.preamble.split("\n") if BETWEEN_CELLS in line]
        names = column_names([text[start:end] for start, end in header_lines(text, table)] or above)
        lead = " ".join(_closed(part) for part in (place, caption) if part)
        return cls(lead, names, measured.most * _CHARS_PER_TOKEN)

    def row(self, line: str) -> str:
        said: list[str] = []
        length = 0
        for name, cell in zip_longest(self.names, _cells(line), fillvalue=""):
            if cell and length <= self.most_chars:
                said.append(f"{name}: {cell}" if name else cell)
                length += len(said[-1])
        return f"{self.lead} {_closed(('; ' if any(self.names) else ', ').join(said))}".strip()


def rows(
    places: Places, preambles: Preambles, tables: Sequence[tuple[Solid, Chunk | None]], small: Sequence[Chunk]
) -> Iterator[tuple[Chunk, str]]:
    """A chunk and a sentence for each row of the tables' bodies, in order.

    The sentence is as "Manual › 4.5 Fees. Table 7: Fees. Card: Business; Fee Cross-border: EUR 40.", cut at its end
    where the embedder takes no more. The row's parent is the table's, or the small chunk that holds the row.
    """
    measured = places.measured
    numbers: Counter[str] = Counter()
    cut_short = 0
    for table, whole in tables:
        say = _Sentences.of(places, table)
        for start, end in _body(measured.document.text, table):
            pieces = touched(small, start, end)
            held = next((piece for piece in pieces if piece.start <= start and end <= piece.end), None)
            nearest = held or pieces[0]
            name = f"{nearest.id.rpartition('#')[2]}.{numbers[nearest.id]}"
            numbers[nearest.id] += 1
            row = as_chunk(measured.document, name, Piece(start, end, preamble=preambles.above((table,), start, end)))
            parent = whole or held
            sentence = say.row(row.text)
            said = without_end(sentence, measured.token_spans, measured.most)
            cut_short += said != sentence
            yield replace(row, parent_id=parent.id if parent else None), said
    if cut_short:
        measured.warnings.append(
            f"{cut_short} table {'row is' if cut_short == 1 else 'rows are'} longer, with the column names, than what "
            "the embedder takes: found by the first cells only."
        )


def column_names(header: Sequence[str]) -> list[str]:
    """The names of the columns, from the lines of one or more header rows, the outer name first ("Fee Cross-border").

    A merged cell's name stands in its first column. It goes for the columns to its right that have none in that row or
    above it, and one below.
    """
    lines = [_cells(line) for line in header]
    width = max(map(len, lines), default=0)
    grid = [[*line, *[""] * (width - len(line))] for line in lines]
    columns: list[list[str]] = [[] for _ in range(width)]
    for depth, line in enumerate(grid):
        spanning = ""
        for column, name in enumerate(line):
            named_above = any(above[column] for above in grid[:depth])
            named_below = any(below[column] for below in grid[depth + 1 :])
            spanning = name or ("" if named_above else spanning) if named_below else ""
            shown = name or spanning
            if shown and columns[column][-1:] != [shown]:
                columns[column].append(shown)
    return [" ".join(names) for names in columns]


def _body(text: str, table: Solid) -> Iterator[tuple[int, int]]:
    """The spans of the lines below the header."""
    header = header_lines(text, table)
    start = header[-1][1] + 1 if header else table.start
    while start < table.element.end:
        stop = text.find("\n", start, table.element.end)
        stop = stop if stop >= 0 else table.element.end
        line = text[start:stop].rstrip()
        if line.strip():
            yield start, start + len(line)
        start = stop + 1


def _cells(line: str) -> list[str]:
    # At the start of an element the blank before the bar is gone.
    padded = f" {line}" if line.startswith(BETWEEN_CELLS.lstrip()) else line
    return [cell.strip() for cell in padded.split(BETWEEN_CELLS)]


def _closed(text: str) -> str:
    return text if text.endswith(_ENDS) else f"{text}."
