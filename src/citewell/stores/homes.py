"""Which home an index has: by what the user calls its place."""

from __future__ import annotations

import re
from pathlib import Path

from citewell.errors import PathError
from citewell.settings import Storage
from citewell.stores.home import Home

POSTGRES = ("postgresql://", "postgres://")

_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]*://")


def home_at(location: str | Path, storage: Storage) -> Home:
    """A folder's or a database's; nothing is opened yet.

    Raises:
        PathError: it is the URL of something else.
        UsageError: the extra that talks to the database is not installed.
    """
    folder = folder_at(location)
    if folder is None:
        from citewell.stores.postgres.home import PostgresHome

        return PostgresHome(str(location), storage)
    from citewell.stores.folder import FolderHome

    return FolderHome(folder, storage)


def folder_at(location: str | Path) -> Path | None:
    """The folder that an index at this place lies in; None where that is a database.

    Raises:
        PathError: it is the URL of something else.
    """
    scheme = _SCHEME.match(location) if isinstance(location, str) else None
    if scheme is None:
        return Path(location)
    if scheme[0] not in POSTGRES:
        # Not the rest of it, which may hold a password.
        raise PathError(
            f"An index cannot lie at a {scheme[0]} address.",
            remedy="Name a folder, or a URL that begins postgresql://.",
        )
    return None
