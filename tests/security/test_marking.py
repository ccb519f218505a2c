"""Datamarking: every space marked, nothing lost."""

import pytest

from citewell.security.marking import FIRST, mark_of, spotlight, unmarked

CODE = "00000000000000ff"
MARK = mark_of(CODE)


def test_the_mark_stands_for_spaces_and_behind_line_breaks() -> None:
    assert chr(FIRST + 255) == MARK
    assert spotlight("In this manner\nCosette", CODE) == f"In{MARK}this{MARK}manner\n{MARK}Cosette"


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\n",
        "a  b\t c\r\n\u00a0d",
        f"forged{MARK}mark",
        f"{chr(ord(MARK) + 1)}0 {chr(ord(MARK) + 1)}1{MARK} \n{MARK}",
    ],
)
@pytest.mark.parametrize("code", [CODE, "0" * 16, "f" * 16])
def test_what_is_marked_is_unmarked_to_the_letter(text: str, code: str) -> None:
    assert unmarked(spotlight(text, code), code) == text


def test_no_text_can_bring_the_mark_along() -> None:
    assert MARK not in spotlight(f"a{MARK}b", CODE)


def test_a_quote_out_of_a_marked_text_is_found_in_the_text() -> None:
    text = "The fee is 20.\nIt is due at once."
    marked = spotlight(text, CODE)
    assert unmarked(marked[4:22], CODE) in text


def test_two_codes_have_two_marks() -> None:
    assert mark_of("1") != mark_of("2")


def test_a_code_is_hexadecimal() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        spotlight("a", "no code")
