"""What was made and belongs to no stored document yet, in a file that a killed run leaves to the next.

Each record is a key (a SHA-256, 32 bytes), the length of what is kept under it, that, and a sum over all of it. Of two
records with one key the later counts. What follows a record that a kill or a loss of power left in part is ignored. The
file's time is that of the last addition.
"""

from __future__ import annotations

import os
import struct
import threading
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from citewell import clock
from citewell.stores import files

KEY_BYTES = 32
_LENGTH, _SUM = struct.Struct("<I"), struct.Struct("<I")
_HEAD = KEY_BYTES + _LENGTH.size


class Stash:
    """One file, read when it is first asked for. Only a writer uses it; its threads may share it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._waiting_keys: dict[str, bytes] | None = None
        self._whole = 0  # bytes of the file up to the end of the last whole record
        self._lock = threading.Lock()

    def add(self, made: Mapping[str, bytes]) -> None:
        """Append to the file, durably. Keys are in hexadecimal digits.

        Raises:
            PermissionRefused, DiskFull: the file system refuses.
        """
        records = _records(made.items())
        with self._lock:
            waiting = self._waiting()
            try:
                with self._path.open("r+b" if self._whole else "wb") as file:
                    file.truncate(self._whole)  # or what comes next would not be found
                    file.seek(0, os.SEEK_END)
                    file.write(records)
                    file.flush()
                    os.fsync(file.fileno())
                self._date(clock.now())
            except OSError as error:
                raise files.meaning(error, self._path.parent) from None
            self._whole += len(records)
            waiting.update(made)

    def find(self, keys: Collection[str]) -> dict[str, bytes]:
        """Those that are there."""
        with self._lock:
            waiting = self._waiting()
            return {key: waiting[key] for key in keys if key in waiting}

    def everything(self) -> dict[str, bytes]:
        with self._lock:
            return dict(self._waiting())

    def forget(self, keys: Collection[str]) -> None:
        """What is stored now. The file holds it no more, and goes when nothing else is waiting.

        Raises:
            PermissionRefused, DiskFull: the file system refuses.
        """
        with self._lock:
            waiting = self._waiting()
            gone = [key for key in keys if waiting.pop(key, None) is not None]
            if not waiting:
                self._clear()
            elif gone:
                self._rewrite(waiting)

    def clear(self) -> None:
        with self._lock:
            self._clear()

    def clear_before(self, moment: datetime) -> None:
        """Clear it, if nothing was added since."""
        with self._lock:
            if self._waiting() and self._added_at() < moment:
                self._clear()

    def read_again(self) -> None:
        """Another process may have written the file since."""
        with self._lock:
            self._waiting_keys, self._whole = None, 0

    def _clear(self) -> None:
        self._waiting_keys, self._whole = {}, 0
        for path in (self._path, self._path.with_name(self._path.name + files.UNSAVED)):
            path.unlink(missing_ok=True)

    def _rewrite(self, waiting: Mapping[str, bytes]) -> None:
        added_at, records = self._added_at(), _records(waiting.items())
        files.replace(self._path, records)
        self._whole = len(records)
        self._date(added_at)

    def _added_at(self) -> datetime:
        try:
            return datetime.fromtimestamp(self._path.stat().st_mtime, UTC)
        except OSError as error:
            raise files.meaning(error, self._path.parent) from None

    def _date(self, added_at: datetime) -> None:
        try:
            os.utime(self._path, times=(added_at.timestamp(), added_at.timestamp()))
        except OSError as error:
            raise files.meaning(error, self._path.parent) from None

    def _waiting(self) -> dict[str, bytes]:
        if self._waiting_keys is None:
            self._waiting_keys = dict(self._read(self._path.read_bytes() if self._path.exists() else b""))
        return self._waiting_keys

    def _read(self, data: bytes) -> Iterator[tuple[str, bytes]]:
        while len(data) >= self._whole + _HEAD:
            (length,) = _LENGTH.unpack_from(data, self._whole + KEY_BYTES)
            end = self._whole + _HEAD + length
            record = data[self._whole : end]
            if len(data) < end + _SUM.size or _SUM.unpack_from(data, end) != (zlib.crc32(record),):
                break
            yield record[:KEY_BYTES].hex(), record[_HEAD:]
            self._whole = end + _SUM.size


def _records(made: Iterable[tuple[str, bytes]]) -> bytes:
    return b"".join(_record(key, each) for key, each in made)


def _record(key: str, made: bytes) -> bytes:
    record = bytes.fromhex(key) + _LENGTH.pack(len(made)) + made
    return record + _SUM.pack(zlib.crc32(record))
