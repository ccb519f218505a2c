"""Zipped formats: how much they unpack to, and what their XML declares, known before a parser sees them."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import dataclass

from citewell.errors import DamagedFile, PasswordNeeded
from citewell.loading.bounds import check_tags, check_text, check_unpacked
from citewell.settings import Loading

_STEP_BYTES = 1_000_000
_DECLARATION_BYTES = 32
_MARKUP = (".xml", ".rels")
# Either as it stands or with a NUL in every second place, as UTF-16 has it.
_DECLARATION = re.compile(rb"<\0?!\0?(?:D\0?O\0?C\0?T\0?Y\0?P\0?E|E\0?N\0?T\0?I\0?T\0?Y)")


def check_archive(data: bytes, limits: Loading) -> None:
    """Unpack every part once, counting, and keep nothing.

    The sizes in the directory are checked first, then what really comes out, since a directory can lie. XML with a
    document type is refused: Office never writes one, and entities declared there can expand without end.

    Raises:
        LimitExceeded: too much for `max_inflation`, `max_text_mb` (the XML parts) or `max_file_mb`, or too many tags.
        PasswordNeeded: a part is encrypted.
        DamagedFile: a document type, a bad checksum, or a part that cannot be unpacked.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = archive.infolist()
        check_unpacked(sum(part.file_size for part in parts), len(data), limits)
        check_text(sum(part.file_size for part in parts if _is_markup(part)), limits)
        if any(part.flag_bits & 1 for part in parts):
            raise PasswordNeeded("It is an archive with a password.", remedy="Save a copy without it and index that.")
        count = _Count()
        for part in parts:
            _unpack(archive, part, count, len(data), limits)


@dataclass(slots=True)
class _Count:
    """What has come out of an archive so far."""

    bytes: int = 0
    tags: int = 0


def _unpack(archive: zipfile.ZipFile, part: zipfile.ZipInfo, count: _Count, packed: int, limits: Loading) -> None:
    tail = b""
    with archive.open(part) as stream:
        while step := stream.read(_STEP_BYTES):
            count.bytes += len(step)
            check_unpacked(count.bytes, packed, limits)
            if not _is_markup(part):
                continue
            count.tags += step.count(b"<")
            check_tags(count.tags)
            if _DECLARATION.search(tail + step):
                raise DamagedFile(
                    f"Its part {part.filename} declares a document type, as no Office program does.",
                    remedy="Do not trust the file; open and save it again in Word if it must be indexed.",
                )
            tail = step[-_DECLARATION_BYTES:]


def _is_markup(part: zipfile.ZipInfo) -> bool:
    return part.filename.lower().endswith(_MARKUP)
