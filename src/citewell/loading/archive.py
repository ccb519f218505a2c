"""Zipped formats: how much they unpack to, and what their XML declares, known before a parser sees them."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from citewell.errors import DamagedFile, PasswordNeeded
from citewell.loading.bounds import check_tags, check_text, check_unpacked
from citewell.settings import Loading

UNREADABLE = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, ValueError)
"""What a part that is not as its header says makes zipfile raise; NotImplementedError is an unknown compression."""

_STEP_BYTES = 1_000_000
_DECLARATION_BYTES = 32
_MARKUP = (".xml", ".rels")
# Either as it stands or with a NUL in every second place, as UTF-16 has it.
_DECLARATION = re.compile(rb"<\0?!\0?(?:D\0?O\0?C\0?T\0?Y\0?P\0?E|E\0?N\0?T\0?I\0?T\0?Y)")
_HEADER_BYTES = 30  # before each part's data, at least
_ENCRYPTED = 1


@dataclass(slots=True)
class Unpacking:
    """Takes the parts of an archive of `packed` bytes out, and counts what comes."""

    archive: zipfile.ZipFile
    packed: int
    limits: Loading
    unpacked: int = 0

    def steps(self, part: zipfile.ZipInfo) -> Iterator[bytes]:
        """The part's bytes, in steps.

        Raises:
            LimitExceeded: all that came out so far is too much for `max_inflation` or `max_file_mb`.
        """
        with self.archive.open(part) as stream:
            while step := stream.read(_STEP_BYTES):
                self.unpacked += len(step)
                check_unpacked(self.unpacked, self.packed, self.limits)
                yield step


def check_directory(parts: Sequence[zipfile.ZipInfo], packed: int, limits: Loading) -> None:
    """Check what the directory of an archive of `packed` bytes says about its parts. It can lie; see `Unpacking`.

    Raises:
        LimitExceeded: too much for `max_inflation` or `max_file_mb`.
        DamagedFile: parts share their bytes, as in an archive made to unpack without end.
        PasswordNeeded: a part is encrypted.
    """
    check_unpacked(sum(part.file_size for part in parts), packed, limits)
    ordered = sorted(parts, key=lambda part: part.header_offset)
    for part, following in pairwise(ordered):
        if part.header_offset + _HEADER_BYTES + part.compress_size > following.header_offset:
            raise DamagedFile("Parts of the archive lie over each other.", remedy="Do not trust the file.")
    if any(part.flag_bits & _ENCRYPTED for part in parts):
        raise PasswordNeeded("It is an archive with a password.", remedy="Save a copy without it and index that.")


def check_archive(data: bytes, limits: Loading) -> None:
    """Unpack every part of an Office file once, counting, and keep nothing.

    The sizes in the directory are checked first, then what really comes out. XML with a document type is refused:
    Office never writes one, and entities declared there can expand without end.

    Raises:
        LimitExceeded: too much for `max_inflation`, `max_text_mb` (the XML parts) or `max_file_mb`, or too many tags.
        PasswordNeeded: a part is encrypted.
        DamagedFile: a document type, a bad checksum, or a part that cannot be unpacked.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = archive.infolist()
        check_directory(parts, len(data), limits)
        check_text(sum(part.file_size for part in parts if _is_markup(part)), limits)
        unpacking = Unpacking(archive, len(data), limits)
        tags = 0
        for part in parts:
            tags = _read_through(unpacking, part, tags)


def _read_through(unpacking: Unpacking, part: zipfile.ZipInfo, tags: int) -> int:
    """How many tags there have been when the part is read, `tags` before it."""
    tail = b""
    for step in unpacking.steps(part):
        if not _is_markup(part):
            continue
        tags += step.count(b"<")
        check_tags(tags)
        if _DECLARATION.search(tail + step):
            raise DamagedFile(
                f"Its part {part.filename} declares a document type, as no Office program does.",
                remedy="Do not trust the file; open and save it again in its program if it must be indexed.",
            )
        tail = step[-_DECLARATION_BYTES:]
    return tags


def _is_markup(part: zipfile.ZipInfo) -> bool:
    return part.filename.lower().endswith(_MARKUP)
