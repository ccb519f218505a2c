from __future__ import annotations

from citewell.loading.names import distinct, shortened, shown


def test_what_cannot_be_seen_is_spelt_out() -> None:
    assert shown("a.txt\0.exe") == "a.txt\\x00.exe"
    assert shown("invoice\u202efdp.exe") == "invoice\\u202efdp.exe"
    assert shown("Gebühren – 2024 👩‍👧.pdf") == "Gebühren – 2024 👩‍👧.pdf"


def test_a_long_name_keeps_its_ending() -> None:
    name = "x" * 4_000 + ".pdf"
    assert len(shortened(name)) == 201
    assert shortened(name).endswith(".pdf")
    assert shortened("short.pdf") == "short.pdf"


def test_a_number_never_makes_two_names_one() -> None:
    assert list(distinct(["a.txt", "a (2).txt", "a.txt", "a.txt"])) == ["a.txt", "a (2).txt", "a (3).txt", "a (4).txt"]
    assert list(distinct(["mail", "mail", "d/a.b", "d/a.b"])) == ["mail", "mail (2)", "d/a.b", "d/a (2).b"]


def test_many_equal_names_take_little_time() -> None:
    # The square of their number would not end before the test's time limit.
    assert len(set(distinct(["a.txt"] * 100_000))) == 100_000
