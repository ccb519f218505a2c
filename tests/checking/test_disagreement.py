"""The line in which an answer says that two documents differ."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from citewell.checking.disagreement import Conflict, Kind, Said

FIRST = Said("a", 0, 10, "Blocked for 12 hours.", "Cards", "file:///manuals/2025/my%20cards.md", date(2025, 1, 1), None)
OTHER = Said("b", 0, 10, "Blocked for 24 hours.", "Cards, new", "file:///manuals/2026/my%20cards.md", None, None)


def warning(one: Said, other: Said) -> str:
    return Conflict(Kind.FIGURE, one, other).warning


def test_what_is_not_known_is_not_said() -> None:
    assert warning(FIRST, OTHER) == (
        "Two documents differ (figure): “Blocked for 12 hours.” (Cards, in force from 2025-01-01); "
        "“Blocked for 24 hours.” (Cards, new)."
    )


@pytest.mark.parametrize(
    ("one", "other", "names"),
    [
        (FIRST.source, OTHER.source, ("2025/my cards.md", "2026/my cards.md")),
        ("file:///manuals/cards.md", "file:///manuals/cards-2.md", ("cards.md", "cards-2.md")),
        ("file:///a/b", "file:///a/b/c", ("b", "c")),
        ("bank:cards", "bank:fees", ("bank:cards", "bank:fees")),
        ("https://a.example/cards?v=1", "https://a.example/cards?v=2", ("cards?v=1", "cards?v=2")),
    ],
)  # fmt: skip
def test_two_of_one_title_are_named_by_their_paths(one: str, other: str, names: tuple[str, str]) -> None:
    told = warning(replace(FIRST, source=one), replace(OTHER, title="Cards", source=other))
    assert f"hours.” ({names[0]}, in force" in told
    assert f"hours.” ({names[1]})." in told


@pytest.mark.parametrize("before", ["and so on " * 50, "und so weiter, " * 40, "等等" * 200, "x" * 300])
@pytest.mark.parametrize("after", ["", " and so on" * 50])
def test_of_a_long_statement_what_differs_is_shown(before: str, after: str) -> None:
    told = warning(*(replace(each, text=f"{before}{each.text}{after}", title="T" * 200) for each in (FIRST, OTHER)))
    assert len(told) < 450
    assert "12 hours" in told
    assert "24 hours" in told
    assert "\n" not in told
    assert "“…" in told


def test_without_a_number_it_is_the_first_word_that_differs() -> None:
    long = "and so on " * 20
    told = warning(
        replace(FIRST, text=f"{long} it may not be opened 2 times"),
        replace(OTHER, text=f"{long} it may be opened 2 times"),
    )
    assert "it may not be opened" in told
