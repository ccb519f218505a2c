from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from citewell.filters import MAX_TEXT, FieldType
from citewell.loading.metadata import MAX_LISTED, field_values, undeclared
from citewell.types import FieldValue

DECLARED = {
    "department": FieldType.TEXT,
    "amount": FieldType.NUMBER,
    "signed": FieldType.DATE,
    "tags": FieldType.LIST,
}


def test_a_rule_wins_over_the_file_and_what_is_not_declared_is_no_field() -> None:
    said = {"department": "legal", "amount": 25}
    of_file = {"department": "sales", "signed": "2026-01-31", "author": "Mallory", "tags": "a, b ,, a,"}
    values, warnings = field_values(DECLARED, said, of_file)
    assert values == {"department": "legal", "amount": 25.0, "signed": date(2026, 1, 31), "tags": ("a", "b")}
    assert warnings == []
    assert field_values(DECLARED, None, {}) == ({}, [])
    assert field_values({}, None, of_file) == ({}, [])


@pytest.mark.parametrize(
    ("field", "given", "value"),
    [
        ("department", "  as it is ", "  as it is "),
        ("department", 2026, "2026"),
        ("department", 2.5, "2.5"),
        ("department", date(2026, 1, 31), "2026-01-31"),
        ("amount", 25, 25.0),
        ("amount", "25", 25.0),
        ("amount", " -2.5e3 ", -2500.0),
        ("amount", -0.0, 0.0),
        ("signed", date(2026, 1, 31), date(2026, 1, 31)),
        ("signed", datetime(2026, 1, 31, 23, 59, tzinfo=UTC), date(2026, 1, 31)),
        ("signed", "2026-01-31", date(2026, 1, 31)),
        ("signed", "2026-01-31T23:59:00Z", date(2026, 1, 31)),
        ("signed", "2026-01-31 23:59", date(2026, 1, 31)),
        ("tags", ("a", "b, c"), ("a", "b, c")),
        ("tags", ["b", "a", "b"], ("b", "a")),
        ("tags", "one", ("one",)),
        ("tags", "b,a", ("b", "a")),
        ("tags", 2026, ("2026",)),
    ],
)
def test_values_become_of_their_type(field: str, given: object, value: FieldValue) -> None:
    values, warnings = field_values(DECLARED, {field: given}, {})
    assert warnings == []
    assert repr(values[field]) == repr(value)


@pytest.mark.parametrize(
    ("field", "given", "shown"),
    [
        ("department", ["a"], "its department is of type list, which is no text; it was left out"),
        ("department", True, "its department is True, which is no text; it was left out"),
        ("department", "a\0", "its department is 'a\\x00', which is no text; it was left out"),
        ("department", "\ud800", "its department is '\\ud800', which is no text; it was left out"),
        ("department", "x" * (MAX_TEXT + 1), f"its department is '{'x' * 60}…', which is no text; it was left out"),
        ("department", 10**4_000, "its department is of type int, which is no text; it was left out"),
        ("amount", "25 EUR", "its amount is '25 EUR', which is no number; it was left out"),
        ("amount", "nan", "its amount is 'nan', which is no number; it was left out"),
        ("amount", True, "its amount is True, which is no number; it was left out"),
        ("signed", "31.01.2026", "its signed is '31.01.2026', which is no day such as 2026-01-31; it was left out"),
        ("signed", "2026-02-30", "its signed is '2026-02-30', which is no day such as 2026-01-31; it was left out"),
        ("signed", 2026, "its signed is 2026, which is no day such as 2026-01-31; it was left out"),
        ("tags", ["a", True], "its tags is of type list, which is no list of texts; it was left out"),
        ("tags", [["a"]], "its tags is of type list, which is no list of texts; it was left out"),
        ("tags", "a\nb\0", "its tags is 'a\\nb\\x00', which is no list of texts; it was left out"),
        ("tags", ["a"] * (MAX_LISTED + 1), "its tags is of type list, which is no list of texts; it was left out"),
    ],
)
def test_what_is_of_another_type_is_left_out_and_named(field: str, given: object, shown: str) -> None:
    """The file's own word does not take the place of a rule's."""
    of_file = {"department": "sales", "amount": "1", "signed": "2026-01-01", "tags": "x"}
    values, warnings = field_values(DECLARED, {field: given}, of_file)
    assert warnings == [shown]
    assert values.keys() == DECLARED.keys() - {field}


@pytest.mark.parametrize("given", ["", [], (), " , ", [""]])
def test_nothing_is_no_value(given: object) -> None:
    assert field_values(DECLARED, {"tags": given}, {"tags": "x"}) == ({}, [])


def test_undeclared_fields_of_a_rule() -> None:
    assert undeclared({"tags": [], "cost": 5, "apartment": "x"}, DECLARED) == ["apartment", "cost"]
    assert undeclared({"tags": []}, DECLARED) == undeclared(None, DECLARED) == []
