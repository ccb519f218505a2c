"""What reaches the terminal: nothing that a document wrote may steer it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.text import Text

from citewell.cli.terminal import complain, console, one_line, place, plain, print_json


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("\x1b]0;title\x07x", "]0;titlex"),
        ("\x9b31mred", "31mred"),
        ("a\rb\x08c\x7f", "abc"),
        ("pay \u202e001\u202c now", "pay 001 now"),
        ("\u2066a\u2069\u200e\u200f\u061c", "a"),
        ("a\U000e0041\U000e007fb", "ab"),
        ("half \ud83d pair", "half  pair"),
        ("tab\there\nline", "tab here\nline"),
    ],
)
def test_signs_that_steer_a_terminal_are_dropped(hostile: str, shown: str) -> None:
    assert plain(hostile) == shown


def test_text_of_every_script_stays() -> None:
    text = "Zürich — 東京 สวัสดี नमस्ते العربية 👩‍👩‍👧 می‌خواهم €25"
    assert plain(text) == text


def test_one_line_has_one_line() -> None:
    assert one_line("a\n b\x85c\x1b\u2028d\r\n") == "a b c d"


def test_a_console_takes_markup_links_and_emoji_codes_as_text() -> None:
    stream = io.StringIO()
    console(stream).print("[red]x[/red] [link=http://a]y[/link] :smile: 123")
    assert stream.getvalue() == "[red]x[/red] [link=http://a]y[/link] :smile: 123\n"


def test_no_colour_and_no_line_break_where_there_is_no_terminal() -> None:
    stream = io.StringIO()
    text = "word " * 500
    console(stream).print(Text(text.strip(), "bold red"))
    assert stream.getvalue() == text.strip() + "\n"


def test_json_is_ascii_and_never_nan(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"text": "é\u202e\ud800"})
    assert capsys.readouterr().out == '{\n  "text": "\\u00e9\\u202e\\ud800"\n}\n'
    with pytest.raises(ValueError, match="not JSON compliant"):
        print_json({"score": float("nan")})


def test_a_complaint_is_a_line_and_its_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    complain("no file \x1b[2Ja\nb", "look\nthere")
    assert capsys.readouterr().err == "citewell: no file [2Ja b\n  look there\n"


def test_a_source_is_shown_as_a_person_would_type_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert place((tmp_path / "a folder" / "ü.pdf").as_uri()) == "a folder/ü.pdf"
    assert place((tmp_path.parent / "x.pdf").as_uri()) == str(tmp_path.parent / "x.pdf")
    assert place("https://example.org/a%20b") == "https://example.org/a%20b"
