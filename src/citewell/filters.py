"""Conditions on metadata, as data: a typed tree that every engine compiles for itself, never a caller's string.

A field is one of `BUILT_IN` or declared under `[metadata]` in the settings. A document that lacks a field meets no
condition on it but a negated one: `Not(Equal("department", "legal"))` holds for a document of no department. A value of
another type than the condition's, left from before the settings changed, counts as lacking; so does an empty list.

What reaches an engine has gone through `check`: engines need not look at a name, a type or a size again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from citewell.errors import FilterError
from citewell.types import FieldValue

MAX_PARTS = 200
MAX_DEPTH = 20
MAX_VALUES = 1_000
MAX_TEXT = 4_000
MAX_SHOWN = 60


class FieldType(StrEnum):
    """What the values of a field are."""

    TEXT = "text"
    NUMBER = "number"
    DATE = "date"
    LIST = "list"


BUILT_IN: Mapping[str, FieldType] = dict.fromkeys(("source", "title", "version", "language", "trust"), FieldType.TEXT)
"""Fields that every document has."""


@dataclass(frozen=True, slots=True)
class Equal:
    """The field has the value; of a list, one of its texts is the value."""

    field: str
    value: str | float | date


@dataclass(frozen=True, slots=True)
class In:
    """The field has one of the values."""

    field: str
    values: tuple[str | float | date, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """The field lies between two values, both included; None is open. Texts are in the order of their code points.

    A list has no order, and no range.
    """

    field: str
    least: str | float | date | None = None
    most: str | float | date | None = None


@dataclass(frozen=True, slots=True)
class Contains:
    """The text, or one text of the list, holds this one, in the same letters."""

    field: str
    text: str


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: Filter


Leaf = Equal | In | Range | Contains
Filter = Leaf | And | Or | Not


def leaves(condition: Filter) -> Iterator[Leaf]:
    """The conditions on single fields in a tree."""
    match condition:
        case And(parts) | Or(parts):
            for part in parts:
                yield from leaves(part)
        case Not(part):
            yield from leaves(part)
        case _:
            yield condition


def matches(condition: Filter, values: Mapping[str, FieldValue]) -> bool:
    """Whether a document with these values meets the condition. What the engines compile must agree with this."""
    match condition:
        case And(parts):
            return all(matches(part, values) for part in parts)
        case Or(parts):
            return any(matches(part, values) for part in parts)
        case Not(part):
            return not matches(part, values)
        case _:
            value = values.get(condition.field)
            return value is not None and _meets(value, condition)


def _meets(value: FieldValue, condition: Leaf) -> bool:
    held = value if isinstance(value, tuple) else (value,)
    match condition:
        case Equal(_, wanted):
            return wanted in held
        case In(_, wanted_ones):
            return any(one in held for one in wanted_ones)
        case Contains(_, text):
            return any(isinstance(one, str) and text in one for one in held)
        case Range(_, least, most):
            return _between(value, least, most)


def _between(value: FieldValue, least: FieldValue | None, most: FieldValue | None) -> bool:
    try:
        return (least is None or value >= least) and (most is None or value <= most)  # type: ignore[operator]
    except TypeError:  # The value is of another type than the bounds.
        return False


def check(condition: Filter, declared: Mapping[str, FieldType]) -> Filter:
    """The condition as engines get it: of declared and built-in fields, with values of their types, all of it bounded.

    Whole numbers become floats, and -0.0 becomes 0.0. For a date its text will do ("2026-01-31"): JSON has no dates.

    Raises:
        FilterError: something in it is no condition, names a field that is not declared or a value that the field
            cannot have, or it is too large.
    """
    _measure(condition)
    return _checked(condition, {**declared, **BUILT_IN})


def as_number(value: object) -> float | None:
    """A finite number, also from its text; None for everything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number + 0.0 if math.isfinite(number) else None  # Adding makes 0.0 of -0.0, which engines tell apart.


def as_day(value: object) -> date | None:
    """A day, also from its text (ISO 8601); None for everything else, a moment with its time too."""
    if isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            return None
    return value if isinstance(value, date) and not isinstance(value, datetime) else None


def as_text(value: object) -> str | None:
    """A text that every engine can hold, of at most `MAX_TEXT` signs; None for everything else."""
    if not isinstance(value, str) or len(value) > MAX_TEXT or "\0" in value:
        return None
    try:
        value.encode()
    except UnicodeEncodeError:  # Half of a surrogate pair.
        return None
    return str(value)  # Of an enum's member, the plain text.


