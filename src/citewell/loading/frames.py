"""How the reading process and its owner talk: a line of JSON with the sizes of what follows, then bytes as they are.

JSON and not pickle: a file that takes hold of the child must not be able to make its owner run anything.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import IO, Any

from pydantic import TypeAdapter

from citewell.loading.parsed import Inside, Parsed

_LENGTH = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class Frame:
    """One message: what it is, and the bytes that belong to it."""

    header: Mapping[str, Any]
    blobs: tuple[bytes, ...] = ()


def write_frame(stream: IO[bytes], frame: Frame) -> None:
    """Send one message.

    Raises:
        OSError: the other side has gone.
    """
    header = json.dumps({"header": frame.header, "sizes": [len(blob) for blob in frame.blobs]}).encode()
    stream.write(_LENGTH.pack(len(header)) + header)
    for blob in frame.blobs:
        stream.write(blob)
    stream.flush()


def read_frame(stream: IO[bytes]) -> Frame | None:
    """The next message; None where the other side has gone, also in the middle of one."""
    start = stream.read(_LENGTH.size)
    if len(start) < _LENGTH.size:
        return None
    length = _LENGTH.unpack(start)[0]
    header = stream.read(length)
    if len(header) < length:
        return None
    message = json.loads(header)
    blobs = tuple(stream.read(size) for size in message["sizes"])
    whole = all(len(blob) == size for blob, size in zip(blobs, message["sizes"], strict=True))
    return Frame(message["header"], blobs) if whole else None


def parsed_frame(parsed: Parsed) -> Frame:
    """A parsed file as a message."""
    names = [inside.name for inside in parsed.inside]
    text = _adapter().dump_json(replace(parsed, inside=()))
    return Frame({"parsed": names}, (text, *(inside.data for inside in parsed.inside)))


def parsed_of(frame: Frame) -> Parsed:
    """The parsed file of a message, every field of it checked."""
    text, *data = frame.blobs
    names: Sequence[str] = frame.header["parsed"]
    inside = tuple(Inside(str(name), blob) for name, blob in zip(names, data, strict=True))
    return replace(_adapter().validate_json(text), inside=inside)


@cache
def _adapter() -> TypeAdapter[Parsed]:
    return TypeAdapter(Parsed)
