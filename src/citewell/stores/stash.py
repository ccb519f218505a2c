"""Vectors that were made and belong to no stored document yet, in a file that a killed run leaves to the next.

Each record is the SHA-256 of a text (32 bytes), the length of its packed token vectors, its vector, these token
vectors, and a sum over all of that. What follows a record that a kill or a loss of power left in part is ignored.
"""

from __future__ import annotations

import os
import struct
import threading
import zlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import numpy as np

from citewell.models.embedder import Embedded
from citewell.stores import files

FILE = "stash"
HASH_BYTES = 32
_LENGTH, _SUM = struct.Struct("<I"), struct.Struct("<I")


class Stash:
    """The file in one generation's folder. Only a writer uses it; its threads may share it."""

    def __init__(self, directory: Path, dimensions: int) -> None:
        self._path = directory / FILE
        self._vector_bytes = dimensions * np.dtype(np.float32).itemsize
        self._waiting_texts: dict[str, Embedded] | None = None
        self._whole = 0  # bytes of the file up to the end of the last whole record
        self._lock = threading.Lock()

    def add(self, made: Mapping[str, Embedded]) -> None:
        """Append to the file, durably.

        Raises:
            PermissionRefused, DiskFull: the file system refuses.
        """
        records = b"".join(_record(text_hash, each) for text_hash, each in made.items())
        with self._lock:
            waiting = self._waiting()
            try:
                with self._path.open("r+b" if self._whole else "wb") as file:
                    file.truncate(self._whole)  # or what comes next would not be found
                    file.seek(0, os.SEEK_END)
                    file.write(records)
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                raise files.meaning(error, self._path.parent) from None
            self._whole += len(records)
            waiting.update(made)

    def find(self, text_hashes: Collection[str]) -> dict[str, Embedded]:
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
                self._clear()

    def count(self) -> int:
        with self._lock:
            return len(self._waiting())

    def clear(self) -> None:
        with self._lock:
            self._clear()

    def _clear(self) -> None:
        self._waiting_texts, self._whole = {}, 0
        self._path.unlink(missing_ok=True)

    def _waiting(self) -> dict[str, Embedded]:
        if self._waiting_texts is None:
            self._waiting_texts = dict(self._read(self._path.read_bytes() if self._path.exists() else b""))
        return self._waiting_texts

    def _read(self, data: bytes) -> Iterator[tuple[str, Embedded]]:
        head = HASH_BYTES + _LENGTH.size
        while len(data) >= self._whole + head:
            (packed,) = _LENGTH.unpack_from(data, self._whole + HASH_BYTES)
            end = self._whole + head + self._vector_bytes + packed
            record = data[self._whole : end]
            if len(data) < end + _SUM.size or _SUM.unpack_from(data, end) != (zlib.crc32(record),):
                break
            vector = np.frombuffer(record, np.float32, offset=head, count=self._vector_bytes // 4)
            yield record[:HASH_BYTES].hex(), Embedded(vector, record[head + self._vector_bytes :])
            self._whole = end + _SUM.size


def _record(text_hash: str, made: Embedded) -> bytes:
    vector = np.asarray(made.vector, np.float32).tobytes()
    record = bytes.fromhex(text_hash) + _LENGTH.pack(len(made.tokens)) + vector + made.tokens
    return record + _SUM.pack(zlib.crc32(record))
