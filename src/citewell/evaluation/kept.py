"""Lines that are kept as they come, so that a run that was stopped goes on: a file of the owner's, found by content."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Annotated, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from citewell.stores import files


class Line(BaseModel):
    """What is kept under a key of `key_of`."""

    model_config = ConfigDict(extra="forbid")

    key: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


L = TypeVar("L", bound=Line)


class Kept(Generic[L]):
    """Lines of one kind. One that a kill cut short is passed over; what two processes write at once is whole."""

    def __init__(self, kind: type[L], path: Path) -> None:
        self._path = path
        self._lines = _read(kind, path)

    def get(self, key: str) -> L | None:
        return self._lines.get(key)

    def add(self, line: L) -> None:
        """Keep it, durably enough to outlive this process.

        Raises:
            PermissionRefused, DiskFull: the file cannot be written.
        """
        # Begins with a line break: what a kill left without one must not swallow it.
        data = f"\n{line.model_dump_json()}\n".encode()
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(file, data)
            finally:
                os.close(file)
        except OSError as error:
            raise files.meaning(error, self._path.parent) from None
        self._lines[line.key] = line


def key_of(*content: object) -> str:
    """A digest that differs where any of it does: texts, numbers, lists of them."""
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _read(kind: type[L], path: Path) -> dict[str, L]:
    found: dict[str, L] = {}
    for text in files.read(path).splitlines() if path.exists() else ():
        try:
            line = kind.model_validate_json(text)
        except ValidationError:
            continue  # cut short, or empty: it is made again
        found[line.key] = line
    return found
