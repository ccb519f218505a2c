"""A text without what the scan finds planted in it: the cut, for whatever a model reads that is no passage's units.

The filter is no proof, see docs/injection.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.security.scan import scan
from citewell.types import Trust

LEFT_OUT = "…"
"""Where something was: two sentences must not be read as if one followed the other."""

NAME_CHARS = 1_000
"""So much is read of a title or heading where it stands above a passage: a file may call itself by a megabyte."""

Span = tuple[int, int]

_END = re.compile("[.!?。！？]*")


def planted_in(text: str) -> tuple[Span, ...]:
    """Where something seems to be planted, with the signs that end it, in order; none overlaps another."""
    return tuple((each.start, _end(text, each.end)) for each in scan(text))


def without(text: str, planted: Sequence[Span], start: int = 0, end: int | None = None) -> str:
    """`text[start:end]` with `LEFT_OUT` for each of these spans of `text`, also for one that lies there in part."""
    end = len(text) if end is None else end
    pieces, at = [], start
    for first, last in planted:
        if first < end and last > at:
            pieces += [text[at:first], LEFT_OUT]
            at = min(last, end)
    return "".join([*pieces, text[at:end]])


def unplanted(text: str, trust: Trust) -> str:
    """A text of a document of this trust, without what seems to be planted in it where nobody vouches for it."""
    return without(text, planted_in(text)) if trust is Trust.UNTRUSTED else text


def unplanted_together(texts: Sequence[str]) -> tuple[str, ...]:
    """Texts that are read one after the other, each without its part of what seems to be planted in them together: a
    border between two passages may cut in two what the scan finds in neither."""
    together = "\n".join(texts)
    planted, at, parts = planted_in(together), 0, []
    for text in texts:
        parts.append(without(together, planted, at, at + len(text)))
        at += len(text) + 1
    return tuple(parts)


def _end(text: str, end: int) -> int:
    found = _END.match(text, end)
    return found.end() if found else end
