"""What a PDF's properties say about it: its author, and when it was made and changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date

_DATE = re.compile(r"(?:D:)?\s*(\d{4})(\d{2})?(\d{2})?")
"""ISO 32000-1, 7.9.4: month and day may be missing, and are 01 then."""
_LONGEST_NAME = 500
_NOBODY = ("anonymous", "unknown", "unspecified")
"""What programs write that are not told a name."""


def properties(read: Callable[[str], str]) -> Mapping[str, str]:
    """`author`, `created` and `modified`, each where the file has it; `read` gives an entry of its properties."""
    author = read("Author")[:_LONGEST_NAME]
    found = {
        "author": "" if author.casefold() in _NOBODY else author,
        "created": iso_date(read("CreationDate")),
        "modified": iso_date(read("ModDate")),
    }
    return {key: value for key, value in found.items() if value}


def iso_date(written: str) -> str:
    """The day of a PDF date ("D:20240131093000+01'00'") as "2024-01-31", by its own clock; "" where it is none."""
    parts = _DATE.match(written)
    if parts is None:
        return ""
    year, month, day = (int(part or 1) for part in parts.groups())
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return ""
