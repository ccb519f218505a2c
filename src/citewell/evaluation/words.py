"""The words of a text, to compare texts by."""

from __future__ import annotations

import regex

_WORD = regex.compile(r"[\p{L}\p{N}]+")


def words(text: str) -> frozenset[str]:
    """Its words and numbers, in small letters."""
    return frozenset(_WORD.findall(text.casefold()))
