"""The vector engine that the settings name."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from citewell.errors import SettingsError
from citewell.settings import Storage
from citewell.stores.beside.beside import Base, VectorsBeside
from citewell.stores.beside.vector_index import VectorIndex
from citewell.stores.store import Store

FOLDER = "vectors"
PACKAGES = {"faiss": "faiss", "qdrant": "qdrant_client", "milvus": "pymilvus"}


def with_engine(base: Base, storage: Storage, directory: Path) -> Store:
    """The base itself, or with the engine of `storage.vectors` beside it, which keeps its files in `directory`.

    Raises:
        SettingsError: the engine is not installed.
    """
    if storage.vectors == "built-in":
        return base
    package = PACKAGES[storage.vectors]
    if find_spec(package) is None:
        raise SettingsError(
            f'storage.vectors = "{storage.vectors}" needs the package {package}, which is not installed.',
            remedy=f"Install it with `pip install 'citewell[{storage.vectors}]'`.",
        )
    engine = _engine(storage, directory / FOLDER, base.made_with.embedder.dimensions)
    return VectorsBeside(base, engine, exact_up_to=storage.exact_up_to)


def _engine(storage: Storage, folder: Path, dimensions: int) -> VectorIndex:
    match storage.vectors:
        case "qdrant":
            from citewell.stores.beside.qdrant_index import QdrantIndex

            return QdrantIndex(folder, dimensions, storage)
        case "milvus":
            from citewell.stores.beside.milvus_index import MilvusIndex

            return MilvusIndex(folder, dimensions, storage)
        case _:
            from citewell.stores.beside.faiss_index import FaissIndex

            return FaissIndex(folder / "faiss", storage.quantise)
