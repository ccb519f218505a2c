"""What Lance's errors mean to a user. It raises nearly all as RuntimeError; what happened is told by the text."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from citewell.errors import CitewellError, IndexFormatError, PermissionRefused
from citewell.stores import files

MAX_SAID = 300

_ENDS = {".lance": b"LANC", ".idx": b"LANC", ".manifest": b"LANC", ".arrow": b"ARROW1"}
_NUMBER = re.compile(r"\(os error (\d+)\)")
_IN_LANCE = re.compile(r",?\s*/\S+\.rs:\d+:\d+")
"""The place in its own source, which means nothing to a user."""
_REMEDY = (
    "`citewell doctor` says what is damaged, and with --fix mends what can be; or restore the index from a backup, or "
    "index the documents again into a new directory."
)


@contextmanager
def reading(tables: str) -> Iterator[None]:
    """Raise what Lance says while tables are read as an error of ours.

    Raises:
        IndexFormatError: a file is missing or damaged, or was removed when another process erased what it held.
        PermissionRefused: a file may not be read.
    """
    try:
        yield
    except Exception as error:
        if not _is_lances(error):
            raise
        if _number(error) in (errno.EACCES, errno.EPERM):
            raise PermissionRefused(
                f"{tables} cannot be read: {said(error)}.", remedy="Change the permissions of the files in it."
            ) from error
        raise damaged(f"{tables} cannot be read", error) from error


@contextmanager
def writing(directory: Path) -> Iterator[None]:
    """Raise what Lance, or the system, says while a store is written to as an error of ours.

    Raises:
        DiskFull, PermissionRefused: the file system refuses.
        IndexFormatError: a file that is needed is missing or damaged.
    """
    try:
        yield
    except Exception as error:
        if not _is_lances(error):
            raise
        number = _number(error)
        # Of its class, which Python finds by the number.
        meaning = files.meaning(OSError(number, os.strerror(number)), directory) if number is not None else error
        if isinstance(meaning, CitewellError):
            raise meaning from error
        raise damaged(f"{directory} cannot be written to", error) from error


def require_whole(path: Path) -> None:
    """Check the end of a file that Lance has just written.

    Lance forgets the error of the last write to a file: where there is no room for it, it reports success, and what it
    has committed cannot be read.

    Raises:
        OSError: the file is cut short.
    """
    end = _ENDS.get(path.suffix)
    if end is None:
        return
    with path.open("rb") as file:
        file.seek(-min(len(end), path.stat().st_size), os.SEEK_END)
        found = file.read()
    if found != end:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def damaged(what: str, error: Exception) -> IndexFormatError:
    return IndexFormatError(f"{what}: {said(error)}.", remedy=_REMEDY)


def said(error: Exception) -> str:
    """The first line of what it says, without places in its own source."""
    line = _IN_LANCE.sub("", str(error).partition("\n")[0]).removeprefix("lance error: ")
    return line.rstrip(" .,")[:MAX_SAID]


def _is_lances(error: Exception) -> bool:
    """A ValueError may be of our own code; one about the content of a file begins like this. A panic of Lance's, which
    a damaged file can cause, has a class that no module exports."""
    if isinstance(error, ValueError):
        return str(error).startswith("Invalid input,") and "query dim" not in str(error)
    return isinstance(error, (OSError, RuntimeError)) or type(error).__name__ == "RustPanic"


def _number(error: Exception) -> int | None:
    if isinstance(error, OSError):
        return error.errno
    found = _NUMBER.search(str(error))
    return int(found[1]) if found else None
