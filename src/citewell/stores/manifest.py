"""`manifest.json`: what a generation was made with, and which table versions are its state.

The manifest is the commit. Tables are written first, as versions that nobody reads; then one `os.replace` of this file
makes all of them the state at once. What no manifest names does not exist.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from citewell.errors import IndexFormatError, IndexNotFound, PermissionRefused
from citewell.filters import FieldType
from citewell.stores.home import FORMAT
from citewell.stores.store import Counts, MadeWith

FILE = "manifest.json"
UNSAVED = "manifest.json.new"


@dataclass(frozen=True, slots=True)
class Manifest:
    """`fields` are the metadata fields that have a column.

    `tables` maps each table to its version. Where `settled` is False a run ended early, or is under way: nothing is
    missing, but BM25 scores are a few per cent off until a run ends.
    """

    made_with: MadeWith
    tables: Mapping[str, int]
    counts: Counts
    fields: Mapping[str, FieldType] = field(default_factory=dict)
    settled: bool = True
    format: int = FORMAT


_SHAPE = TypeAdapter(Manifest)

Signature = tuple[int, int, int]


def signature(directory: Path) -> Signature:
    """What changes whenever the manifest does. `os.replace` brings a new inode each time.

    Raises:
        IndexNotFound: there is no manifest.
        PermissionRefused: it may not be looked at.
    """
    try:
        status = (directory / FILE).stat()
    except OSError as error:
        raise _unreadable(directory, error) from None
    return status.st_mtime_ns, status.st_ino, status.st_size


def load(directory: Path) -> Manifest:
    """Read and check the manifest.

    Raises:
        IndexNotFound: there is none.
        IndexFormatError: another version wrote it, or it is damaged.
        PermissionRefused: it may not be read.
    """
    path = directory / FILE
    try:
        text = path.read_bytes()
    except OSError as error:
        raise _unreadable(directory, error) from None
    found = _format_of(text)
    if found is None:
        raise _damaged(path, "it is not a JSON object with a format number")
    if found != FORMAT:
        raise IndexFormatError(
            f"{path} has format {found}; this version of Citewell reads format {FORMAT}.",
            remedy="Open it with the version that made it, or index the documents again into a new directory.",
        )
    try:
        return _SHAPE.validate_json(text)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        raise _damaged(path, f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}") from None


def save(directory: Path, manifest: Manifest) -> None:
    """Replace the manifest in one durable step: a reader finds the old one or the new one, whole.

    Raises:
        PermissionRefused: the directory may not be written to.
    """
    fresh = directory / UNSAVED
    try:
        with fresh.open("wb") as file:
            file.write(_SHAPE.dump_json(manifest, indent=1))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(directory / FILE)
        sync_folder(directory)
    except PermissionError:
        raise not_writable(directory) from None


def sync_folder(directory: Path) -> None:
    """Make the names in a folder survive a loss of power, as `fsync` does for the contents of a file."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def not_writable(directory: Path) -> PermissionRefused:
    return PermissionRefused(
        f"{directory} cannot be written to: the file system refuses.",
        remedy="Change its permissions, or give another index directory.",
    )


def _format_of(text: bytes) -> int | None:
    try:
        record = json.loads(text)
    except ValueError:
        return None
    found = record.get("format") if isinstance(record, dict) else None
    return found if isinstance(found, int) else None


def _unreadable(directory: Path, error: OSError) -> IndexNotFound | PermissionRefused:
    if isinstance(error, PermissionError):
        return PermissionRefused(
            f"{directory / FILE} cannot be read: the file system refuses.",
            remedy="Change its permissions, or run as a user who may read it.",
        )
    return IndexNotFound(
        f"There is no index in {directory}.", remedy="Check the path, or make one with `citewell index`."
    )


def _damaged(path: Path, problem: str) -> IndexFormatError:
    return IndexFormatError(
        f"{path} is damaged: {problem}.",
        remedy="Restore it from a backup, or index the documents again into a new directory.",
    )
