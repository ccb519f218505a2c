"""The rows of a table in Word, and which of them name its columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lxml.etree import _Element

from citewell.loading.columns import header_rows
from citewell.loading.docx.numbering import is_on, value, w, whole_number
from citewell.loading.docx.styles import Styles
from citewell.loading.docx.text import inside

_FIRST_ROW = 0x20  # ECMA-376 part 1, 17.4.55: a bit of w:tblLook


def own_rows(table: _Element) -> Iterator[_Element]:
    """Without those deleted in tracked changes."""
    for row in inside(table, frozenset({w("tr")})):
        if row.find(f"{w('trPr')}/{w('del')}") is None:
            yield row


def named_rows(table: _Element, rows: Sequence[tuple[_Element, Sequence[str]]], styles: Styles) -> int:
    """How many of `rows`, each with the text of its cells, name the columns; 0 where nothing tells.

    They are declared to be repeated on each page, or bold, or set off by the table's style; or their text tells.
    """
    set_off = [is_on(row.find(f"{w('trPr')}/{w('tblHeader')}")) or _is_bold(row) for row, _ in rows]
    if set_off:
        set_off[0] = set_off[0] or _sets_first_off(table, styles)
    spans = (value(cell, "tcPr/gridSpan") for cell in inside(rows[0][0], frozenset({w("tc")}))) if rows else ()
    return header_rows([cells for _, cells in rows], set_off, any(whole_number(span, 1) > 1 for span in spans))


def _is_bold(row: _Element) -> bool:
    texts = [run for run in row.iter(w("r")) if any((text.text or "").strip() for text in run.iterchildren(w("t")))]
    return bool(texts) and all(is_on(run.find(f"{w('rPr')}/{w('b')}")) for run in texts)


def _sets_first_off(table: _Element, styles: Styles) -> bool:
    """Whether the style has a look for first rows, and the table asks for it."""
    look = table.find(f"{w('tblPr')}/{w('tblLook')}")
    if look is None or value(table, "tblPr/tblStyle") not in styles.headed:
        return False
    if look.get(w("firstRow")) is not None:
        return look.get(w("firstRow")) in {"1", "true", "on"}
    try:
        return bool(int(look.get(w("val"), "0"), 16) & _FIRST_ROW)
    except ValueError:
        return False
