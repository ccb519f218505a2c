"""Tables that go on at the top of the next page: found by their columns and their header, which is said once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from citewell.loading.pdf.blocks import Block
from citewell.loading.pdf.tables import Table
from citewell.loading.tables import table_text
from citewell.types import ElementKind

_SAME = 3.0
"""Points within which the edges of a column are taken to be in one place."""
_CONTINUED = re.compile(r"\b(?:continued|cont['’]?d|cont\.|fortsetzung|suite|continuación|segue)", re.IGNORECASE)


def join_tables(pages: Sequence[Sequence[Block]], heights: Sequence[float]) -> list[list[Block]]:
    """The blocks of pages of these heights, with those that continue a table marked, and without its header and
    caption where they are repeated.

    It is the same table where it ends one page and begins the next, in the same columns, with its header repeated or
    without one. Footnotes between the two keep it from being one element: then the second is given the column names.
    """
    joined = [list(blocks) for blocks in pages]
    for before, after, height in zip(joined, joined[1:], heights, strict=False):
        end = next((at for at in reversed(range(len(before))) if before[at].kind is not ElementKind.FOOTNOTE), -1)
        begin = next((at for at, block in enumerate(after[:2]) if block.table is not None), -1)
        first = before[end].table if end >= 0 else None
        rest = after[begin].table if begin >= 0 else None
        if first is None or rest is None or not _is_announced(after[:begin], before[:end]):
            continue
        named = max(first.header_rows, 1)
        repeated = first.rows[:named] == rest.rows[:named]
        if not _alike(first, rest) or not (repeated or (rest.header_rows == 0 and first.bottom > height / 2)):
            continue
        named = named if repeated else first.header_rows
        header, rows = first.rows[:named], rest.rows[named if repeated else 0 :]
        if not rows:
            continue
        block = replace(after[begin], table=replace(rest, rows=header + rows, header_rows=named))
        before[end] = replace(before[end], table=replace(first, header_rows=named))
        if end + 1 == len(before):
            after[: begin + 1] = [replace(block, text=table_text(rows), goes_on=True)]
        else:
            after[begin] = block if repeated else replace(block, preamble=table_text(header))
    return joined


def _is_announced(captions: Sequence[Block], above: Sequence[Block]) -> bool:
    """Whether what stands above the second part is nothing, or a caption that says that the table goes on."""
    return all(
        block.kind is ElementKind.CAPTION
        and (_CONTINUED.search(block.text) or (above and above[-1].text == block.text))
        for block in captions
    )


def _alike(one: Table, other: Table) -> bool:
    """Whether two tables have the same columns; cells set without rules keep to one side of theirs."""
    worse = max if one.ruled else min
    return (one.ruled, len(one.columns)) == (other.ruled, len(other.columns)) and all(
        worse(abs((a - one.x0) - (b - other.x0)) for a, b in zip(here, there, strict=True)) <= _SAME
        for here, there in zip(one.columns, other.columns, strict=True)
    )
