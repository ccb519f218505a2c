"""Which bytes of a file a request asks for, by its `Range` (RFC 9110, 14.2)."""

from __future__ import annotations

import re

_ONE = re.compile(r"bytes=(?:([0-9]{1,18})-([0-9]{0,18})|-([0-9]{1,18}))", re.IGNORECASE)


def bytes_wanted(header: str | None, size: int) -> range | None:
    """The one stretch that the header names, of a file of `size` bytes; empty where the file has none of it.

    None is the whole file: what is not written as a range has no meaning, and several at once are more than we do; a
    client is to expect the whole in both cases.
    """
    written = _ONE.fullmatch(header.replace(" ", "")) if header is not None else None
    if written is None:
        return None
    first, last, suffix = written.groups()
    if suffix is not None:
        return range(max(size - int(suffix), 0), size)
    start, end = int(first), int(last) + 1 if last else size
    if last and end <= start:
        return None
    return range(min(start, size), min(end, size))
