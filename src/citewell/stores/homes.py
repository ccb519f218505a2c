"""Which home an index has: by what the user calls its place."""

from __future__ import annotations

from pathlib import Path

from citewell.settings import Storage
from citewell.stores.home import Home

POSTGRES = ("postgresql://", "postgres://")


def home_at(location: str | Path, storage: Storage) -> Home:
    """A folder's or a database's; nothing is opened yet.

    Raises:
        UsageError: the extra that talks to the database is not installed.
    """
    if isinstance(location, str) and location.startswith(POSTGRES):
        from citewell.stores.postgres.home import PostgresHome

        return PostgresHome(location, storage)
    from citewell.stores.folder import FolderHome

    return FolderHome(Path(location), storage)
