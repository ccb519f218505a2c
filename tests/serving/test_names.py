"""The names of uploads."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.errors import UsageError
from citewell.loading.access import SIDE_ENDING
from citewell.loading.discovery import is_ours
from citewell.serving.names import MAX_BYTES, clean


@pytest.mark.parametrize(
    ("given", "cleaned"),
    [
        ("manual.pdf", "manual.pdf"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("/etc/shadow", "shadow"),
        ("C:\\Users\\ann\\notes.txt", "notes.txt"),
        (".hidden.md", "hidden.md"),
        ("a\x00b.md", "a_b.md"),
        ("a\r\nb: c.md", "a__b_ c.md"),
        ("Gehälter 2026.pdf", "Gehälter 2026.pdf"),
        ("Geha\u0308lter.pdf", "Gehälter.pdf"),
        ("fdp.\u202eexe", "fdp.exe"),
        ("con.txt", "_con.txt"),
        ("report.pdf. ", "report.pdf"),
        ("a\ud800.md", "a_.md"),
    ],
)
def test_a_name_is_a_plain_files(given: str, cleaned: str) -> None:
    assert clean(given) == cleaned


@pytest.mark.parametrize(
    "given",
    [
        *("", ".", "..", "../..", "/", "___", "\u202e"),
        *("citewell-access.toml", "x/citewell-access.toml", "Citewell-Access.TOML", "citewell.toml"),
        *("manual.pdf.citewell.toml", ".citewell.toml", "a.CITEWELL.toml", "citewell-access.toml. "),
    ],
)
def test_a_name_of_nothing_or_of_ours_is_refused(given: str) -> None:
    with pytest.raises(UsageError):
        clean(given)


def test_a_long_name_keeps_its_ending() -> None:
    cleaned = clean("ä" * 300 + ".pdf")
    assert cleaned.endswith(".pdf")
    assert len(cleaned.encode()) <= MAX_BYTES
    assert len(clean("x" * 300).encode()) == MAX_BYTES


@given(st.text(max_size=300))
def test_any_name_stays_in_its_folder(name: str) -> None:
    try:
        cleaned = clean(name)
    except UsageError:
        return
    assert (Path("/uploads") / cleaned).parent == Path("/uploads")
    assert not cleaned.startswith(".")
    assert "/" not in cleaned
    assert "\\" not in cleaned
    assert not is_ours(cleaned)
    assert len((cleaned + SIDE_ENDING).encode()) < 255
    assert clean(cleaned) == cleaned
