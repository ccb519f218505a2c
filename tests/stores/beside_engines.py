"""Stores with a vector engine beside them, for the conformance suite: `BESIDE` has the shape of `conftest.ENGINES`.

Qdrant and Milvus are the local forms of their clients, and real servers where QDRANT_URL and MILVUS_URI name them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from citewell.settings import Storage
from citewell.stores.beside.beside import VectorsBeside
from citewell.stores.beside.engines import PACKAGES, with_engine
from citewell.stores.lance import LanceStore
from tests.stores.corpus import made_with

Factories = tuple[Callable[[Path], VectorsBeside], Callable[[Path], VectorsBeside]]


def beside(storage: Storage) -> Factories:
    """How to create a store with the engine of these settings, and how to open it once more."""

    def composed(base: LanceStore, path: Path) -> VectorsBeside:
        store = with_engine(base, storage, path)
        assert isinstance(store, VectorsBeside)
        return store

    def create(path: Path) -> VectorsBeside:
        return composed(LanceStore.create(path, made_with(), storage), path)

    return create, lambda path: composed(LanceStore.open(path, storage), path)


_SETTINGS = {
    "faiss": Storage(vectors="faiss", exact_up_to=5_000),
    "faiss-binary": Storage(vectors="faiss", exact_up_to=5, quantise="binary"),
    "qdrant": Storage(vectors="qdrant", exact_up_to=5),
    "milvus": Storage(vectors="milvus", exact_up_to=5),
}

ALL = bool(os.environ.get("CITEWELL_TEST_ENGINES"))
"""Set it to anything, and every engine is tested in every form; it takes a quarter of an hour."""

BESIDE = {
    name: beside(storage)
    for name, storage in _SETTINGS.items()
    if (ALL or storage.vectors == "faiss") and find_spec(PACKAGES[storage.vectors])
}
"""Those whose package is installed. With `exact_up_to=5` an engine searches as it does in a large store."""

_URLS = {"qdrant": "QDRANT_URL", "milvus": "MILVUS_URI"}
IN_FILES = [name for name in BESIDE if not os.environ.get(_URLS.get(name, ""))]
"""Those that keep their vectors beside the store, and not on a server."""
