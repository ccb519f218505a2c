"""The files of a data set: text and JSON lines, compressed or not, and what is said of a wrong one."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from citewell.complaints import explained
from citewell.errors import PathError

_GZIP = b"\x1f\x8b"

Record = TypeVar("Record", bound=BaseModel)


def content(path: Path) -> bytes:
    """A file's bytes, unpacked where it is compressed with gzip.

    Raises:
        PathError: it cannot be read.
    """
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if data.startswith(_GZIP) else data
    except OSError as error:
        raise PathError(f"{path} cannot be read: {error.strerror or error}.", remedy="Check the path.") from None
    except (EOFError, zlib.error) as error:
        raise PathError(f"{path} cannot be unpacked: {error}.", remedy="Get it again; it is cut short.") from None


def either(folder: Path, name: str) -> Path | None:
    """The file of that name in a folder, or the compressed one beside it."""
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def records(path: Path, kind: type[Record]) -> Iterator[Record]:
    """One record a line.

    Raises:
        PathError: it cannot be read, or a line is no such record.
    """
    for number, line in enumerate(content(path).splitlines(), start=1):
        if line.strip():
            with checked(path, f"line {number}"):
                record = kind.model_validate_json(line)
            yield record


@contextmanager
def checked(path: Path, place: str = "") -> Iterator[None]:
    """Around what is made of something in a file, which may not fit: a question too long, a quote of nothing.

    Raises:
        PathError: it does not, with the file and the place in it.
    """
    try:
        yield
    except ValidationError as error:
        said = explained(error)
        raise wrong(path, f"{place}: {said}" if place else said) from None


def wrong(path: Path, problem: str) -> PathError:
    return PathError(f"{path}, {problem}.", remedy="Correct it; docs/testsets.md shows what each layout holds.")
