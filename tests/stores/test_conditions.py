from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citewell.filters import (
    BUILT_IN,
    MAX_DEPTH,
    MAX_PARTS,
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
    matches,
)
from citewell.stores import conditions
from citewell.stores.lance_rows import field_columns
from citewell.stores.store import Scope
from citewell.types import FieldValue

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.db import DBConnection
    from lancedb.table import Table

FIELDS = {
    "department": FieldType.TEXT,
    "amount": FieldType.NUMBER,
    "signed": FieldType.DATE,
    "tags": FieldType.LIST,
    "select": FieldType.TEXT,  # A word of SQL.
}
HOSTILE = [
    "", " ", "a", "ab", "b", "A", "%", "_", "a%b", "a_b", "\\", "a\\b", "\\%", "'", "''", '"', "`", "O'Brien",
    "' OR 1=1 --", "'); DROP TABLE documents; --", "/* a */", ";", "a\nb", "\r\n", "\t", "$1", "?", ":x", "{a}", "null",
    "NULL", "true", "été", "e\u0301te\u0301", "ß", "日本", "😀", "\u202e", "\uffff", "\x01", "\x7f", "a,b", "[a]",
]  # fmt: skip
NUMBERS = [0.0, 1.0, -1.0, 0.1, 0.1 + 0.2, 1e16, 2.0**53, -1e300, 1.7976931348623157e308, 5e-324, 1 / 3]
DAYS = [date.min, date(1969, 12, 31), date(1970, 1, 1), date(2024, 2, 29), date(2026, 1, 31), date.max]

texts = st.sampled_from(HOSTILE) | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4)
numbers = st.sampled_from(NUMBERS) | st.floats(allow_nan=False, allow_infinity=False).map(lambda one: one + 0.0)
days = st.sampled_from(DAYS) | st.dates()
Pools = Mapping[FieldType, list[Any]]


@st.composite
def pools(draw: st.DrawFn) -> Pools:
    """A few values of each type, for documents and conditions alike, so that many conditions are met."""
    some = draw(st.lists(texts, min_size=3, max_size=4))
    return {
        FieldType.TEXT: some,
        FieldType.LIST: some,
        FieldType.NUMBER: draw(st.lists(numbers, min_size=2, max_size=4)),
        FieldType.DATE: draw(st.lists(days, min_size=2, max_size=4)),
    }


def documents(pool: Pools) -> st.SearchStrategy[dict[str, FieldValue]]:
    """Values of a document: a declared field may be missing, a built-in one is always there."""
    shapes = {
        name: st.lists(st.sampled_from(pool[kind]), max_size=3).map(tuple)
        if kind is FieldType.LIST
        else st.sampled_from(pool[kind])
        for name, kind in {**FIELDS, **BUILT_IN}.items()
    }
    always = {name: shapes[name] for name in BUILT_IN}
    return st.fixed_dictionaries(always, optional={name: shapes[name] for name in FIELDS})


def leaves(pool: Pools) -> st.SearchStrategy[Filter]:
    return st.sampled_from(sorted({**FIELDS, **BUILT_IN}.items())).flatmap(lambda field: _leaf(*field, pool))


def _leaf(name: str, kind: FieldType, pool: Pools) -> st.SearchStrategy[Filter]:
    value = st.sampled_from(pool[kind])
    shapes: list[st.SearchStrategy[Filter]] = [
        value.map(lambda one: Equal(name, one)),
        st.lists(value, min_size=1, max_size=3).map(lambda some: In(name, tuple(some))),
    ]
    if kind in (FieldType.TEXT, FieldType.LIST):
        pieces = sorted({text[at:end] for text in pool[kind] for at in (0, 1) for end in (1, 2, None)} - {""})
        shapes.append(st.sampled_from(pieces or ["x"]).map(lambda text: Contains(name, text)))
    if kind is not FieldType.LIST:
        shapes.append(st.tuples(value, value).map(lambda pair: Range(name, *sorted(pair))))
        shapes.append(value.map(lambda one: Range(name, least=one)))
        shapes.append(value.map(lambda one: Range(name, most=one)))
    return st.one_of(shapes)


def filters(pool: Pools) -> st.SearchStrategy[Filter]:
    return st.recursive(leaves(pool), _joined, max_leaves=5)


def _joined(inner: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    parts = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return parts.map(And) | parts.map(Or) | inner.map(Not)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[dict[str, FieldValue]], list[Filter]]:
    """Documents, and what is asked of them."""
    pool = draw(pools())
    rows = draw(st.lists(documents(pool), min_size=3, max_size=8))
    return rows, draw(st.lists(filters(pool), min_size=3, max_size=6))


def table_of(connection: DBConnection, rows: Sequence[Mapping[str, object]]) -> Table:
    return connection.create_table("rows", _as_table(rows), mode="overwrite")


