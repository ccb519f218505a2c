"""Compressed RTF, the form in which Outlook keeps a body ([MS-OXRTFCP])."""

from __future__ import annotations

import struct

from citewell.errors import DamagedFile
from citewell.loading.bounds import check_text
from citewell.settings import Loading

_HEADER = struct.Struct("<II4sI")  # bytes that follow, bytes unpacked, kind, checksum
_COMPRESSED, _PLAIN = b"LZFu", b"MELA"
_WINDOW = 4_096
# Both sides begin with what every RTF text is full of.
_START = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor "
    rb"MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)


def unpack_rtf(data: bytes, limits: Loading) -> bytes:
    """The RTF text.

    Raises:
        DamagedFile: no compressed RTF.
        LimitExceeded: it unpacks to more than `max_text_mb`.
    """
    if len(data) < _HEADER.size:
        raise DamagedFile("The mail's RTF text is cut off.", remedy="Save the mail again from Outlook.")
    _, size, kind, _ = _HEADER.unpack_from(data)
    content = data[_HEADER.size :]
    if kind == _PLAIN:
        return content[:size]
    if kind != _COMPRESSED:
        raise DamagedFile("The mail's RTF text is of an unknown kind.", remedy="Save the mail again from Outlook.")
    check_text(size, limits)
    return _unpack(content, size)


def _unpack(content: bytes, size: int) -> bytes:
    """Runs of eight tokens after a byte that tells literals from references into the last 4,096 bytes."""
    window = bytearray(_START.ljust(_WINDOW, b" "))
    place = len(_START)
    text = bytearray()
    position = 0
    while position < len(content) and len(text) < size:
        kinds, position = content[position], position + 1
        for bit in range(8):
            is_reference = bool(kinds >> bit & 1)
            token = content[position : position + 1 + is_reference]
            position += len(token)
            if len(token) <= is_reference:
                return bytes(text)  # cut off
            source, length = (token[0] << 4 | token[1] >> 4, (token[1] & 15) + 2) if is_reference else (-1, 1)
            if source == place:
                return bytes(text)  # how the end is marked
            for step in range(length):
                byte = window[(source + step) % _WINDOW] if is_reference else token[0]
                window[place] = byte
                place = (place + 1) % _WINDOW
                text.append(byte)
    return bytes(text)
