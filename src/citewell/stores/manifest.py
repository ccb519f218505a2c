"""`manifest.json`: what a generation was made with, and which table versions are its state.

The manifest is the commit. Tables are written first, as versions that nobody reads; then one `os.replace` of this file
makes all of them the state at once. What no manifest names does not exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from citewell.complaints import explained
from citewell.filters import FieldType
from citewell.stores import files
from citewell.stores.store import Counts, MadeWith
from citewell.types import Removed

FILE = "manifest.json"


@dataclass(frozen=True, slots=True)
class Built:
    """When the keyword index was built last: how many entries it counted, and for each table how many fragments there
    were and the row id that all later rows lie beyond. `quantise` is the setting that the vector index was built by.

    `left` are files and folders below that of the tables which no newer state uses, and since when.
    """

    entries: int = 0
    fragments: Mapping[str, int] = field(default_factory=dict)
    ends: Mapping[str, int] = field(default_factory=dict)
    quantise: str = ""
    left: Mapping[str, datetime] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Manifest:
    """`fields` are the metadata fields that have a column.

    `tables` maps each table to its version. Where `settled` is False a run ended early, or is under way: nothing is
    missing, but BM25 scores are a few per cent off until a run ends. `state` names what is stored: another at each
    commit, the same while only indexes change.

    Where `erasing` is not None, older files are still to be removed: they hold what it names, which is in no table.
    """

    made_with: MadeWith
    tables: Mapping[str, int]
    counts: Counts
    fields: Mapping[str, FieldType] = field(default_factory=dict)
    settled: bool = True
    state: str = ""
    built: Built = Built()
    erasing: tuple[Removed, ...] | None = None


_SHAPE = TypeAdapter(Manifest)


def signature(directory: Path) -> files.Signature:
    """What changes whenever the manifest does.

    Raises:
        IndexNotFound, PermissionRefused: as `load`.
    """
    return files.signature(directory / FILE)


def load(directory: Path) -> Manifest:
    """Read and check the manifest.

    Raises:
        IndexNotFound: there is none.
        IndexFormatError: it is damaged.
        PermissionRefused: it may not be read.
    """
    try:
        return _SHAPE.validate_json(files.read(directory / FILE))
    except ValidationError as error:
        raise files.damaged(directory / FILE, explained(error)) from None


def save(directory: Path, manifest: Manifest) -> None:
    """Replace the manifest in one durable step.

    Raises:
        PermissionRefused, DiskFull: the file system refuses.
    """
    files.replace(directory / FILE, _SHAPE.dump_json(manifest, indent=1))
