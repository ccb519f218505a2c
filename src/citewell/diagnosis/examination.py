"""All checks, in the order in which one rests on the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

from citewell.diagnosis import advice, contents, installation, place, tables
from citewell.diagnosis.findings import Check, Finding, Severity, checked
from citewell.models import configured
from citewell.models.embedder import Embedder
from citewell.models.encoding import Encoders
from citewell.models.sparse import SparseEncoder
from citewell.settings import Models, Settings
from citewell.stores.beside.beside import VectorsBeside
from citewell.stores.folder import FolderHome
from citewell.stores.home import Home
from citewell.stores.homes import home_at
from citewell.stores.lance import LanceStore
from citewell.stores.store import OWNER, Store

Look = Callable[[], Iterable[Finding]]


def examine(location: str | Path, load_settings: Callable[[], Settings]) -> Iterator[Check]:
    """Look at the installation and at the index at `location`. Writes nothing but the writer's lock.

    What cannot be looked at because of what was found before is left out.
    """
    yield from checked("versions", installation.versions)
    loaded: list[Settings] = []

    def settings() -> Iterator[Finding]:
        loaded.append(load_settings())
        yield from advice.settings(loaded[0])

    yield from checked("settings", settings)
    if not loaded:
        return
    models = loaded[0].models
    embedder, sparse = cache(lambda: configured.embedder(models)), configured.sparse(models)
    sound = True
    for name, look in _of_installation(loaded[0], embedder, sparse):
        checks = checked(name, look)
        sound = sound and all(check.severity is not Severity.ERROR for check in checks)
        yield from checks
    home = home_at(location, loaded[0].storage)
    try:
        yield from _of_index(home, loaded[0], (lambda: Encoders(embedder(), sparse)) if sound else None)
    finally:
        home.close()


def base_of(store: Store) -> Store:
    """The store itself, without the vector engine beside it."""
    return store.base if isinstance(store, VectorsBeside) else store


def folder_of(home: Home) -> Path | None:
    """Its folder, where it has one."""
    return Path(home.location) if isinstance(home, FolderHome) else None


def _of_installation(
    settings: Settings, embedder: Callable[[], Embedder], sparse: SparseEncoder | None
) -> Iterator[tuple[str, Look]]:
    yield "plugins", lambda: installation.plugins(settings.loading)
    yield "secrets", installation.secrets
    if settings.models.embedder == Models().embedder:
        yield "model", installation.model_file
    yield "embedder", lambda: installation.embedder(embedder())
    yield "reading", lambda: advice.reading(settings.chunking, embedder())
    if sparse is not None:
        yield "sparse", lambda: installation.sparse(sparse)


def _of_index(home: Home, settings: Settings, encoders: Callable[[], Encoders] | None) -> Iterator[Check]:
    there = checked("index", lambda: place.pointer(home))
    yield from there
    if any(check.severity is not Severity.OK for check in there):
        return
    store = home.open(home.pointer().current)
    base, folder = base_of(store), folder_of(home)
    looks: list[tuple[str, Look]] = [
        ("generations", lambda: place.generations(home)),
        ("purges", lambda: place.purges(home)),
    ]
    if isinstance(base, LanceStore):
        looks += [
            ("run", lambda: tables.run(base, home)),
            ("files", lambda: tables.files(base)),
            ("rows", lambda: tables.rows(base)),
            ("indexes", lambda: tables.indexes(base, settings.storage)),
        ]
    looks += [
        ("engine", lambda: contents.engine(store)),
        ("history", lambda: contents.versions(store)),
        ("days", lambda: contents.days(store, settings)),
        ("fields", lambda: contents.fields(store, settings)),
        ("loaded", lambda: contents.loaded(store)),
        ("applied", lambda: contents.applied(store, settings)),
        ("analyser", lambda: contents.analyser(store)),
        ("searching", lambda: advice.searching(settings, store.reader().counts(OWNER).entries)),
        ("writing", lambda: place.writing(home)),
    ]
    if encoders is not None:
        looks.append(("applied", lambda: contents.made_with(store, settings, encoders())))
        looks.append(("fingerprint", lambda: contents.fingerprint(store, encoders().embedder)))
        looks.append(("fingerprint", lambda: contents.sparse_fingerprint(store, encoders())))
    if folder is not None:
        looks.append(("leftovers", lambda: place.leftovers(folder, settings.storage.vectors)))
        looks.append(("disk", lambda: place.disk(folder, home.bytes_on_disk())))
    for name, look in looks:
        yield from checked(name, look)
