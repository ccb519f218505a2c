"""The tables of an index in a folder: their files, the rows in them, and their indexes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from citewell.diagnosis.contents import AGAIN, some
from citewell.diagnosis.findings import Finding, Mend, error, warning
from citewell.errors import IndexLocked
from citewell.settings import Storage
from citewell.stores import lance_health
from citewell.stores.home import Home
from citewell.stores.lance import LanceStore
from citewell.stores.lance_rows import CHUNKS, ENTRIES
from citewell.stores.store import REPLIES_KEPT

MANY_DELETED = 0.3


def files(store: LanceStore) -> Iterator[Finding]:
    """All files can be read, and hold what was written."""
    reader = store.reader()
    rows = list(lance_health.damaged_rows(reader))
    for problem in rows:
        yield error(problem, "Restore the index from a backup, or index the documents again into a new directory.")
    indexes = list(lance_health.damaged_indexes(reader))
    for problem in indexes:
        yield error(problem, "--fix builds the indexes anew from the rows.", None if rows else Mend.TABLES)
    if not (rows or indexes):
        yield Finding("every row and every index was read")


def rows(store: LanceStore) -> Iterator[Finding]:
    """The legs hold the same: no part without its document, no document without its parts."""
    reader = store.reader()
    wanted = reader.manifest.counts
    there = {name: table.count_rows() for name, table in reader.tables.items()}
    if tuple(there.values()) != (wanted.documents, wanted.chunks, wanted.entries):
        counted = ", ".join(f"{count:,} {name}" for name, count in there.items())
        yield error(
            f"there are {counted}, and the manifest says {wanted.documents:,}, {wanted.chunks:,}, {wanted.entries:,}",
            "--fix counts them anew, if nothing else is wrong.",
            Mend.TABLES,
        )
    found = lance_health.strays(reader)
    if found.chunks or found.entries:
        message = f"{len(found.chunks):,} chunks and {len(found.entries):,} entries belong to no document"
        yield error(message, "--fix removes them.", Mend.TABLES)
    for name, times in found.doubled.items():
        message = f"{times:,} ids are in {name} more than once"
        yield error(message, "Restore the index from a backup, or index the documents again into a new directory.")
    if found.without_parts:
        message = f"{len(found.without_parts):,} documents have no entries and are never found: "
        remedy = "Delete them with `citewell delete`, and index their files again."
        yield error(message + some(list(found.without_parts)), remedy)
    if not (found.chunks or found.entries or found.doubled or found.without_parts):
        yield Finding(f"{there[CHUNKS]:,} chunks and {there[ENTRIES]:,} entries, each with its document")


def strays(store: LanceStore) -> Mapping[str, tuple[str, ...]]:
    """The rows that belong to nothing, by table and id."""
    found = lance_health.strays(store.reader())
    return {name: ids for name, ids in ((CHUNKS, found.chunks), (ENTRIES, found.entries)) if ids}


def indexes(store: LanceStore, storage: Storage) -> Iterator[Finding]:
    """The indexes know the rows, and what nobody needs any more is gone."""
    reader = store.reader()
    legs, waste = lance_health.legs(reader, storage), lance_health.waste(reader)
    if legs.overdue:
        message = f"indexes lag: {', '.join(legs.overdue)}; everything is found, more slowly"
        yield warning(message, "--fix builds them, and so does the next run of `citewell index`.", Mend.INDEXES)
    if waste.crowded:
        message = (
            f"{waste.old:,} old table versions and up to {waste.deleted:.0%} deleted rows wait to be cleaned up in "
            f"{', '.join(waste.crowded)}"
        )
        yield warning(message, "--fix rewrites the tables, and so does the next run of `citewell index`.", Mend.TABLES)
    if not (legs.overdue or waste.crowded):
        vector = "no vector index is due" if legs.vector is None else f"{legs.vector:,} in the vector index"
        yield Finding(f"{legs.keyword or 0:,} of {legs.entries:,} entries in the keyword index, {vector}")


def run(store: LanceStore, home: Home) -> Iterator[Finding]:
    """The last run came to its end, and nothing waits that one before it has left."""
    settled = store.reader().manifest.settled
    kinds = ((store.stashed, "vectors"), (store.stashed_replies, "replies of a language model"))
    left = [f"{count:,} {what}" for count, what in kinds if count]
    if settled and not left:
        yield Finding("the last run came to its end")
        return
    try:
        with home.writing():
            pass
    except IndexLocked as locked:
        yield Finding(f"a run is under way: {locked.message}")
        return
    if not settled:
        yield warning(
            "the last run was cut short; what it committed is found, keyword scores are a little off",
            f"{AGAIN} --fix only settles what is there.",
            Mend.INDEXES,
        )
    if left:
        kept = f" Replies wait for {REPLIES_KEPT.days} days after the last was added." if store.stashed_replies else ""
        yield warning(f"a run was cut short, and has left {' and '.join(left)} for the next to use", AGAIN + kept)
