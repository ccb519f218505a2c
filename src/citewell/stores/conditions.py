"""Typed conditions to SQL. This is the only place that writes SQL, and no caller's string passes unquoted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime

from citewell.filters import BUILT_IN, And, Contains, Equal, FieldType, Filter, In, Leaf, Not, Or, Range
from citewell.stores.lance_rows import field_column
from citewell.stores.store import Scope
from citewell.types import BETWEEN_SOURCES

NOTHING = "false"
CURRENT = "current"
SEARCHABLE = "searchable"


def literal(text: str) -> str:
    """A quoted SQL string. The dialect has no escape but the doubled quote: every other character stands for itself.

    Raises:
        ValueError: it holds a NUL, which no stored id or group does.
    """
    if "\0" in text:
        raise ValueError("an id or a group's name cannot hold a NUL character")
    return "'" + text.replace("'", "''") + "'"


def one_of(column: str, values: Iterable[str]) -> str:
    """The column equals one of the values."""
    listed = ", ".join(literal(value) for value in sorted(values))
    return f"{column} IN ({listed})" if listed else NOTHING


def readable(scope: Scope, fields: Mapping[str, FieldType] = BUILT_IN, *, any_version: bool = False) -> str | None:
    """The row may be read within the scope; None where the scope leaves nothing out.

    Without a day that is the current version of each document, or any. `fields` are those that have a column, beside
    the built-in ones.
    """
    parts = []
    if scope.groups is not None:
        listed = ", ".join(literal(group) for group in sorted(scope.groups))
        parts.append(f"array_has_any(groups, [{listed}])" if listed else NOTHING)
    if scope.on is not None:
        day = f"date '{scope.on.isoformat()}'"
        parts.append(f"(valid_from IS NULL OR valid_from <= {day})")
        parts.append(f"(valid_to IS NULL OR valid_to >= {day})")
    elif not any_version:
        parts.append(CURRENT)
    if scope.where is not None:
        parts.append(meets(scope.where, {**fields, **BUILT_IN}))
    return " AND ".join(parts) or None


def meets(condition: Filter, fields: Mapping[str, FieldType]) -> str:
    """The row's document meets a checked condition. Never NULL, so that NOT is true of a field that is missing.

    Raises:
        KeyError: a field has no column.
    """
    match condition:
        case And(parts):
            return _joined(" AND ", parts, fields)
        case Or(parts):
            return _joined(" OR ", parts, fields)
        case Not(part):
            return f"(NOT {meets(part, fields)})"
        case _:
            name = condition.field
            column = name if name in BUILT_IN else field_column(name)
            test = _list_test(column, condition) if fields[name] is FieldType.LIST else _test(column, condition)
            return f"({column} IS NOT NULL AND {test})"


def _joined(word: str, parts: Iterable[Filter], fields: Mapping[str, FieldType]) -> str:
    return f"({word.join(meets(part, fields) for part in parts)})"


def _test(column: str, condition: Leaf) -> str:
    match condition:
        case Equal(_, value):
            return f"{column} = {_constant(value)}"
        case In(_, values):
            return f"{column} IN ({', '.join(map(_constant, values))})"
        case Contains(_, text):
            return f"contains({column}, {_constant(text)})"
        case Range(_, least, most):
            ends = ((">=", least), ("<=", most))
            return " AND ".join(f"{column} {sign} {_constant(end)}" for sign, end in ends if end is not None)


def _list_test(column: str, condition: Leaf) -> str:
    match condition:
        case Equal(_, value):
            return f"array_has({column}, {_constant(value)})"
        case In(_, values):
            return f"array_has_any({column}, [{', '.join(map(_constant, values))}])"
        case Contains(_, text):
            # No text holds a NUL, so what is found in all of them joined by it is found in one of them.
            return f"contains(array_to_string({column}, '\0'), {_constant(text)})"
        case Range():
            raise ValueError(f"{column} is a list and has no order")


def _constant(value: str | float | date) -> str:
    """A value as SQL. Python's shortest form of a float is read back as the same float."""
    if isinstance(value, str):
        return literal(value)
    return f"date '{value.isoformat()}'" if isinstance(value, date) else repr(value)


def under(column: str, roots: Iterable[str]) -> str:
    """The column, a source, is one of the roots, lies below it or inside it."""
    listed = sorted(roots)
    below = [f"starts_with({column}, {literal(root + end)})" for root in listed for end in ("/", BETWEEN_SOURCES)]
    return " OR ".join([one_of(column, listed), *below])


def until(column: str, day: date) -> str:
    """The column, a day, is that day or before."""
    return f"{column} <= date '{day.isoformat()}'"


def before(column: str, moment: datetime) -> str:
    """The column, a moment in UTC, is earlier."""
    return f"{column} < timestamp '{moment.astimezone(UTC).replace(tzinfo=None).isoformat(sep=' ')}'"


def filled(column: str) -> str:
    """The column holds a text that is not empty."""
    return f"({column} IS NOT NULL AND {column} != '')"


def both(first: str, second: str | None) -> str:
    return first if second is None else f"({first}) AND {second}"
