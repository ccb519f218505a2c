from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import pytest

from citewell.errors import FilterError
from citewell.filters import (
    MAX_DEPTH,
    MAX_PARTS,
    MAX_TEXT,
    MAX_VALUES,
    And,
    Contains,
    Equal,
    FieldType,
    Filter,
    In,
    Not,
    Or,
    Range,
    check,
    leaves,
    matches,
)
from citewell.types import FieldValue, Trust

# Untyped, for what a type checker would refuse.
equal: Any = Equal
one_of: Any = In
between: Any = Range
contains: Any = Contains
both: Any = And
either: Any = Or
negated: Any = Not

DECLARED = {
    "department": FieldType.TEXT,
    "amount": FieldType.NUMBER,
    "signed": FieldType.DATE,
    "tags": FieldType.LIST,
}
LEGAL: dict[str, FieldValue] = {
    "department": "legal",
    "amount": 25.0,
    "signed": date(2026, 1, 31),
    "tags": ("urgent", "cards"),
}


@pytest.mark.parametrize(
    ("condition", "met"),
    [
        (Equal("department", "legal"), True),
        (Equal("department", "Legal"), False),
        (Equal("department", "lega"), False),
        (Equal("amount", 25.0), True),
        (Equal("signed", date(2026, 1, 31)), True),
        (Equal("tags", "cards"), True),
        (Equal("tags", "card"), False),
        (In("department", ("x", "legal")), True),
        (In("amount", (1.0, 2.0)), False),
        (In("tags", ("x", "urgent")), True),
        (Range("amount", 25.0, 25.0), True),
        (Range("amount", least=25.1), False),
        (Range("signed", most=date(2026, 1, 30)), False),
        (Range("department", "a", "m"), True),
        (Range("department", most="Z"), False),
        (Contains("department", "ega"), True),
        (Contains("tags", "gent"), True),
        (Contains("tags", "urgentcards"), False),
        (Contains("department", "%"), False),
        (And((Equal("amount", 25.0), Equal("tags", "urgent"))), True),
        (And((Equal("amount", 25.0), Equal("tags", "x"))), False),
        (Or((Equal("amount", 1.0), Equal("tags", "urgent"))), True),
        (Not(Equal("department", "legal")), False),
    ],
)
def test_what_a_condition_means(condition: Filter, met: bool) -> None:
    assert matches(check(condition, DECLARED), LEGAL) is met


@pytest.mark.parametrize(
    "condition",
    [
        Equal("department", "legal"),
        In("amount", (0.0, 25.0)),
        Range("signed", most=date.max),
        Range("amount", least=-1e300),
        Contains("tags", "a"),
        Equal("tags", ""),
    ],
)
@pytest.mark.parametrize("values", [{}, {"department": 1.0, "amount": "x", "signed": "2026", "tags": ()}])
def test_what_is_missing_or_of_another_type_meets_only_a_negation(
    condition: Filter, values: dict[str, FieldValue]
) -> None:
    assert not matches(condition, values)
    assert matches(Not(condition), values)
    assert not matches(Not(Not(condition)), values)


def test_leaves_come_in_order() -> None:
    one, two, three = Equal("a", "1"), Contains("b", "2"), Range("c", "3")
    assert list(leaves(And((one, Not(Or((two, three))))))) == [one, two, three]


def test_check_makes_one_form_of_what_means_the_same() -> None:
    given = both(
        [
            Equal("amount", 25),
            one_of("amount", {-0.0}),
            Range("signed", "2026-01-31", date(2026, 2, 1)),
            Equal("trust", Trust.APPROVED),
            Not(Or((Contains("tags", "a"), one_of("department", ["x", "y"])))),
        ]
    )
    checked = check(given, DECLARED)
    assert checked == And(
        (
            Equal("amount", 25.0),
            In("amount", (0.0,)),
            Range("signed", date(2026, 1, 31), date(2026, 2, 1)),
            Equal("trust", "approved"),
            Not(Or((Contains("tags", "a"), In("department", ("x", "y"))))),
        )
    )
    assert [repr(leaf) for leaf in leaves(checked)][:2] == [
        "Equal(field='amount', value=25.0)",
        "In(field='amount', values=(0.0,))",
    ]
    assert type(list(leaves(checked))[3].value) is str  # type: ignore[union-attr]
    assert checked in {checked}
    assert check(checked, DECLARED) == checked


@dataclass(frozen=True)
class Lookalike:
    field: str = "department"
    value: str = "legal"


