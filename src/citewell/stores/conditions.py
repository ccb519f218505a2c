"""Typed conditions to SQL. This is the only place that writes SQL, and no caller's string passes unquoted."""

from __future__ import annotations

from collections.abc import Iterable

from citewell.stores.store import Scope

NOTHING = "false"


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


def readable(scope: Scope) -> str | None:
    """The row may be read within the scope; None where the scope leaves nothing out."""
    parts = []
    if scope.groups is not None:
        listed = ", ".join(literal(group) for group in sorted(scope.groups))
        parts.append(f"array_has_any(groups, [{listed}])" if listed else NOTHING)
    if scope.on is not None:
        day = f"date '{scope.on.isoformat()}'"
        parts.append(f"(valid_from IS NULL OR valid_from <= {day})")
        parts.append(f"(valid_to IS NULL OR valid_to >= {day})")
    return " AND ".join(parts) or None


def filled(column: str) -> str:
    """The column holds a text that is not empty."""
    return f"({column} IS NOT NULL AND {column} != '')"


def both(first: str, second: str | None) -> str:
    return first if second is None else f"({first}) AND {second}"