def _as_table(rows: Sequence[Mapping[str, object]]) -> pa.Table:
    """Rows with the columns that a scope's condition may name; what a row does not say is missing."""
    import pyarrow as pa

    texts, days = [*BUILT_IN, "id", "tokens"], ["valid_from", "valid_to"]
    schema = pa.schema(
        [pa.field(name, pa.string()) for name in texts]
        + [pa.field(name, pa.date32()) for name in days]
        + [pa.field("groups", pa.list_(pa.string())), pa.field("current", pa.bool_())]
        + field_columns(FIELDS)
    )
    table = pa.Table.from_pylist([{"tokens": "w", **row} for row in rows], schema=schema)
    vectors = np.ones((len(rows), 2), np.float32)
    column: pa.Array[Any] = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 2)
    return table.append_column("vector", column)


def stored(place: int, values: Mapping[str, FieldValue]) -> dict[str, object]:
    row: dict[str, object] = {"id": str(place), "groups": ["g"], "current": True}
    for name, value in values.items():
        column = name if name in BUILT_IN else f"f_{name}"
        row[column] = list(value) if isinstance(value, tuple) else value
    return row


def found(table: Table, where: str | None) -> set[str]:
    """The ids of the rows, which a scan and a count must agree on."""
    query: Any = table.search().select(["id"])
    ids = {row["id"] for row in (query.where(where) if where else query).to_arrow().to_pylist()}
    assert table.count_rows(where) == len(ids)
    return ids


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> DBConnection:
    import lancedb

    return lancedb.connect(tmp_path_factory.mktemp("rows"))


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_what_lance_finds_is_what_the_reference_says(
    connection: DBConnection, case: tuple[list[dict[str, FieldValue]], list[Filter]]
) -> None:
    rows, asked = case
    table = table_of(connection, [stored(place, values) for place, values in enumerate(rows)])
    for condition in asked:
        checked = check(condition, FIELDS)
        expected = {str(place) for place, values in enumerate(rows) if matches(checked, values)}
        assert found(table, conditions.readable(Scope(groups=None, where=checked), FIELDS)) == expected


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_indexes_on_some_of_the_rows_change_nothing(
    connection: DBConnection, case: tuple[list[dict[str, FieldValue]], list[Filter]]
) -> None:
    from lancedb.index import BTree, LabelList

    rows, asked = case
    lines = [stored(place, values) for place, values in enumerate(rows)]
    table, later = table_of(connection, lines[:2]), _as_table(lines[2:])
    for name, kind in FIELDS.items():
        table.create_index(f"f_{name}", config=LabelList() if kind is FieldType.LIST else BTree())
    table.add(later)
    for condition in asked:
        checked = check(condition, FIELDS)
        expected = {str(place) for place, values in enumerate(rows) if matches(checked, values)}
        assert found(table, conditions.readable(Scope(groups=None, where=checked), FIELDS)) == expected


def test_every_hostile_text_is_only_itself(connection: DBConnection) -> None:
    """In each way that a condition is used: a scan, a count, before a vector search and before a full text search."""
    rows = [
        {"id": str(place), "title": text, "f_department": text, "f_tags": ["-x-", text], "groups": [text or "-"]}
        for place, text in enumerate(HOSTILE)
    ]
    table = table_of(connection, rows)
    table.create_index("tokens", config=_words())
    for place, text in enumerate(HOSTILE):
        same: list[Filter] = [Equal("title", text), In("department", (text,)), Equal("tags", text), In("tags", (text,))]
        scopes = [Scope(groups=None, where=check(And(tuple(same)), FIELDS))]
        scopes += [Scope(groups=frozenset({text}))] if text else []
        for scope in scopes:
            where = conditions.readable(scope, FIELDS, any_version=True)
            assert found(table, where) == found_by_search(table, where) == {str(place)}, text
        if text:
            holders = {str(at) for at, other in enumerate(HOSTILE) if text in other}
            for field in ("title", "department", "tags"):
                assert found(table, _where(Contains(field, text))) == holders, text


def _words() -> Any:
    from lancedb.index import FTS

    return FTS(base_tokenizer="whitespace", stem=False, remove_stop_words=False, lower_case=False, ascii_folding=False)


def _where(condition: Filter) -> str:
    return conditions.meets(check(condition, FIELDS), {**FIELDS, **BUILT_IN})


def found_by_search(table: Table, where: str | None) -> set[str]:
    """The ids that a vector search and a full text search find, which must agree."""
    from lancedb.query import MatchQuery

    literal = MatchQuery("w", "tokens")  # type: ignore[call-arg]  # pydantic gives the rest their defaults
    by_vector: Any = table.search(np.ones(2, np.float32), vector_column_name="vector").select(["id", "_distance"])
    by_words: Any = table.search(literal).select(["id", "_score"])
    near, worded = (
        {row["id"] for row in query.where(where, prefilter=True).limit(100).to_arrow().to_pylist()}
        for query in (by_vector, by_words)
    )
    assert near == worded
    return near