@pytest.mark.parametrize(
    ("condition", "complaint"),
    [
        (equal("cost", 1), "There is no field 'cost' to filter by.*amount, department, language, signed, source, tags"),
        (equal("f_amount", 1.0), "no field 'f_amount'"),
        (equal("department = 'x' OR 1", "x"), "no field \"department = 'x' OR 1\""),
        (equal("x" * 10_000, "x"), "no field 'x{60}…' to"),
        (equal("a\nb", "x"), r"no field 'a\\nb' to"),
        (equal(5, "x"), "no field 5"),
        (equal(("department",), "x"), "no field of type tuple"),
        (equal(["department"], "x"), "no field of type list"),
        (equal("department", 5), r"department \(text\) has the value 5\. Give a text"),
        (equal("department", None), "department .* of type NoneType"),
        (equal("department", b"legal"), "department .* of type bytes"),
        (equal("department", "a\0b"), r"department .* 'a\\x00b'"),
        (equal("department", "\ud800"), r"department .*'\\ud800'"),
        (equal("department", "x" * (MAX_TEXT + 1)), "department .* at most 4,000 signs"),
        (equal("amount", "25"), r"amount \(number\) has the value '25'\. Give a number"),
        (equal("amount", True), "amount .* True"),
        (equal("amount", float("nan")), "amount .* nan"),
        (equal("amount", float("inf")), "amount .* inf"),
        (equal("amount", 10**400), "amount .* of type int"),
        (equal("amount", 10**5_000), "amount .* of type int"),
        (equal("amount", 1j), "amount .* of type complex"),
        (equal("signed", datetime(2026, 1, 1, tzinfo=UTC)), r"signed \(date\) .* 2026-01-01 00:00"),
        (equal("signed", "31.01.2026"), "signed .*'31.01.2026'.* a day such as 2026-01-31"),
        (equal("signed", "2026-01-31T10:00"), "signed .*'2026-01-31T10:00'"),
        (equal("signed", 20260131), "signed .* 20260131"),
        (equal("tags", ("urgent",)), r"tags \(list\) .* of type tuple"),
        (one_of("department", "legal"), "In for 'department' has nothing listed"),
        (one_of("department", ()), "In for 'department' has nothing listed"),
        (one_of("department", ("legal", 5)), "department .* value 5"),
        (one_of("amount", range(5)), "In for 'amount' has nothing listed"),
        (both(()), "And has nothing listed"),
        (either(equal("amount", 1)), "Or has nothing listed"),
        (contains("department", ""), "department asks for no text"),
        (contains("department", 5), "department .* value 5"),
        (contains("amount", "2"), "amount is a number and contains no text"),
        (contains("signed", "2026"), "signed is a date and contains no text"),
        (between("tags", "a", "b"), "tags is a list and has no order"),
        (between("amount"), "range for amount is open on both sides"),
        (between("amount", 2, 1), r"range for amount is from 2\.0 to 1\.0"),
        (between("signed", "2026-02-01", "2026-01-01"), "range for signed is from 2026-02-01 to 2026-01-01"),
        (between("department", "b", "a"), "range for department is from 'b' to 'a'"),
        (between("department", least=1), "department .* value 1"),
        (None, "of type NoneType, which is no condition"),
        ("department = 'legal'", "department = 'legal'.*, which is no condition"),
        ({"field": "department"}, "of type dict, which is no condition"),
        (Lookalike(), "of type Lookalike, which is no condition"),
        (Equal, "of type type, which is no condition"),
        (negated(None), "of type NoneType, which is no condition"),
        (both((equal("department", "legal"), "x")), "'x', which is no condition"),
        (both((equal("amount", 1), negated(equal("cost", 1)))), "no field 'cost'"),
    ],
)
def test_what_cannot_be_is_refused_by_name(condition: Any, complaint: str) -> None:
    with pytest.raises(FilterError, match=complaint) as caught:
        check(condition, DECLARED)
    assert len(str(caught.value)) < 400


def nested(levels: int) -> Filter:
    condition: Filter = Equal("department", "x")
    for _ in range(levels - 1):
        condition = Not(condition)
    return condition


def test_what_is_too_large_is_refused() -> None:
    one = Equal("amount", 1.0)
    endless: list[Any] = []
    endless.append(And(endless))  # type: ignore[arg-type]
    for largest in (nested(MAX_DEPTH), Or((one,) * (MAX_PARTS - 1)), In("amount", (1.0,) * MAX_VALUES)):
        assert check(largest, DECLARED) == largest
    for too_large, what in (
        (nested(MAX_DEPTH + 1), "20 levels"),
        (nested(100_000), "20 levels"),
        (endless[0], "20 levels"),
        (Or((one,) * MAX_PARTS), "200 parts"),
        (And((Or((one,) * 150), Or((one,) * 150))), "200 parts"),
        (In("amount", (1.0,) * (MAX_VALUES + 1)), "1,000 listed values"),
        (And((In("amount", (1.0,) * 600), In("amount", (2.0,) * 600))), "1,000 listed values"),
    ):
        with pytest.raises(FilterError, match=f"more than {what}"):
            check(too_large, DECLARED)
