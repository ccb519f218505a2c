"""What is wrong with a value that somebody gave, in our words: the library that checks values has its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

MOST = 5
"""So many places are told at once."""

SOME_SIGN = r"[^\s\x00]"
"""The pattern of a text that is not blank."""

SHOWN = 50
"""Signs of a name, which anybody may make as long as they like."""
_OWN = "Value error, "
_UNKNOWN = "is not as it must be"

# By the library's type of error. What stands in braces is said by the check, never by who gave the value.
_WORDS: Mapping[str, str] = {
    "missing": "is missing",
    "extra_forbidden": "is not known",
    "none_required": "must be null",
    "string_too_short": "must have {min_length} characters or more",
    "string_too_long": "must have {max_length} characters or fewer",
    "string_pattern_mismatch": "has characters that it may not have, or is written in another way",
    "string_unicode": "must be valid Unicode",
    "too_short": "must have {min_length} entries or more",
    "too_long": "must have {max_length} entries or fewer",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be {ge} or more",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be {le} or less",
    "finite_number": "must be a finite number",
}
# By how the type begins: whether a date is of another type or cannot be read is one to whoever wrote it.
_KINDS: Mapping[str, str] = {
    "string": "must be text",
    "int": "must be a whole number",
    "float": "must be a number",
    "bool": "must be true or false",
    "date": "must be a day, written as 2026-01-31",
    "list": "must be a list",
    "tuple": "must be a list",
    "set": "must be a list",
    "frozen": "must be a list",
    "dict": "must be an object",
    "model": "must be an object",
    "dataclass": "must be an object",
    "enum": "must be {expected}",
    "literal": "must be {expected}",
}
# Which of several kinds a value was tried as: no place in what was given.
_AT = re.compile(r"line (\d+) column (\d+)$")
_TRIED = re.compile(r"(str|int|float|bool|date|constrained-\w+)|.*\[.*", re.DOTALL)


def explained(error: ValidationError, model: type[BaseModel] | None = None) -> str:
    """As `complaints`, of what was given for a `model`: then with the keys that may have been meant."""
    return complaints(error.errors(include_url=False, include_input=False), model)


def complaints(problems: Iterable[Mapping[str, Any]], model: type[BaseModel] | None = None) -> str:
    """The first places with what is wrong there, of the errors that pydantic lists; never what was given there."""
    told = dict[str, list[str]]()
    for problem in problems:
        said = told.setdefault(_place(problem), [])
        words = _said(problem)
        meant = near_key(model, problem["loc"]) if model is not None and problem["type"] == "extra_forbidden" else ""
        words += f" (is {meant} meant?)" if meant else ""
        if words not in said:
            said.append(words)
    lines = (f"{place}{', or '.join(words)}" for place, words in list(told.items())[:MOST])
    return "; ".join(lines)


def near_key(model: type[BaseModel], place: Sequence[str | int]) -> str:
    """The key of a model, or of one inside it, that an unknown one at `place` may have been meant for; "" for none."""
    *tables, key = map(str, place)
    known: Mapping[str, FieldInfo] = model.model_fields
    for name in tables:
        table = known[name].annotation if name in known else None
        known = table.model_fields if isinstance(table, type) and issubclass(table, BaseModel) else {}
    return next(iter(get_close_matches(key, known, 1)), "")


def _place(problem: Mapping[str, Any]) -> str:
    first, *rest = problem["loc"] or ("",)
    if problem["type"] == "json_invalid":
        rest = []  # the number of a character
    place = ".".join(str(part)[:SHOWN] for part in (first, *rest) if part is first or not _TRIED.fullmatch(str(part)))
    if problem["type"] == "value_error":  # a sentence of ours, which has its own subject
        return f"{place}: " if place else ""
    return f"{place or 'it'} "


def _said(problem: Mapping[str, Any]) -> str:
    kind = str(problem["type"])
    if kind == "value_error":
        return str(problem["msg"]).removeprefix(_OWN).rstrip(".")
    if kind == "json_invalid":
        return f"is not valid JSON{_from(problem)}"
    if kind == "string_pattern_mismatch" and problem.get("ctx", {}).get("pattern") == SOME_SIGN:
        return "must not be blank"
    if kind in ("string_too_short", "too_short") and problem["ctx"]["min_length"] == 1:
        return "must not be empty"
    words = _WORDS.get(kind) or _KINDS.get(kind.partition("_")[0], _UNKNOWN)
    return words.format_map(problem.get("ctx", {}))


def _from(problem: Mapping[str, Any]) -> str:
    """Where the JSON breaks off, where that is known."""
    numbers = [part for part in problem["loc"] if isinstance(part, int)]
    if numbers:
        return f" from character {numbers[-1] + 1} on"
    at = _AT.search(str(problem.get("ctx", {}).get("error", "")))
    if at is None:
        return ""
    line, column = at.groups()
    return f" from character {column} on" if line == "1" else f" from line {line}, column {column} on"
