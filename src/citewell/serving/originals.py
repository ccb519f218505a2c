"""The file that a document was read from, as long as it is still that one."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import SpooledTemporaryFile
from typing import IO
from urllib.parse import quote, unquote, urlsplit

from citewell.errors import UnknownId
from citewell.serving.headers import FILE_POLICY
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
    """Its bytes, copied and checked, and how they are sent."""

    data: IO[bytes]
    size: int
    media_type: str
    headers: dict[str, str]

    def pieces(self) -> Iterator[bytes]:
        """Whoever sends them closes `data`."""
        while piece := self.data.read(PIECE):
            yield piece


def original(document: Document) -> Original:
    """Raises:
    UnknownId: it is not there, is not the same any more, or lies inside another file.
    """
    parts = urlsplit(document.source)
    if parts.scheme != "file" or BETWEEN_SOURCES in document.source:
        raise _gone("It has no file of its own.")
    copy: IO[bytes] = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - whoever sends it closes it
    try:
        size = _copied(Path(unquote(parts.path)), copy, document.content_hash)
        copy.seek(0)
        head = copy.read(16)
        copy.seek(0)
    except BaseException:
        copy.close()
        raise
    shown = next((kind for begin, kind in SHOWN if head.startswith(begin)), None)
    name = PurePosixPath(unquote(parts.path)).name.encode("utf-8", "replace").decode()
    headers = {
        "Content-Disposition": f"{'inline' if shown else 'attachment'}; filename*=UTF-8''{quote(name, safe='')}",
        "Content-Security-Policy": FILE_POLICY,
        "Content-Length": str(size),
    }
    return Original(copy, size, shown or "application/octet-stream", headers)


def _copied(path: Path, copy: IO[bytes], wanted: str) -> int:
    """The size of what was copied, which has that SHA-256: a file may change while it is read, a copy does not."""
    changed = _gone("Its file has changed since it was indexed, or has gone.")
    size, digest = 0, hashlib.sha256()
    try:
        # What was a file may be a pipe by now, which would be waited for.
        opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        raise changed from None
    with os.fdopen(opened, "rb") as file:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise changed
        while piece := file.read(PIECE):
            size += len(piece)
            digest.update(piece)
            copy.write(piece)
    if digest.hexdigest() != wanted:
        raise changed
    return size


def _gone(message: str) -> UnknownId:
    return UnknownId(message, remedy="Its text is at /v1/documents/{id}/text.")
