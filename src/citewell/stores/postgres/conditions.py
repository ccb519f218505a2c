"""Scopes and typed filters to SQL. Values are parameters; names are of our own columns, as identifiers.

In the queries `d` is the row of `documents`; another table's rows are joined to it by their body.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from psycopg import sql

from citewell.filters import BUILT_IN, And, Contains, Equal, FieldType, Filter, In, Leaf, Not, Or, Range
from citewell.stores.postgres.rows import Column
from citewell.stores.postgres.texts import escaped, possible
from citewell.types import BETWEEN_SOURCES

BUILT_IN_COLUMNS = {name: Column(name, kind) for name, kind in BUILT_IN.items()}


@dataclass(frozen=True, slots=True)
class Condition:
    """A part of a WHERE clause, with the values for its placeholders in order."""

    text: sql.SQL | sql.Composed
    values: tuple[object, ...] = ()


EVERYTHING = Condition(sql.SQL("true"))

TYPES = {
    FieldType.TEXT: sql.SQL("text"),
    FieldType.NUMBER: sql.SQL("double precision"),
    FieldType.DATE: sql.SQL("date"),
    FieldType.LIST: sql.SQL("text"),  # of what is in it
}
IN = sql.SQL("{column} = ANY(%s::{type}[])")
IN_LIST = sql.SQL("{column} && %s::{type}[]")
AT_LEAST = sql.SQL("{column} >= %s::{type}")
AT_MOST = sql.SQL("{column} <= %s::{type}")
CONTAINED = sql.SQL("strpos({column}, %s::text) > 0")
CONTAINED_IN_ONE = sql.SQL("EXISTS (SELECT FROM unnest({column}) AS one WHERE strpos(one, %s::text) > 0)")


def all_of(conditions: Iterable[Condition]) -> Condition:
    return _joined(sql.SQL(" AND "), conditions)


def in_state(number: int) -> Condition:
    """The row is in this state of the store."""
    return Condition(sql.SQL("d.began <= %s AND d.ended > %s"), (number, number))


def standing_on(day: date | None) -> Condition:
    """The version is in force that day, or the current one where there is no day."""
    if day is None:
        return Condition(sql.SQL("d.current"))
    return Condition(
        sql.SQL(
            "d.searchable AND (d.in_force_from IS NULL OR d.in_force_from <= %s)"
            " AND (d.in_force_to IS NULL OR d.in_force_to >= %s)"
        ),
        (day, day),
    )


def with_rights(table: str, ids: Collection[int] | None) -> Condition:
    """The row's rights are one of these; None leaves nothing out."""
    if ids is None:
        return EVERYTHING
    return Condition(sql.SQL("{}.rights = ANY(%s::int[])").format(sql.Identifier(table)), (list(ids),))


def below(roots: Collection[str]) -> Condition:
    """The source is one of the roots, lies below it or inside it."""
    starts = [root + sign for root in roots for sign in ("/", BETWEEN_SOURCES)]
    text = sql.SQL("d.source = ANY(%s::text[]) OR EXISTS (SELECT FROM unnest(%s::text[]) AS r WHERE d.source ^@ r)")
    return Condition(text, ([*map(escaped, possible(roots))], [*map(escaped, possible(starts))]))


def meets(condition: Filter, fields: Mapping[str, Column]) -> Condition:
    """The document meets a checked condition. Each part is true or false, never unknown, so that it can be negated.

    Raises:
        KeyError: a field has no column.
    """
    match condition:
        case And(parts):
            return all_of(meets(part, fields) for part in parts)
        case Or(parts):
            return _joined(sql.SQL(" OR "), (meets(part, fields) for part in parts))
        case Not(part):
            negated = meets(part, fields)
            return Condition(sql.SQL("NOT ({})").format(negated.text), negated.values)
        case _:
            column = BUILT_IN_COLUMNS.get(condition.field) or fields[condition.field]
            return _test(condition, column)


def _test(condition: Leaf, column: Column) -> Condition:
    match condition:
        case Equal(_, value):
            return _compared(IN_LIST if column.type is FieldType.LIST else IN, column, [_held(value)])
        case In(_, values):
            return _compared(IN_LIST if column.type is FieldType.LIST else IN, column, [*map(_held, values)])
        case Contains(_, text):
            return _compared(CONTAINED_IN_ONE if column.type is FieldType.LIST else CONTAINED, column, escaped(text))
        case Range(_, least, most):
            ends = ((AT_LEAST, least), (AT_MOST, most))
            return all_of(_compared(test, column, _held(end)) for test, end in ends if end is not None)


def _compared(test: sql.SQL, column: Column, value: object) -> Condition:
    names = {"column": sql.Identifier("d", column.name), "type": TYPES[column.type]}
    return Condition(sql.SQL("coalesce({}, false)").format(test.format(**names)), (value,))


def _held(value: str | float | date) -> object:
    return escaped(value) if isinstance(value, str) else value


def _joined(word: sql.SQL, conditions: Iterable[Condition]) -> Condition:
    parts = list(conditions)
    text = word.join([sql.SQL("({})").format(part.text) for part in parts])
    return Condition(text, tuple(value for part in parts for value in part.values))
