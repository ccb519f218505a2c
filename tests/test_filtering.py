from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.errors import FilterError
from citewell.filtering import from_json, parse, to_json
from citewell.filters import MAX_DEPTH, And, Contains, Equal, FieldType, Filter, In, Not, Or, Range, check

DECLARED = {
    "department": FieldType.TEXT,
    "amount": FieldType.NUMBER,
    "signed": FieldType.DATE,
    "tags": FieldType.LIST,
    "in": FieldType.TEXT,
}
LEGAL, URGENT = Equal("department", "legal"), Contains("tags", "urgent")


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ('department = "legal"', LEGAL),
        ("department=legal", LEGAL),
        ("  department\t==\n'legal' ", LEGAL),
        ("department != legal", Not(LEGAL)),
        ("amount >= 25", Range("amount", least=25.0)),
        ("amount <= -2.5e3", Range("amount", most=-2500.0)),
        ("amount < 25", And((Range("amount", most=25.0), Not(Equal("amount", 25.0))))),
        ("amount > 25", And((Range("amount", least=25.0), Not(Equal("amount", 25.0))))),
        ("signed <= 2026-01-31", Range("signed", most=date(2026, 1, 31))),
        ('signed = "2026-01-31"', Equal("signed", date(2026, 1, 31))),
        ('tags contains "urgent"', URGENT),
        ("tags not contains urgent", Not(URGENT)),
        ('department in ("DE", AT)', In("department", ("DE", "AT"))),
        ("amount in (1,2.5)", In("amount", (1.0, 2.5))),
        ("department not in (DE)", Not(In("department", ("DE",)))),
        ("department in (DE) AND NOT tags CONTAINS urgent", And((In("department", ("DE",)), Not(URGENT)))),
        ("version = 2026", Equal("version", "2026")),
        ("version = 1.10", Equal("version", "1.10")),
        ("department = 007", Equal("department", "007")),
        ('title = "Terms ""and"" conditions"', Equal("title", 'Terms "and" conditions')),
        ("title = 'O''Brien \"says\"'", Equal("title", 'O\'Brien "says"')),
        (r'source contains "C:\docs\"', Contains("source", "C:\\docs\\")),
        ("source = file:///srv/a%20b.pdf#1", Equal("source", "file:///srv/a%20b.pdf#1")),
        ('title = ""', Equal("title", "")),
        ('title = "and"', Equal("title", "and")),
        ("title = Größe", Equal("title", "Größe")),
        ('"in" = in_force', Equal("in", "in_force")),
        ("not department = legal and tags contains urgent", And((Not(LEGAL), URGENT))),
        ("not (department = legal and tags contains urgent)", Not(And((LEGAL, URGENT)))),
        ("not not department = legal", Not(Not(LEGAL))),
        (
            "department = legal or tags contains urgent and amount = 1",
            Or((LEGAL, And((URGENT, Equal("amount", 1.0))))),
        ),
        (
            "(department=legal or tags contains urgent)and amount=1",
            And((Or((LEGAL, URGENT)), Equal("amount", 1.0))),
        ),
        ("department = legal and amount = 1 and amount = 2", And((LEGAL, Equal("amount", 1.0), Equal("amount", 2.0)))),
        ("((department = legal))", LEGAL),
    ],
)
def test_an_expression_says_a_condition(text: str, condition: Filter) -> None:
    assert check(parse(text, DECLARED), DECLARED) == condition


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "sign 1: expected a field, found the end"),
        ("  ", "sign 3: expected a field, found the end"),
        ("department", "sign 11: expected one of = .* contains, found the end"),
        ("department legal", "sign 12: expected one of .*, found 'legal'"),
        ("department ~ legal", "sign 12: expected one of .*, found '~'"),
        ("department not legal", "sign 16: expected one of .*, found 'legal'"),
        ("department =", "sign 13: expected a value, found the end"),
        ("department = and", "sign 14: expected a value, found 'and'.*quotes"),
        ("department = <", "sign 14: expected a value, found '<'"),
        ("department = (legal)", r"sign 14: expected a value, found '\('"),
        ("department ! legal", "sign 12: expected one of .*, found '!'"),
        ("department contains", "sign 20: expected a text, found the end"),
        ("department = annual report", "sign 21: expected .* or the end, found 'report'.*quotes"),
        ('department = legal ""', "sign 20: expected .* or the end, found ''"),
        ("department = legal)", r"sign 19: expected .* or the end, found '\)'"),
        ("department = legal or", "sign 22: expected a field, found the end"),
        ("(department = legal", r'sign 20: expected "and", "or" or "\)", found the end'),
        ("department in legal", r"sign 15: expected \"\(\", found 'legal'.*in \("),
        ("department in (", "sign 16: expected a value, found the end"),
        ("department in ()", r"sign 16: expected a value, found '\)'"),
        ("department in (a b)", r"""sign 18: expected "," or "\)", found 'b'"""),
        ("= legal", "sign 1: expected a field, found '='"),
        ("and department = legal", "sign 1: expected a field, found 'and'"),
        ('department = "legal', "quote at sign 14 of the filter is not closed"),
        ("department = 'it''s", "quote at sign 14 of the filter is not closed"),
        ("department = it's", "quote at sign 16 of the filter is not closed"),
        ("not " * 21 + "department = legal", "more than 20 levels"),
        ("(" * 10_000, "more than 20 levels"),
        ("a" * 20_001, "longer than 20,000 signs"),
        ("department = legal and cost = 5", "no field 'cost' to filter by"),
        ("Department = legal", "no field 'Department' to filter by"),
        ("amount = much", "amount .* value 'much'"),
        ('amount = "25"', "amount .* value '25'"),
        ("amount = nan", "amount .* value 'nan'"),
        ("amount = 1e999", "amount .* value '1e999'"),
        ("signed = yesterday", "signed .* value 'yesterday'"),
        ("tags < a", "tags is a list and has no order"),
        ("department = \0", r"department .* '\\x00'"),
    ],
)
def test_what_is_no_expression_is_refused_at_its_place(text: str, complaint: str) -> None:
    with pytest.raises(FilterError, match=complaint):
        check(parse(text, DECLARED), DECLARED)


