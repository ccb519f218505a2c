"""The folder of the service: `service.sqlite3`, uploads, the audit log. Nobody but its user may look into it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from citewell.conversations.state import StateFile


@dataclass(frozen=True, slots=True)
class State:
    """`folder` is resolved: uploads are named after it for good."""

    folder: Path
    file: StateFile

    @classmethod
    def at(cls, place: str) -> State:
        """Make the folder where there is none.

        Raises:
            PathError: there is something else at that path.
            PermissionRefused, DiskFull: the file system refuses.
            IndexFormatError: its database is none.
        """
        folder = Path(place).resolve()
        return cls(folder, StateFile.at(folder))


def private_folder(folder: Path) -> None:
    """Make it, and what is missing above it, for this user alone."""
    if not folder.parent.exists():
        private_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