def test_a_negation_is_true_of_what_is_missing(connection: DBConnection) -> None:
    table = table_of(
        connection,
        [
            {"id": "none"},
            {"id": "x", "f_department": "x", "f_amount": 1.0, "f_signed": date(2026, 1, 1), "f_tags": ["x"]},
            {"id": "y", "f_department": "y", "f_amount": 2.0, "f_signed": date(2026, 1, 2), "f_tags": []},
        ],
    )
    for condition in (
        Equal("department", "x"),
        Contains("department", "x"),
        Range("department", most="x"),
        In("amount", (1.0, 3.0)),
        Range("amount", -1.0, 1.5),
        Range("signed", most=date(2026, 1, 1)),
        Equal("tags", "x"),
        In("tags", ("x", "z")),
        Contains("tags", "x"),
    ):
        assert found(table, _where(condition)) == {"x"}, condition
        assert found(table, _where(Not(condition))) == {"none", "y"}, condition
        assert found(table, _where(Not(Not(condition)))) == {"x"}, condition
        assert found(table, _where(And((Not(condition), Not(Equal("department", "y")))))) == {"none"}, condition


@pytest.mark.parametrize("number", [*NUMBERS, -5e-324, 2.2250738585072014e-308, 123456789.123456789, 1e-7])
def test_numbers_lose_nothing(connection: DBConnection, number: float) -> None:
    near = [math.nextafter(number, end) for end in (-math.inf, math.inf)]
    rows = [one for one in (near[0], number, near[1]) if math.isfinite(one)]
    table = table_of(connection, [{"id": repr(one), "f_amount": one} for one in rows])
    assert found(table, _where(Equal("amount", number))) == {repr(number)}
    assert found(table, _where(Range("amount", number, number))) == {repr(number)}


def test_the_largest_filters_are_understood(connection: DBConnection) -> None:
    table = table_of(connection, [{"id": "1", "f_department": "x", "f_tags": ["x"]}])
    deep: Filter = Equal("department", "x")
    for level in range(MAX_DEPTH - 1):
        deep = (Not(deep), Or((deep,)), And((deep,)))[level % 3]
    broad = Or((*(Equal("tags", str(number)) for number in range(MAX_PARTS - 2)), Equal("tags", "x")))
    long = In("department", (*(f"{number:4000}" for number in range(MAX_VALUES - 1)), "x"))
    assert isinstance(deep, Not)  # The last of seven.
    assert found(table, _where(deep)) == set()
    for condition in (deep.part, broad, long):
        assert found(table, _where(condition)) == {"1"}


def test_a_day_a_version_and_groups(connection: DBConnection) -> None:
    day = date(2026, 6, 1)
    rows: list[Mapping[str, object]] = [
        {"id": "open", "current": True, "groups": ["a"]},
        {"id": "until", "current": False, "groups": ["a", "b"], "valid_to": day},
        {"id": "before", "current": False, "groups": ["a"], "valid_to": date(2026, 5, 31)},
        {"id": "from", "current": True, "groups": ["b"], "valid_from": day},
        {"id": "after", "current": True, "groups": ["b"], "valid_from": date(2026, 6, 2)},
        {"id": "nobody", "current": True, "groups": []},
    ]
    table = table_of(connection, rows)
    every = {str(row["id"]) for row in rows}

    def ids(scope: Scope, *, any_version: bool = False) -> set[str]:
        return found(table, conditions.readable(scope, any_version=any_version))

    assert ids(Scope(groups=None)) == {"open", "from", "after", "nobody"}
    assert ids(Scope(groups=None), any_version=True) == every
    assert ids(Scope(groups=None, on=day)) == {"open", "until", "from", "nobody"}
    assert ids(Scope(frozenset({"a"}), on=day)) == {"open", "until"}
    assert ids(Scope(frozenset({"a", "b", "'"}))) == {"open", "from", "after"}
    assert ids(Scope(frozenset())) == set()
    assert ids(Scope(None, day, Equal("trust", "approved"))) == set()
    assert ids(Scope(None, day, Not(Equal("trust", "approved")))) == {"open", "until", "from", "nobody"}


def test_a_field_without_a_column_is_no_condition() -> None:
    with pytest.raises(KeyError):
        conditions.readable(Scope(None, None, Equal("department", "x")))


def test_a_text_with_nul_is_never_quoted() -> None:
    with pytest.raises(ValueError, match="NUL"):
        conditions.literal("a\0")


@pytest.mark.parametrize(
    ("root", "below"), [("file:///a", {"1", "2", "3"}), ("file:///a%20b", {"5"}), ("file:///a/c.zip", {"2", "3"})]
)
def test_sources_under_a_root(connection: DBConnection, root: str, below: set[str]) -> None:
    names = ["file:///a/b.txt", "file:///a/c.zip", "file:///a/c.zip!/d", "file:///ab", "file:///a%20b", "file:///axb"]
    table = table_of(connection, [{"id": str(place), "source": name} for place, name in enumerate(names, start=1)])
    assert found(table, conditions.under("source", [root])) == below
    assert found(table, conditions.under("source", [])) == set()
    assert found(table, conditions.both(conditions.filled("title"), None)) == set()
