"""What `citewell doctor --fix` does. It takes the writer's lock, says what it did, and deletes no document."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from citewell import clock
from citewell.diagnosis import contents, place, tables
from citewell.diagnosis.examination import base_of, folder_of
from citewell.diagnosis.findings import Check, Mend
from citewell.generations import end_erasing, tidy
from citewell.settings import Settings
from citewell.stores import files
from citewell.stores.beside.beside import VectorsBeside
from citewell.stores.home import Home, Upgradable
from citewell.stores.homes import home_at
from citewell.stores.lance import LanceStore
from citewell.stores.store import Standing, Store
from citewell.types import Ending


def mend(location: str | Path, settings: Settings, checks: Collection[Check]) -> Iterator[str]:
    """Mend what the checks found and can be mended, and say what was done, a line each.

    Raises:
        IndexLocked: another process is writing.
        DiskFull, PermissionRefused: the file system refuses; what was done before stays.
    """
    wanted = {check.mend for check in checks} - {None}
    if not wanted:
        return
    if wanted & {Mend.TABLES, Mend.INDEXES}:
        wanted.add(Mend.VECTORS)  # a vector engine follows the tables
    home = home_at(location, settings.storage)
    try:
        with home.writing():
            for one in Mend:
                if one in wanted:
                    yield from _mended(one, home, settings)
    finally:
        home.close()


def _mended(what: Mend, home: Home, settings: Settings) -> Iterator[str]:
    match what:
        case Mend.UPGRADE if isinstance(home, Upgradable):
            for number in home.upgrade():
                yield f"brought the tables of generation {number} up to date"
        case Mend.PURGES:
            for number in end_erasing(home):
                yield f"removed the files of generation {number} that held what was purged"
        case Mend.LEFTOVERS:
            yield from _leftovers(folder_of(home), settings.storage.vectors)
        case Mend.GENERATIONS:
            gone = tidy(home)
            yield f"removed {', '.join(f'generation {number}' for number in gone)}, unfinished"
        case Mend.TABLES:
            yield from _tables(home.open(home.pointer().current))
        case Mend.VERSIONS:
            yield from _versions(home.open(home.pointer().current))
        case Mend.INDEXES:
            yield from _indexes(home.open(home.pointer().current))
        case Mend.VECTORS:
            yield from _vectors(home.open(home.pointer().current))


def _leftovers(folder: Path | None, engine: str) -> Iterator[str]:
    for path in place.leftover_paths(folder, engine) if folder is not None else ():
        try:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        except OSError as error:
            raise files.meaning(error, path.parent) from None
        yield f"removed {path}"


def _tables(store: Store) -> Iterator[str]:
    base = base_of(store)
    if isinstance(base, LanceStore):
        strays = tables.strays(base)
        base.mend(strays, anew=True)
        removed = "".join(f", without {len(ids):,} {name} of no document" for name, ids in strays.items())
        yield f"wrote all tables and indexes anew{removed}"


def _indexes(store: Store) -> Iterator[str]:
    base = base_of(store)
    if isinstance(base, LanceStore):
        base.mend({}, anew=False)
        yield "built the indexes that were due, and settled the last run"


def _versions(store: Store) -> Iterator[str]:
    """Older current versions become past ones that are only kept."""
    keys = contents.superfluous(store.versions())
    past = Standing(current=False, searchable=False, ended_at=clock.now(), ending=Ending.REPLACED)
    with store.writing():
        store.commit([replace(one, standing=past) for one in store.fetch(keys)])
    yield f"made {len(keys):,} versions past ones that a newer had replaced"


def _vectors(store: Store) -> Iterator[str]:
    if isinstance(store, VectorsBeside) and store.stale:
        store.rebuild()
        yield "built the vector engine anew"
