"""Whether the compressed parts of a PDF are whole: pdfium takes what it can of a damaged one, and does not say so."""

from __future__ import annotations

import re
import zlib

_STREAM = re.compile(rb">>\s{0,9}stream\r?\n")
_DEFLATED = re.compile(rb"/Filter\s*\[?\s*/(?:FlateDecode|Fl)\b")
_PICTURE = re.compile(rb"/Subtype\s*/Image\b")
_ENCRYPTED = re.compile(rb"/Encrypt\b")
_LONGEST_DICTIONARY = 2_000
_STEP = 8_192
_MOST = 300_000_000
"""Bytes to unpack of one file; damage further in is not looked for."""


def damage(data: bytes) -> tuple[str, ...]:
    """What to say of a file with streams that break off or do not match their checksum.

    Not looked at are pictures, encrypted files, and what is written in ASCII around the compression.
    """
    if _ENCRYPTED.search(data):  # nothing can be told without the key
        return ()
    damaged, unpacked = 0, 0
    for found in _STREAM.finditer(data):
        dictionary = data[max(found.start() - _LONGEST_DICTIONARY, 0) : found.start()].rpartition(b" obj")[2]
        if _PICTURE.search(dictionary) or not _DEFLATED.search(dictionary):
            continue
        is_whole, size = _unpacked(data, found.end(), _MOST - unpacked)
        damaged += not is_whole
        unpacked += size
        if unpacked >= _MOST:
            break
    return (f"compressed parts of it are damaged ({damaged:,}), and text may be missing or wrong",) if damaged else ()


def _unpacked(data: bytes, start: int, most: int) -> tuple[bool, int]:
    """Whether what begins there unpacks to its end, or to `most` bytes, and to how many bytes."""
    unpacking = zlib.decompressobj()
    size = 0
    piece = data[start : start + _STEP]
    try:
        while piece and not unpacking.eof and size < most:
            size += len(unpacking.decompress(piece, _STEP * 16))
            start += _STEP if not unpacking.unconsumed_tail else 0
            piece = unpacking.unconsumed_tail or data[start : start + _STEP]
    except zlib.error:
        return False, size
    return unpacking.eof or size >= most, size
