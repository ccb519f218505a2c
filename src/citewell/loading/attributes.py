"""What is said about a file: by access rules and side files, which are trusted, or by the file itself, which is not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from citewell.types import Trust


@dataclass(frozen=True, slots=True)
class Attributes:
    """What is said about one file; None where nothing is."""

    groups: frozenset[str] | None = None
    title: str | None = None
    version: str | None = None
    valid_from: date | None = None
    valid_to: date | None = None
    trust: Trust | None = None
    language: str | None = None
    author: str | None = None


NOTHING = Attributes()
