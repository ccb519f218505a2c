"""The local form of a server's client: one for all who open a folder in this process, and for one process at a time.

These forms are made for trying things out. Each keeps the whole of its folder in memory, so that processes cannot share
it, and is asked by one thread at a time.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from filelock import FileLock, Timeout

from citewell.errors import IndexLocked
from citewell.stores import files

LOCK = "held.lock"

Client = TypeVar("Client")


@dataclass(slots=True)
class _Held(Generic[Client]):
    client: Client
    lock: FileLock
    users: int


class LocalClients(Generic[Client]):
    """The clients that this process has open, by folder; hold `one_at_a_time` to ask one."""

    def __init__(self, connect: Callable[[Path], Client], disconnect: Callable[[Client, Path], None]) -> None:
        self._connect = connect
        self._disconnect = disconnect
        self._held: dict[Path, _Held[Client]] = {}
        self.one_at_a_time = threading.RLock()
        # What is still open when the interpreter goes down complains of it.
        atexit.register(self._close_all)

    def take(self, folder: Path) -> Client:
        """A client, to be given back. The folder is made where it is missing.

        Raises:
            IndexLocked: another process has it.
            PermissionRefused, DiskFull: the file system refuses.
        """
        with self.one_at_a_time:
            held = self._held.get(folder.resolve())
            if held is None:
                lock = _lock(folder)
                try:
                    held = self._held[folder.resolve()] = _Held(self._connect(folder), lock, 0)
                except BaseException:
                    lock.release()
                    raise
            held.users += 1
            return held.client

    def give_back(self, folder: Path) -> None:
        with self.one_at_a_time:
            held = self._held[folder.resolve()]
            held.users -= 1
            if held.users == 0:
                del self._held[folder.resolve()]
                self._disconnect(held.client, folder)
                held.lock.release()

    def _close_all(self) -> None:
        with self.one_at_a_time:
            for folder, held in self._held.items():
                self._disconnect(held.client, folder)
                held.lock.release()
            self._held.clear()


def _lock(folder: Path) -> FileLock:
    files.make_folder(folder)
    lock = FileLock(folder / LOCK, thread_local=False, fallback_to_soft=False)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise IndexLocked(
            f"Another process has the vectors in {folder} open, and this engine's local form is for one at a time.",
            remedy="Close that process, or give the URL of a server in storage.vectors_url.",
        ) from None
    except OSError as error:
        raise files.meaning(error, folder) from None
    return lock
