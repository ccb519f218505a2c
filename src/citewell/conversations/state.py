"""The file `service.sqlite3` in the folder of the service: who opens it, and how what is erased leaves it.

A connection is made for each transaction, so that threads and processes share nothing but the file. Only its owner may
read it: it holds texts of documents, and not everyone may read every document.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from citewell.errors import CitewellError, IndexFormatError, PathError, PermissionRefused, Refused
from citewell.settings import STATE_FILE
from citewell.stores import files

BUSY_S = 10
"""For so long a transaction waits for those of others."""

_OWNER_ONLY = 0o600


@dataclass(frozen=True, slots=True)
class StateFile:
    """`StateFile.at(folder)` makes it, `StateFile.existing(folder)` takes the one that is there."""

    path: Path

    @classmethod
    def at(cls, folder: Path) -> StateFile:
        """Make the folder and the file where they are missing.

        Raises:
            PathError: there is something else at that path.
            PermissionRefused, DiskFull: the file system refuses.
            IndexFormatError: the file is no database.
        """
        state = cls(folder / STATE_FILE)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # SQLite does not wait for another process that switches the file to WAL at the same moment.
            with FileLock(folder / f"{STATE_FILE}.lock", mode=_OWNER_ONLY):
                # Before the first word is in it; the files beside it that SQLite makes are given the same mode.
                state.path.touch(mode=_OWNER_ONLY)
                state.path.chmod(_OWNER_ONLY)
                with state._connected() as database:
                    database.execute("PRAGMA journal_mode = WAL")
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            raise PathError(f"{folder} is no folder of the service.", remedy="Name another `state` folder.") from None
        except OSError as error:
            raise files.meaning(error, folder) from None
        return state

    @classmethod
    def existing(cls, folder: Path) -> StateFile | None:
        """The one that is there; None where there is none."""
        return cls.at(folder) if (folder / STATE_FILE).is_file() else None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Everything read within is of one moment."""
        with self._connected() as database:
            database.execute("BEGIN")
            yield database

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, held against all other writers; undone where something is raised."""
        with self._connected() as database:
            database.execute("BEGIN IMMEDIATE")
            yield database
            database.execute("COMMIT")

    def scrub(self) -> None:
        """Rewrite the file, so that no byte of what was deleted stays in it or beside it.

        Overwriting what is deleted does not do alone: a row that moved to another page before left its bytes behind.

        Raises:
            Refused: others have been reading for `BUSY_S`; what was deleted is so, and may still be in a file.
        """
        with self._connected() as database:
            database.execute("VACUUM")
            (busy, _, _) = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise Refused(
                f"{self.path} is being read, so what was deleted may still be in its -wal file.",
                remedy="Run the same command again, or stop the service first.",
            )

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None)) as database:
                database.row_factory = sqlite3.Row
                database.execute("PRAGMA foreign_keys = ON")
                database.execute("PRAGMA secure_delete = ON")
                yield database
        except sqlite3.Error as error:
            raise self._meaning(error) from error

    def _meaning(self, error: sqlite3.Error) -> CitewellError | sqlite3.Error:
        """What a failure means to a user; the error itself where that is not known."""
        match getattr(error, "sqlite_errorcode", 0) & 0xFF:  # the primary code of an extended one
            case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
                return Refused(f"Another process is using {self.path}.", remedy="Try again in a moment.")
            case sqlite3.SQLITE_FULL:
                return files.disk_full(self.path.parent)
            case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_CANTOPEN:
                return PermissionRefused(
                    f"{self.path} cannot be opened: the file system refuses.",
                    remedy="Let this user write to its folder, or name another `state` folder.",
                )
            case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
                return IndexFormatError(
                    f"{self.path} is damaged: {error}.", remedy="Restore it from a backup, or move it away."
                )
        return error
