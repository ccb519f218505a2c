from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.errors import LoadError
from citewell.loading import parse
from citewell.loading.plain import load_csv, load_plain
from citewell.settings import Loading
from citewell.types import ElementKind
from tests.loading.checks import check_spans, pieces

LIMITS = Loading()


def test_paragraphs_stand_between_blank_lines() -> None:
    parsed = load_plain(b"One\r\nstill one\r\n \r\n\r\n  Two, indented\n\fThree", "notes.v2.txt", LIMITS)
    assert parsed.title == "notes.v2"
    assert pieces(parsed) == [
        (ElementKind.PARAGRAPH, "One\nstill one"),
        (ElementKind.PARAGRAPH, "  Two, indented"),
        (ElementKind.PARAGRAPH, "Three"),
    ]


@given(st.text())
def test_no_word_of_a_text_is_lost(text: str) -> None:
    parsed = load_plain(text.encode("utf-8-sig"), "a.txt", LIMITS)
    check_spans(parsed)
    assert parsed.text.split() == text.replace("\x00", "").split()


@given(st.binary(max_size=400), st.sampled_from(["a.txt", "a.md", "a.html", "a.csv", "a.py", "a.js", "a.docx"]))
def test_any_bytes_are_read_or_refused(data: bytes, name: str) -> None:
    try:
        parsed = parse(data, name, LIMITS)
    except LoadError as error:
        reason = (error.message, error.remedy)
        assert all(reason)
    else:
        check_spans(parsed)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_table_is_one_element_with_a_row_a_line(delimiter: str) -> None:
    rows = [["Code", "Meaning"], ["R-17", f'"a{delimiter} b"'], ["", ""], ["R-18", '"two\nlines, and a ""quote"""']]
    data = "\r\n".join(delimiter.join(row) for row in rows).encode()
    assert pieces(load_csv(data, "codes.csv", LIMITS)) == [
        (ElementKind.TABLE, f'Code | Meaning\nR-17 | a{delimiter.strip()} b\nR-18 | two lines, and a "quote"')
    ]


def test_a_quote_that_is_never_closed_loses_nothing() -> None:
    data = b'a,b\n"open,2\n' + b"x,y\n" * 50_000 + b"last,row\n"
    ((_, text),) = pieces(load_csv(data, "a.csv", LIMITS))
    assert text.startswith('a | b\n"open | 2\nx | y')
    assert text.endswith("last | row")
