"""The engines that the conformance suite runs on. A new engine adds a line to `ENGINES`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from citewell.settings import Storage
from citewell.stores import lance_indexes
from citewell.stores.lance import LanceStore
from citewell.stores.store import IndexedDocument, Store
from tests.stores import beside_engines, postgres_engine
from tests.stores.corpus import commit, made_with


@dataclass(frozen=True, slots=True)
class Engine:
    """How to make an empty store of an engine, and how to open it once more."""

    create: Callable[[Path], Store]
    open: Callable[[Path], Store]

    def filled(self, path: Path, documents: Sequence[IndexedDocument]) -> Store:
        store = self.create(path)
        commit(store, documents)
        return store


def _lance(exact_up_to: int) -> Engine:
    storage = Storage(exact_up_to=exact_up_to)
    return Engine(
        lambda path: LanceStore.create(path, made_with(), storage), lambda path: LanceStore.open(path, storage)
    )


BY_INDEX = "lance-by-index"
ENGINES = {
    "lance": _lance(5_000),
    BY_INDEX: _lance(5),
    **{
        name: Engine(*pair)
        for name, pair in postgres_engine.PAIRS.items()
        if beside_engines.ALL or name == "postgres-by-index"
    },
    **{
        name: Engine(*pair)
        for name, pair in beside_engines.BESIDE.items()
        if beside_engines.ALL or name == "faiss-binary"
    },
}
"""The second keeps all the indexes of a large store, however small it is, and searches by them."""


@pytest.fixture(params=ENGINES, scope="module")
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with pytest.MonkeyPatch.context() as patch:
        if request.param == BY_INDEX:
            patch.setattr(lance_indexes, "MIN_ROWS_INDEXED", 1)
            patch.setattr(lance_indexes, "MAX_UNINDEXED_VECTORS", 0)
        yield ENGINES[request.param]


@pytest.fixture
def store(engine: Engine, tmp_path: Path) -> Iterator[Store]:
    store = engine.create(tmp_path / "index")
    yield store
    store.close()
