"""One writer at a time, in all processes: an operating system's lock, which a killed process cannot leave behind."""

from __future__ import annotations

import json
import os
import socket
import threading
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from citewell.errors import IndexLocked
from citewell.stores import files

LOCK = "writer.lock"
HOLDER = "writer.json"


class WriterLock:
    """A context manager that may be entered again while it is held, from any thread that shares the object.

    Entering raises IndexLocked where another holds it (the message names that process), and PermissionRefused where
    the directory may not be written to.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        # Without the soft fallback, whose locks would outlive a killed process.
        self._file = FileLock(directory / LOCK, thread_local=False, fallback_to_soft=False)
        self._mutex = threading.Lock()
        self._depth = 0

    @property
    def depth(self) -> int:
        """How many times it is entered; 0 where this object does not hold it."""
        return self._depth

    def __enter__(self) -> WriterLock:
        with self._mutex:
            if self._depth == 0:
                self._take()
            self._depth += 1
        return self

    def __exit__(self, *exc_info: object) -> None:
        with self._mutex:
            self._depth -= 1
            if self._depth == 0:
                try:
                    (self._directory / HOLDER).unlink(missing_ok=True)
                finally:
                    self._file.release()

    def _take(self) -> None:
        try:
            self._file.acquire(blocking=False)
            try:
                (self._directory / HOLDER).write_text(_this_process(), encoding="utf-8")
            except OSError:  # a full disk: who failed to write must not go on holding the lock
                self._file.release()
                raise
        except Timeout:
            raise IndexLocked(
                f"{self._directory} is being written to by {_holder(self._directory / HOLDER)}.",
                remedy="Wait until it has finished, or stop it. Reading goes on meanwhile.",
            ) from None
        except OSError as error:
            raise files.meaning(error, self._directory) from None


def _this_process() -> str:
    since = datetime.now(UTC).isoformat(timespec="seconds")
    return json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": since})


def _holder(path: Path) -> str:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return f"process {record['pid']} on {record['host']}, since {record['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        # It has only just taken the lock, or is just giving it back.
        return "another process"
