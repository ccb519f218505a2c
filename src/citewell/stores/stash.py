"""Vectors that were made and belong to no stored document yet, in a file that a killed run leaves to the next.

Each record is the SHA-256 of a text (32 bytes) and its vector. A record that a kill cut short is ignored.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np

from citewell.models.embedder import Vectors
from citewell.stores import files
from citewell.stores.batch import LENGTH_TOLERANCE

FILE = "stash"
HASH_BYTES = 32


class Stash:
    """The file in one generation's folder. Only a writer uses it."""

    def __init__(self, directory: Path, dimensions: int) -> None:
        self._path = directory / FILE
        self._record = np.dtype([("hash", np.uint8, HASH_BYTES), ("vector", np.float32, dimensions)])

    def add(self, vectors: Mapping[str, Vectors]) -> None:
        """Append to the file.

        Raises:
            PermissionRefused, DiskFull: the file system refuses.
        """
        rows = np.zeros(len(vectors), self._record)
        for row, (text_hash, vector) in zip(rows, vectors.items(), strict=True):
            row["hash"], row["vector"] = np.frombuffer(bytes.fromhex(text_hash), np.uint8), vector
        try:
            whole = self._path.stat().st_size // self._record.itemsize if self._path.exists() else 0
            with self._path.open("r+b" if whole else "wb") as file:
                file.truncate(whole * self._record.itemsize)  # or what comes next would not be aligned
                file.seek(0, 2)
                file.write(rows.tobytes())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise files.meaning(error, self._path.parent) from None

    def find(self, text_hashes: Collection[str]) -> dict[str, Vectors]:
        """Those of the texts that are there."""
        if not self._path.exists():
            return {}
        data = self._path.read_bytes()
        rows = np.frombuffer(data[: len(data) - len(data) % self._record.itemsize], self._record)
        # After a loss of power a record may be there in part: its vector is then not of length 1.
        whole = np.abs(np.linalg.norm(rows["vector"], axis=1) - 1) <= LENGTH_TOLERANCE
        found = ((row["hash"].tobytes().hex(), row["vector"]) for row in rows[whole])
        return {text_hash: np.array(vector) for text_hash, vector in found if text_hash in text_hashes}

    def count(self) -> int:
        """How many vectors are there."""
        return files.size(self._path) // self._record.itemsize

    def clear(self) -> None:
        self._path.unlink(missing_ok=True)
