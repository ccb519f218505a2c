"""The values of the metadata fields that the settings declare: what a rule says of a document, or else its own file.

A file's own word is not to be trusted: it can put the document under a field's value, which a filter then finds, and
nothing else. So a field that matters is said by a rule, and where a rule says it, the file's word does not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime

from citewell.filters import FieldType, as_day, as_number, as_text, shown
from citewell.types import FieldValue

MAX_LISTED = 200
"""Texts in one list."""


def field_values(
    declared: Mapping[str, FieldType], said: Mapping[str, object] | None, metadata: Mapping[str, str]
) -> tuple[dict[str, FieldValue], list[str]]:
    """Each declared field that has a value, and a warning for each whose value cannot be of its type.

    `said` are a rule's values as TOML has them, `metadata` is what the file says about itself. An empty text or list is
    no value: a rule that says it keeps the file's own from counting.
    """
    values: dict[str, FieldValue] = {}
    warnings = []
    for name, kind in declared.items():
        given = said[name] if said and name in said else metadata.get(name, "")
        if given in ("", (), []):
            continue
        value = _as_kind(kind, given)
        if value is None:
            warnings.append(f"its {name} is {shown(given)}, which is no {_MEANT[kind]}; it was left out")
        elif value != ():
            values[name] = value
    return values, warnings


def undeclared(said: Mapping[str, object] | None, declared: Mapping[str, FieldType]) -> list[str]:
    """The fields that a rule gives values for and the settings do not declare, in order."""
    return sorted((said or {}).keys() - declared.keys())


_MEANT = {
    FieldType.TEXT: "text",
    FieldType.NUMBER: "number",
    FieldType.DATE: "day such as 2026-01-31",
    FieldType.LIST: "list of texts",
}


def _as_kind(kind: FieldType, given: object) -> FieldValue | None:
    match kind:
        case FieldType.TEXT:
            return _text(given)
        case FieldType.NUMBER:
            return as_number(given)
        case FieldType.DATE:
            return _day(given)
        case FieldType.LIST:
            return _texts(given)


def _text(given: object) -> str | None:
    """A text as it is; of a number or a day, the text that one would write."""
    if isinstance(given, date):
        given = given.isoformat()
    elif isinstance(given, int | float) and as_number(given) is not None:
        given = str(given)
    return as_text(given)


def _day(given: object) -> date | None:
    """A day; of a moment, as files give their dates, its day."""
    if isinstance(given, datetime):
        return given.date()
    try:
        return as_day(given) or (datetime.fromisoformat(given).date() if isinstance(given, str) else None)
    except ValueError:
        return None


def _texts(given: object) -> tuple[str, ...] | None:
    """Each text once; a lone text is split at its commas, as files write keywords. None if one of them is no text."""
    listed = given.split(",") if isinstance(given, str) else given if isinstance(given, list | tuple) else [given]
    texts = [_text(one) for one in listed]
    stripped = [text.strip() for text in texts if text is not None]
    if len(stripped) < len(texts) or len(stripped) > MAX_LISTED:
        return None
    return tuple(dict.fromkeys(filter(None, stripped)))