def shown(value: object) -> str:
    """A value as a message shows it, on one line and short."""
    if isinstance(value, str):
        return repr(value if len(value) <= MAX_SHOWN else value[:MAX_SHOWN] + "…")
    if isinstance(value, float | date) or (isinstance(value, int) and abs(value) < 10**MAX_SHOWN):
        return str(value)
    return f"of type {type(value).__name__[:MAX_SHOWN]}"


def _measure(condition: object) -> None:
    """Refuse what is no tree of conditions, or too much of one."""
    remaining = [(condition, 1)]
    parts = values = 0
    while remaining:
        part, depth = remaining.pop()
        if not isinstance(part, Filter):
            raise FilterError(
                f"A filter has a part {shown(part)}, which is no condition.",
                remedy="Build it of Equal, In, Range, Contains, And, Or and Not from citewell.filters.",
            )
        parts += 1
        match part:
            case And(inner) | Or(inner):
                _refuse_no_list(inner, type(part).__name__)
                remaining += [(one, depth + 1) for one in inner]
            case Not(negated):
                remaining.append((negated, depth + 1))
            case In(field, listed):
                _refuse_no_list(listed, f"In for {shown(field)}")
                values += len(listed)
        _refuse_more(parts + len(remaining), MAX_PARTS, "parts")
        _refuse_more(depth, MAX_DEPTH, "levels")
        _refuse_more(values, MAX_VALUES, "listed values")


def _refuse_no_list(given: object, name: str) -> None:
    """A lone string would count as its letters; nothing at all is a slip, and what it would mean is easily mistaken."""
    if not isinstance(given, (tuple, list, set, frozenset)) or not given:
        raise FilterError(f"{name} has nothing listed in it.", remedy="Give it a tuple with at least one member.")


def _refuse_more(count: int, most: int, what: str) -> None:
    if count > most:
        raise FilterError(f"The filter has more than {most:,} {what}.", remedy="Ask for less at once.")


def _checked(condition: Filter, fields: Mapping[str, FieldType]) -> Filter:
    match condition:
        case And(parts):
            return And(tuple(_checked(part, fields) for part in parts))
        case Or(parts):
            return Or(tuple(_checked(part, fields) for part in parts))
        case Not(part):
            return Not(_checked(part, fields))
        case _:
            return _checked_leaf(condition, _kind(condition.field, fields))


def _checked_leaf(condition: Leaf, kind: FieldType) -> Leaf:
    field = condition.field
    match condition:
        case Equal(_, value):
            return Equal(field, _value(field, kind, value))
        case In(_, values):
            return In(field, tuple(_value(field, kind, value) for value in values))
        case Contains(_, text):
            return Contains(field, _sought(field, kind, text))
        case Range(_, least, most):
            low = None if least is None else _value(field, kind, least)
            high = None if most is None else _value(field, kind, most)
            _refuse_no_range(field, kind, low, high)
            return Range(field, low, high)


def _kind(field: object, fields: Mapping[str, FieldType]) -> FieldType:
    if not isinstance(field, str) or field not in fields:
        raise FilterError(
            f"There is no field {shown(field)} to filter by.",
            remedy=f"There are {', '.join(sorted(fields))}; others are declared in the settings, [metadata] fields.",
        )
    return fields[field]


def _value(field: str, kind: FieldType, given: object) -> str | float | date:
    value: str | float | date | None
    match kind:
        case FieldType.NUMBER:
            value, needed = None if isinstance(given, str) else as_number(given), "a number such as 25 or 2.5"
        case FieldType.DATE:
            value, needed = as_day(given), "a day such as 2026-01-31, without a time"
        case FieldType.TEXT | FieldType.LIST:
            value, needed = as_text(given), f"a text of at most {MAX_TEXT:,} signs, without NUL"
    if value is None:
        raise FilterError(f"The filter on {field} ({kind}) has the value {shown(given)}.", remedy=f"Give {needed}.")
    return value


def _sought(field: str, kind: FieldType, text: object) -> str:
    if kind in (FieldType.NUMBER, FieldType.DATE):
        raise FilterError(f"{field} is a {kind} and contains no text.", remedy="Compare it, or give it a range.")
    if text == "":
        raise FilterError(f"The filter on {field} asks for no text at all.", remedy="Give at least one sign.")
    return str(_value(field, kind, text))


def _refuse_no_range(field: str, kind: FieldType, least: FieldValue | None, most: FieldValue | None) -> None:
    if kind is FieldType.LIST:
        raise FilterError(f"{field} is a list and has no order.", remedy="Use equal, in or contains for it.")
    if least is None and most is None:
        raise FilterError(f"The range for {field} is open on both sides.", remedy="Give it an end.")
    if least is not None and most is not None and not _between(least, None, most):
        raise FilterError(f"The range for {field} is from {shown(least)} to {shown(most)}.", remedy="Exchange them.")
