"""`manifest.json`: what a generation was made with, and which table versions are its state.

The manifest is the commit. Tables are written first, as versions that nobody reads; then one `os.replace` of this file
makes all of them the state at once. What no manifest names does not exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from citewell.filters import FieldType
from citewell.stores import files
from citewell.stores.store import Counts, MadeWith

FILE = "manifest.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    """`fields` are the metadata fields that have a column.

    `tables` maps each table to its version. Where `settled` is False a run ended early, or is under way: nothing is
    missing, but BM25 scores are a few per cent off until a run ends.
    """

    made_with: MadeWith
    tables: Mapping[str, int]
    counts: Counts
    fields: Mapping[str, FieldType] = field(default_factory=dict)
    settled: bool = True


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
        raise files.damaged(directory / FILE, files.complaint(error)) from None


def save(directory: Path, manifest: Manifest) -> None:
    """Replace the manifest in one durable step.

    Raises:
        PermissionRefused, DiskFull: the file system refuses.
    """
    files.replace(directory / FILE, _SHAPE.dump_json(manifest, indent=1))