@given(st.text(alphabet="ab =<>!()'\",\\\n1andortis", max_size=30) | st.text(max_size=30))
def test_any_text_is_a_condition_or_refused(text: str) -> None:
    try:
        checked = check(parse(text, DECLARED), DECLARED)
    except FilterError:
        return
    assert check(checked, DECLARED) == check(from_json(to_json(checked)), DECLARED) == checked


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_any_text_can_be_quoted(text: str) -> None:
    for quote in "\"'":
        quoted = quote + text.replace(quote, quote * 2) + quote
        assert parse(f"title={quoted}", DECLARED) == Equal("title", text)


EXAMPLES: list[tuple[dict[str, Any], Filter]] = [
    ({"field": "department", "equal": "legal"}, LEGAL),
    ({"field": "amount", "equal": 25}, Equal("amount", 25.0)),
    ({"field": "department", "in": ["DE", "AT"]}, In("department", ("DE", "AT"))),
    ({"field": "tags", "contains": "urgent"}, URGENT),
    ({"field": "amount", "gte": 25}, Range("amount", least=25.0)),
    ({"field": "signed", "gte": "2026-01-01", "lte": "2026-01-31"}, Range("signed", "2026-01-01", "2026-01-31")),
    ({"not": {"or": [{"field": "department", "equal": "legal"}]}}, Not(Or((LEGAL,)))),
    ({"and": [{"field": "signed", "lte": "2026-01-31"}, {"field": "department", "equal": "legal"}]},
     And((Range("signed", most="2026-01-31"), LEGAL))),
]  # fmt: skip


@pytest.mark.parametrize(("data", "condition"), EXAMPLES)
def test_json_says_a_condition_and_back(data: dict[str, Any], condition: Filter) -> None:
    checked = check(from_json(data), DECLARED)
    assert checked == check(condition, DECLARED)
    assert json.loads(json.dumps(to_json(checked))) == data
    assert check(from_json(to_json(checked)), DECLARED) == checked


def nested(levels: int) -> dict[str, Any]:
    data: dict[str, Any] = {"field": "department", "equal": "legal"}
    for _ in range(levels - 1):
        data = {"not": data}
    return data


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (None, "neither of a field nor of other conditions"),
        ([], "neither of a field"),
        ("department = legal", "neither of a field"),
        ({}, "neither of a field"),
        ({"field": "department"}, "neither of a field"),
        ({"field": 5, "equal": 5}, "neither of a field"),
        ({"equal": "legal"}, "neither of a field"),
        ({"and": {"field": "department"}}, "neither of a field"),
        ({"and": [], "or": []}, "neither of a field"),
        ({"not": nested(1), "field": "amount"}, "filter on 'amount' has the keys 'not'"),
        ({"not": [nested(1)]}, "neither of a field"),
        ({"and": [nested(1), 5]}, "neither of a field"),
        ({"$where": "1"}, "neither of a field"),
        ({"field": "amount", "gt": 5}, "filter on 'amount' has the keys 'gt'"),
        ({"field": "amount", "equal": 5, "gte": 5}, "'amount' has the keys 'equal', 'gte'"),
        ({"field": "amount", "in": 5}, "'amount' has the keys 'in'"),
        ({"field": "amount\n" * 50, "x" * 1000: 5}, r"'amount\\namount.*' has the keys 'x{60}…'"),
        ({"and": []}, "And has nothing listed"),
        ({"field": "department", "in": []}, "'department' has nothing listed"),
        ({"field": "amount", "gte": None}, "amount is open on both sides"),
        ({"field": "amount", "equal": None}, "amount .* NoneType"),
        ({"field": "amount", "equal": True}, "amount .* True"),
        ({"field": "amount", "gte": "25"}, "amount .* '25'"),
        ({"field": "amount", "equal": {"$ne": 1}}, "amount .* of type dict"),
        ({"field": "department", "in": [["x"]]}, "department .* of type list"),
        ({"field": "department", "contains": 5}, "department .* 5"),
        (nested(MAX_DEPTH + 1), "more than 20 levels"),
        (nested(100_000), "more than 20 levels"),
        ({"or": [nested(1)] * 10_000}, "more than 200 parts"),
        ({"field": "amount", "in": [1] * 10_000}, "more than 1,000 listed values"),
        ({"field": "cost", "equal": 5}, "no field 'cost' to filter by"),
    ],
)
def test_other_json_is_refused(data: object, complaint: str) -> None:
    with pytest.raises(FilterError, match=complaint):
        check(from_json(data), DECLARED)


json_data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["amount", "tags"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["and", "or", "not", "field", "equal", "in", "contains", "gte", "lte", "x"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@given(json_data)
def test_any_data_is_a_condition_or_refused(data: object) -> None:
    try:
        checked = check(from_json(data), DECLARED)
    except FilterError:
        return
    assert check(from_json(to_json(checked)), DECLARED) == checked
