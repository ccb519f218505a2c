"""A server that holds vectors: where it is, what we call our collection there, and what we say when it fails."""

from __future__ import annotations

import os
import uuid
from dataclasses import dataclass
from pathlib import Path

from citewell.errors import ServiceRefused, ServiceUnreachable
from citewell.models.endpoint import checked, require_safe
from citewell.settings import Storage
from citewell.stores import files

COLLECTION = "collection"
"""The file with our collection's name on the server, which no other index has."""


@dataclass(frozen=True, slots=True)
class Server:
    """`engine` is its product's name; `key` is never shown or stored."""

    engine: str
    url: str
    key: str

    @classmethod
    def named(cls, engine: str, storage: Storage, url_variable: str, key_variable: str) -> Server | None:
        """That of `storage.vectors_url`, or of the environment; None where neither names one.

        Raises:
            SettingsError: the URL is none or holds a password, or a key would go over an open connection.
        """
        url = storage.vectors_url or os.environ.get(url_variable, "")
        if not url:
            return None
        setting = "storage.vectors_url" if storage.vectors_url else url_variable
        key = os.environ.get(key_variable, "")
        require_safe(key, checked(url, setting), setting)
        return cls(engine, url, key)

    def unreachable(self, why: str) -> ServiceUnreachable:
        return ServiceUnreachable(
            f"{self.engine} at {self.url} cannot be reached: {why}.",
            remedy='Start it, correct storage.vectors_url, or do without it: storage.vectors = "built-in".',
        )

    def refused(self, why: str) -> ServiceRefused:
        return ServiceRefused(
            f"{self.engine} at {self.url} refused: {why}.",
            remedy="See its log; check the key in the environment, and that the server's version is a recent one.",
        )


def our_collection(folder: Path) -> str:
    """The name of our collection; "" where it has none yet."""
    try:
        return (folder / COLLECTION).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""


def name_our_collection(folder: Path) -> str:
    """The name of our collection, which is given one and kept in the folder where it has none yet.

    Raises:
        PermissionRefused, DiskFull: the file system refuses.
    """
    name = our_collection(folder)
    if not name:
        name = f"citewell_{uuid.uuid4().hex}"
        files.make_folder(folder)
        files.replace(folder / COLLECTION, name.encode())
    return name
