from __future__ import annotations

import re
import time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from citewell.errors import LoadError
from citewell.loading.parsing import parse
from citewell.loading.plain.document import load_csv, load_plain
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


def test_form_feeds_divide_pages() -> None:
    parsed = load_plain(b"One\n\n1. Title\n\ntext\n\f\n\fThree\n\f", "rfc.txt", LIMITS)
    assert [(page.number, page.label, parsed.text[page.start : page.end]) for page in parsed.pages] == [
        (1, "1", "One\n\n1. Title\n\ntext"),
        (2, "2", ""),
        (3, "3", "Three"),
    ]
    assert [element.page for element in parsed.elements] == [1, 1, 1, 3]
    assert load_plain(b"One\n\f", "a.txt", LIMITS).pages == ()
    assert load_plain(b"a\f" * 50 + b"b", "a.txt", Loading(max_pages=50)).pages == ()


def test_headings_are_what_is_underlined_or_numbered_above_text() -> None:
    text = """Fees
====
All of them.

1.  Cards

1.1 Debit cards

A debit card costs 15 EUR.

Notes
-----

1. Bread

2. Milk

3. This is a sentence.

end
"""
    parsed = load_plain(text.encode(), "a.txt", LIMITS)
    assert pieces(parsed) == [
        (ElementKind.HEADING, "Fees"),
        (ElementKind.PARAGRAPH, "All of them."),
        (ElementKind.HEADING, "1.  Cards"),
        (ElementKind.HEADING, "1.1 Debit cards"),
        (ElementKind.PARAGRAPH, "A debit card costs 15 EUR."),
        (ElementKind.HEADING, "Notes"),
        (ElementKind.PARAGRAPH, "1. Bread"),
        (ElementKind.PARAGRAPH, "2. Milk"),
        (ElementKind.PARAGRAPH, "3. This is a sentence."),
        (ElementKind.PARAGRAPH, "end"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a table\n-----------------",
        "x\n=",
        "---\n---",
        "1. x ....... 5\n\ntext",
        "2 apples and pears,\n\ntext",
        "1.5\n\nx",
    ],
)
def test_what_may_be_no_heading_is_none(text: str) -> None:
    assert ElementKind.HEADING not in {kind for kind, _ in pieces(load_plain(text.encode(), "a.txt", LIMITS))}


@given(st.text())
def test_no_word_of_a_text_is_lost(text: str) -> None:
    assume(not re.search(r"[=#*~^-]{3}", text))  # A line under a heading is none.
    parsed = load_plain(text.encode("utf-8-sig"), "a.txt", LIMITS)
    check_spans(parsed)
    assert parsed.text.split() == text.replace("\x00", "").split()


@settings(deadline=None)  # each loader is imported when it is first used
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


@pytest.mark.parametrize("count", [1, 50_000])
def test_a_quote_that_is_never_closed_is_an_ordinary_sign(count: int) -> None:
    data = b'a,b\n"1,5",2\n"open,2\n' + b"x,y\n" * count + b"last,row\n"
    ((_, text),) = pieces(load_csv(data, "a.csv", LIMITS))
    assert text.startswith('a | b\n1,5 | 2\n"open | 2\nx | y')
    assert text.endswith("last | row")


def test_many_open_quotes_take_no_more_than_a_few_passes() -> None:
    data = b"a,b\n" + b'"x""y,2\n' * 20_001 + b"last,row"
    begin = time.process_time()
    ((_, text),) = pieces(load_csv(data, "a.csv", LIMITS))
    assert time.process_time() - begin < 5
    assert text.endswith("last | row")


@pytest.mark.parametrize(
    ("lines", "header_rows", "above"),
    [
        (["Code,Meaning", "R-17,fraud", "R-18,loss"], 1, []),
        (["R-17,fraud", "R-18,loss"], 0, []),
        (["1,2", "3,4"], 0, []),
        (["Region,2024,2025", "North,1,2"], 1, []),
        (["2024,2025", "1,2"], 0, []),
        (["a,a", "1,2"], 0, []),
        (["only,one"], 0, []),
        ([",Debit,Credit", "Fee,1,2"], 1, []),
        (["Fees of 2026,,", "", "Card,Fee,Note", "Debit,15,x", "Credit,20,y"], 1, ["Fees of 2026"]),
        (["Fees, all of them", "Card,Fee,Note,From,To,By", "Debit,15,x,1,2,3"], 1, ["Fees, all of them"]),
        (["Card,Results,", ",Accuracy,Time", "Debit,5,6"], 1, []),
        (["Card,Count,Share,Results,", ",,,Accuracy,Time", "Debit,1,2,5,6"], 2, []),
        (['"Name, first",Fee', '"Lee, Ann",5', '"Ray, Bob",6'], 1, []),
        (["sep=;", "A;B", "1,5;2,5"], 1, []),
    ],
)
def test_the_header_is_told_from_data_and_from_what_stands_above(
    lines: list[str], header_rows: int, above: list[str]
) -> None:
    parsed = load_csv("\n".join(lines).encode(), "a.csv", LIMITS)
    *paragraphs, (kind, _) = pieces(parsed)
    assert kind is ElementKind.TABLE
    assert parsed.elements[-1].header_rows == header_rows
    assert paragraphs == [(ElementKind.PARAGRAPH, text) for text in above]


def test_the_delimiter_is_told_outside_of_quotes() -> None:
    data = b'Name;Address\n"Lee, Ann";"1, High Street, Larkfield"\n"Ray, Bob";"2, High Street, Larkfield"'
    assert pieces(load_csv(data, "a.csv", LIMITS)) == [
        (
            ElementKind.TABLE,
            "Name | Address\nLee, Ann | 1, High Street, Larkfield\nRay, Bob | 2, High Street, Larkfield",
        )
    ]


def test_nul_and_bars_in_cells() -> None:
    assert pieces(load_csv(b"A,B\na\0b,x | y\n", "a.csv", LIMITS)) == [(ElementKind.TABLE, "A | B\nab | x ¦ y")]


def test_a_very_wide_table_keeps_all_its_cells() -> None:
    data = b"\n".join([b",".join(b"c%d" % n for n in range(20_000)), b",".join([b"1"] * 20_000)])
    parsed = load_csv(data, "a.csv", LIMITS)
    assert parsed.elements[0].header_rows == 1
    assert parsed.text.count(" | ") == 2 * 19_999
