"""The file that a document was read from, as long as it is still that one."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO
from urllib.parse import quote

from citewell.errors import UnknownId
from citewell.serving.checked import Checked, Mark
from citewell.serving.headers import FILE_POLICY
from citewell.serving.problems import RangeNotSatisfiable
from citewell.serving.ranges import bytes_wanted
from citewell.sources import path_of
from citewell.types import BETWEEN_SOURCES, Document

PIECE = 1 << 16
IN_MEMORY = 4 << 20

# What a browser shows by itself and cannot be led astray by; all else is saved as a file.
SHOWN = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


@dataclass(frozen=True, slots=True)
class Original:
    """Its bytes, or those that were asked for, copied while they were checked; and how they are sent."""

    data: IO[bytes]
    status: int
    media_type: str
    headers: dict[str, str]

    def pieces(self) -> Iterator[bytes]:
        """Whoever sends them closes `data`."""
        while piece := self.data.read(PIECE):
            yield piece


def original(document: Document, checked: Checked, ranged: str | None = None, if_range: str | None = None) -> Original:
    """The file of a document. `ranged` and `if_range` are headers of the request: which bytes, and of which file. What
    is `checked` is looked through no more.

    Raises:
        UnknownId: it is not there, is not the same any more, or lies inside another file.
        RangeNotSatisfiable: it has none of these bytes.
    """
    path = path_of(document.source)
    if path is None or BETWEEN_SOURCES in document.source:
        raise _gone("It has no file of its own.")
    etag = f'"{document.content_hash}"'
    copy: IO[bytes] = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - whoever sends it closes it
    try:
        with _opened(path) as file:
            mark = Mark.of(file)
            size = mark.size
            part = bytes_wanted(ranged if if_range in (None, etag) else None, size)
            sent = range(size) if part is None else part
            head = _right(file, mark, document.content_hash, sent, copy, checked)
        copy.seek(0)
    except BaseException:
        copy.close()
        raise
    if part is not None and not part:  # told of a checked file only: the size of another is nobody's business
        copy.close()
        raise RangeNotSatisfiable(size)
    shown = next((kind for begin, kind in SHOWN if head.startswith(begin)), None)
    name = path.name.encode("utf-8", "replace").decode()
    headers = {
        "Accept-Ranges": "bytes",
        "Content-Disposition": f"{'inline' if shown else 'attachment'}; filename*=UTF-8''{quote(name, safe='')}",
        "Content-Security-Policy": FILE_POLICY,
        "Content-Length": str(len(sent)),
        "ETag": etag,
    }
    if part is not None:
        headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{size}"
    return Original(copy, 200 if part is None else 206, shown or "application/octet-stream", headers)


def _opened(path: Path) -> IO[bytes]:
    try:
        # What was a file may be a pipe by now, which would be waited for.
        opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        raise _changed() from None
    file = os.fdopen(opened, "rb")
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        file.close()
        raise _changed()
    return file


def _right(file: IO[bytes], mark: Mark, wanted: str, sent: range, copy: IO[bytes], checked: Checked) -> bytes:
    """How the file begins, which has that SHA-256; what is sent of it is in `copy`.

    Raises:
        UnknownId: it is another, or changes meanwhile.
    """
    is_settled, is_known = mark.is_settled, checked.has(mark, wanted)
    head = _copied_part(file, sent, copy) if is_known else _copied(file, mark.size, wanted, sent, copy)
    if Mark.of(file) != mark:
        raise _changed()
    if is_settled:
        checked.keep(mark, wanted)
    return head


def _copied(file: IO[bytes], size: int, wanted: str, sent: range, copy: IO[bytes]) -> bytes:
    """How a file of that size and SHA-256 begins. The bytes that are sent are copied on the way: a file may change
    after it was checked, a copy does not.
    """
    at, digest, head = 0, hashlib.sha256(), b""
    while piece := file.read(PIECE):
        digest.update(piece)
        head = head or piece[:16]
        copy.write(piece[max(sent.start - at, 0) : max(sent.stop - at, 0)])
        at += len(piece)
    if at != size or digest.hexdigest() != wanted:
        raise _changed()
    return head


def _copied_part(file: IO[bytes], sent: range, copy: IO[bytes]) -> bytes:
    """As `_copied`, of a file that is known to be the right one."""
    head = file.read(16)
    file.seek(sent.start)
    left = len(sent)
    while left and (piece := file.read(min(left, PIECE))):
        copy.write(piece)
        left -= len(piece)
    if left:
        raise _changed()
    return head


def _changed() -> UnknownId:
    return _gone("Its file has changed since it was indexed, or has gone.")


def _gone(message: str) -> UnknownId:
    return UnknownId(message, remedy="Its text is at /v1/documents/{id}/text.")
