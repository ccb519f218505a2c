"""The small files of an index: read whole, replaced in one durable step, and what is said when that cannot be."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from citewell.errors import (
    NO_ROOM,
    CitewellError,
    DiskFull,
    IndexFormatError,
    IndexNotFound,
    PathError,
    PermissionRefused,
)

UNSAVED = ".new"

Signature = tuple[int, int, int]


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, where it is missing.

    Raises:
        PathError: there is a file.
        PermissionRefused, DiskFull: the file system refuses.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise PathError(f"{path} is not a directory.", remedy="Give another path for the index.") from None
    except OSError as error:
        raise meaning(error, path) from None


def signature(path: Path) -> Signature:
    """What changes whenever the file is replaced: `os.replace` brings a new inode each time.

    Raises:
        IndexNotFound: there is no such file.
        PermissionRefused: it may not be looked at.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise unreadable(path, error) from None
    return status.st_mtime_ns, status.st_ino, status.st_size


def read(path: Path) -> bytes:
    """The file's content.

    Raises:
        IndexNotFound: there is no such file.
        PermissionRefused: it may not be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None


def size(path: Path) -> int:
    """In bytes; 0 for what is there no more."""
    try:
        return path.stat(follow_symlinks=False).st_size
    except FileNotFoundError:
        return 0


def replace(path: Path, content: bytes) -> None:
    """Replace a file in one durable step: a reader finds the old one or the new one, whole.

    Raises:
        PermissionRefused, DiskFull: the file system refuses; the old one is still there.
    """
    fresh = path.with_name(path.name + UNSAVED)
    try:
        with fresh.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise meaning(error, path.parent) from None


def sync_folder(directory: Path) -> None:
    """Make the names in a folder survive a loss of power, as `fsync` does for the contents of a file."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def meaning(error: OSError, directory: Path) -> CitewellError | OSError:
    """What a failure to write means to a user; the error itself where that is not known."""
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return PermissionRefused(
            f"{directory} cannot be written to: the file system refuses.",
            remedy="Change its permissions, or give another index directory.",
        )
    if error.errno in NO_ROOM:
        return disk_full(directory)
    return error


def disk_full(directory: Path) -> DiskFull:
    return DiskFull(
        f"There is no room left to write in {directory}; what was committed before is kept.",
        remedy="Make room on the disk and run the same command again.",
    )


def damaged(path: Path, problem: str) -> IndexFormatError:
    return IndexFormatError(
        f"{path} is damaged: {problem}.",
        remedy="Restore it from a backup, or index the documents again into a new directory.",
    )


def unreadable(path: Path, error: OSError) -> IndexNotFound | PermissionRefused:
    """What a failure to read means to a user."""
    if isinstance(error, PermissionError):
        return PermissionRefused(
            f"{path} cannot be read: the file system refuses.",
            remedy="Change its permissions, or run as a user who may read it.",
        )
    return IndexNotFound(
        f"There is no index in {path.parent}.", remedy="Check the path, or make one with `citewell index`."
    )
