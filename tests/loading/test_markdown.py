from __future__ import annotations

import time

import pytest

from citewell.loading.markdown import load_markdown
from citewell.loading.parsed import Parsed
from citewell.settings import Loading
from citewell.types import ElementKind
from tests.loading.checks import of_kind, path_of, pieces


def read(text: str) -> Parsed:
    return load_markdown(text.encode(), "file-name.md", Loading())


def test_headings_make_the_path() -> None:
    parsed = read("Fees *and* rules\n====\n\n## `4.5` Chargeback\n\ntext\n\nDisputes\n----\n\n120 days\n")
    assert of_kind(parsed, ElementKind.HEADING) == ["Fees and rules", "4.5 Chargeback", "Disputes"]
    assert path_of(parsed, "120 days") == ("Fees and rules", "Disputes")
    assert parsed.title == "Fees and rules"


@pytest.mark.parametrize(
    ("front", "title"),
    [
        ("---\nlayout: x\ntitle: 'Fraud: the manual'\n---\n", "Fraud: the manual"),
        ('+++\ntitle = "Fraud"\n+++\n', "Fraud"),
        ("---\nlayout: x\n---\n", "Heading"),
    ],
)
def test_front_matter_gives_the_title_and_is_no_text(front: str, title: str) -> None:
    parsed = read(front + "# Heading\n\ntext")
    assert parsed.title == title
    assert parsed.text == "Heading\n\ntext"


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    parsed = read("---\n\nkept\n\n---\n\nalso kept")
    assert parsed.text == "kept\n\nalso kept"
    assert parsed.title == "file-name"


def test_inline_marks_go_and_their_text_stays() -> None:
    text = "A [link](http://x), `code`, ![a chart](c.png), **bold**, ~~old~~, <b>tag</b> &amp; \\*star\\*\nsame  \nnext"
    assert read(text).text == "A link, code, a chart, bold, old, tag & *star* same\nnext"


def test_a_list_is_one_element_with_its_numbers_and_levels() -> None:
    text = "- one\n  more\n- two\n\n  3. third\n  4. fourth\n\n     its second paragraph\n- last\n"
    assert pieces(read(text)) == [
        (ElementKind.LIST, "- one more\n- two\n  3. third\n  4. fourth\n    its second paragraph\n- last")
    ]


def test_code_in_a_list_stays_code() -> None:
    assert pieces(read("- run\n\n  ```sh\n  if x\n    y\n  ```\n- done\n")) == [
        (ElementKind.LIST, "- run"),
        (ElementKind.CODE, "if x\n  y"),
        (ElementKind.LIST, "- done"),
    ]


def test_tables_are_rows_of_cells() -> None:
    text = "| Card | Fee |\n|---|--:|\n| *Debit* | 15 |\n| | a \\| b |\n\nafter"
    assert pieces(read(text)) == [
        (ElementKind.TABLE, "Card | Fee\nDebit | 15\n | a | b"),
        (ElementKind.PARAGRAPH, "after"),
    ]


def test_html_blocks_become_text() -> None:
    table = "<table><tr><th>H</th></tr><tr><td>a</td><td>b</td></tr></table>"
    text = f"<!-- not this -->\n\n{table}\n\n<script>bad()</script>\n"
    assert pieces(read(text)) == [(ElementKind.TABLE, "H\na | b")]


def test_deep_quotes_are_kept() -> None:
    assert read("> " * 40 + "deep").text == "deep"


def test_brackets_without_end_take_no_hours() -> None:
    begin = time.monotonic()
    parsed = read(("[" * 1_000 + "\n\n") * 200)
    assert parsed.text.count("[") == 200_000
    assert time.monotonic() - begin < 10
