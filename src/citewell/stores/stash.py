"""Vectors that were made and belong to no stored document yet, in a file that a killed run leaves to the next.

Each record is the SHA-256 of a text (32 bytes) and its vector. A record that a kill or a loss of power left in part is
ignored.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np

from citewell.models.embedder import Vectors
from citewell.stores import files
from citewell.stores.batch import LENGTH_TOLERANCE

FILE = "stash"
HASH_BYTES = 32


class Stash:
    """The file in one generation's folder. Only a writer uses it; its threads may share it."""

    def __init__(self, directory: Path, dimensions: int) -> None:
        self._path = directory / FILE
        self._record = np.dtype([("hash", np.uint8, HASH_BYTES), ("vector", np.float32, dimensions)])
        self._vectors: dict[str, Vectors] | None = None
        self._lock = threading.Lock()

    def add(self, vectors: Mapping[str, Vectors]) -> None:
        """Append to the file, durably.

        Raises:
            PermissionRefused, DiskFull: the file system refuses.
        """
        rows = np.zeros(len(vectors), self._record)
        for row, (text_hash, vector) in zip(rows, vectors.items(), strict=True):
            row["hash"], row["vector"] = np.frombuffer(bytes.fromhex(text_hash), np.uint8), vector
        with self._lock:
            waiting = self._waiting()
            try:
                whole = self._path.stat().st_size // self._record.itemsize if self._path.exists() else 0
                with self._path.open("r+b" if whole else "wb") as file:
                    file.truncate(whole * self._record.itemsize)  # or what comes next would not be aligned
                    file.seek(0, os.SEEK_END)
                    file.write(rows.tobytes())
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                raise files.meaning(error, self._path.parent) from None
            waiting.update(vectors)

    def find(self, text_hashes: Collection[str]) -> dict[str, Vectors]:
        """Those of the texts that are there."""
        with self._lock:
            waiting = self._waiting()
            return {text_hash: waiting[text_hash] for text_hash in text_hashes if text_hash in waiting}

    def forget(self, text_hashes: Collection[str]) -> None:
        """Texts that are stored now. The file is emptied when no other is waiting, as after each commit."""
        with self._lock:
            waiting = self._waiting()
            for text_hash in text_hashes:
                waiting.pop(text_hash, None)
            if not waiting:
                self._path.unlink(missing_ok=True)

    def count(self) -> int:
        with self._lock:
            return len(self._waiting())

    def clear(self) -> None:
        with self._lock:
            self._vectors = {}
            self._path.unlink(missing_ok=True)

    def _waiting(self) -> dict[str, Vectors]:
        if self._vectors is None:
            data = self._path.read_bytes() if self._path.exists() else b""
            rows = np.frombuffer(data[: len(data) - len(data) % self._record.itemsize], self._record)
            # After a loss of power a record may be there in part: its vector is then not of length 1.
            whole = rows[np.abs(np.linalg.norm(rows["vector"], axis=1) - 1) <= LENGTH_TOLERANCE]
            self._vectors = {row["hash"].tobytes().hex(): np.array(row["vector"]) for row in whole}
        return self._vectors
