"""How the reading process and its owner talk: a line of JSON with the sizes of what follows, then bytes as they are.

JSON and not pickle: a file that takes hold of the child must not be able to make its owner run anything.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from citewell.loading.parsed import Inside, Parsed

MAX_HEADER = 32_000_000
"""Bytes: two thousand names of four thousand characters, and some."""
_LENGTH = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class Frame:
    """One message: what it is, and the bytes that belong to it."""

    header: Mapping[str, Any]
    blobs: tuple[bytes, ...] = ()


def write_frame(write: Callable[[bytes], object], frame: Frame) -> None:
    """Send one message.

    Raises:
        OSError: the other side has gone, or takes too long.
    """
    header = json.dumps({"header": frame.header, "sizes": [len(blob) for blob in frame.blobs]}).encode()
    for part in (_LENGTH.pack(len(header)) + header, *frame.blobs):
        write(part)


def read_frame(read: Callable[[int], bytes], most: int) -> Frame | None:
    """The next message, of at most `most` bytes; None where the other side has gone, also in the middle of one.

    Raises:
        ValueError: it is no message, or a larger one.
        TimeoutError: it takes too long.
    """
    start = read(_LENGTH.size)
    if len(start) < _LENGTH.size:
        return None
    length = _LENGTH.unpack(start)[0]
    if length > min(most, MAX_HEADER):
        raise ValueError(f"a header of {length} bytes")
    header = read(length)
    if len(header) < length:
        return None
    message = json.loads(header)
    sizes: list[int] = message["sizes"]
    if not all(isinstance(size, int) and size >= 0 for size in sizes) or sum(sizes) > most:
        raise ValueError("parts of more bytes than allowed")
    blobs = tuple(read(size) for size in sizes)
    whole = all(len(blob) == size for blob, size in zip(blobs, sizes, strict=True))
    return Frame(message["header"], blobs) if whole else None


def parsed_frame(parsed: Parsed) -> Frame:
    """A parsed file as a message."""
    names = [inside.name for inside in parsed.inside]
    text = _adapter().dump_json(replace(parsed, inside=()))
    return Frame({"parsed": names}, (text, *(inside.data for inside in parsed.inside)))


def parsed_of(frame: Frame) -> Parsed:
    """The parsed file of a message, every field of it checked.

    Raises:
        ValueError: it is none.
    """
    text, *data = frame.blobs
    names: Sequence[str] = frame.header["parsed"]
    inside = tuple(Inside(str(name), blob) for name, blob in zip(names, data, strict=True))
    parsed = replace(_adapter().validate_json(text), inside=inside)
    if any("\0" in name for name in parsed.declared.groups or ()):
        raise ValueError("a group's name holds a NUL")
    return parsed


@cache
def _adapter() -> TypeAdapter[Parsed]:
    return TypeAdapter(Parsed)
