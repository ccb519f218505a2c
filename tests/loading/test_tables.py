from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.loading.tables import cell_text, header_lines, table_text
from citewell.types import BETWEEN_CELLS

CELL = st.text(st.sampled_from("ab| ¦\n"), max_size=6)


@given(st.lists(st.lists(CELL, min_size=1, max_size=4), max_size=4))
def test_a_line_cut_at_the_bars_gives_its_cells(rows: list[list[str]]) -> None:
    expected = []
    for row in rows:
        cells = [" ".join("¦" if word == "|" else word for word in cell.split()) for cell in row]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            expected.append(cells)
    lines = table_text(rows).split("\n") if expected else []
    assert [line.split(BETWEEN_CELLS) for line in lines] == expected


def test_header_lines_are_the_header_rows_with_text() -> None:
    rows = [["", " "], ["A", "B"], ["", "b"], ["1", "2"]]
    assert [header_lines(rows, count) for count in range(6)] == [0, 0, 1, 2, 3, 3]


@pytest.mark.parametrize(
    ("blocks", "text"), [(["One.", " ", "two\nlines", "three:", "x"], "One. two lines; three: x"), ([], "")]
)
def test_blocks_of_a_cell_become_one_line(blocks: list[str], text: str) -> None:
    assert cell_text(blocks) == text
