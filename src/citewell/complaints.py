"""What is wrong with a value that somebody gave, in our words: the library that checks values has its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

MOST = 5
"""So many places are told at once."""

_SHOWN = 50
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
    "dict": "must be an object",
    "model": "must be an object",
    "enum": "must be {expected}",
    "literal": "must be {expected}",
}
# Which of several kinds a value was tried as: no place in what was given.
_TRIED = re.compile(r"(str|int|float|bool|date|constrained-\w+)|.*\[.*", re.DOTALL)


def complaints(problems: Iterable[Mapping[str, Any]]) -> str:
    """The first places with what is wrong there, of the errors that pydantic lists; never what was given there."""
    told = dict[str, list[str]]()
    for problem in problems:
        said = told.setdefault(_place(problem), [])
        if (words := _said(problem)) not in said:
            said.append(words)
    lines = (f"{place}{', or '.join(words)}" for place, words in list(told.items())[:MOST])
    return "; ".join(lines)


def _place(problem: Mapping[str, Any]) -> str:
    first, *rest = problem["loc"] or ("",)
    if problem["type"] == "json_invalid":
        rest = []  # the number of a character
    place = ".".join(str(part)[:_SHOWN] for part in (first, *rest) if part is first or not _TRIED.fullmatch(str(part)))
    if problem["type"] == "value_error":  # a sentence of ours, which has its own subject
        return f"{place}: " if place else ""
    return f"{place or 'it'} "


def _said(problem: Mapping[str, Any]) -> str:
    kind = str(problem["type"])
    if kind == "value_error":
        return str(problem["msg"]).removeprefix(_OWN).rstrip(".")
    if kind == "json_invalid":
        numbers = [part for part in problem["loc"] if isinstance(part, int)]
        return "is not valid JSON" + (f" from character {numbers[-1] + 1} on" if numbers else "")
    if kind in ("string_too_short", "too_short") and problem["ctx"]["min_length"] == 1:
        return "must not be empty"
    words = _WORDS.get(kind) or _KINDS.get(kind.partition("_")[0], _UNKNOWN)
    return words.format_map(problem.get("ctx", {}))
