"""Where an index lies: its generations, who writes to it, and the disk."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from citewell.diagnosis.contents import some
from citewell.diagnosis.findings import Finding, Mend, error, warning
from citewell.errors import IndexFormatError, IndexLocked, IndexNotFound, PermissionRefused
from citewell.generations import beside, erasing
from citewell.stores.beside.engines import FOLDER as VECTORS
from citewell.stores.files import UNSAVED
from citewell.stores.home import Home, Upgradable

# A run rewrites the tables beside the old ones before it lets go of these, and Lance wants some room in any case.
ROOM_FACTOR = 2
LEAST_FREE_BYTES = 200_000_000

MOUNTS = Path("/proc/self/mounts")
NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "ceph", "afs", "glusterfs", "fuse.sshfs", "fuse.s3fs"}


def pointer(home: Home) -> Iterator[Finding]:
    """There is an index, of a format that this version reads, and its newest generation opens."""
    try:
        found = home.pointer()
        # First: one cut short brings the newest up to date, and not what is kept beside it.
        old = home.outdated() if isinstance(home, Upgradable) else []
        if old:
            named = ", ".join(f"generation {number}" for number in old)
            message = f"an older version of Citewell made the tables of {named}"
            yield error(message, "--fix brings them up to date, and loses nothing.", Mend.UPGRADE)
            return
        home.open(found.current)
    except IndexNotFound as missing:  # nothing wrong with the installation
        yield warning(missing.message, missing.remedy)
    except IndexFormatError as damaged:
        yield error(damaged.message, "Restore it from a backup, or index the documents again into a new directory.")
    else:
        yield Finding(f"format {found.format}, generation {found.current}, made {found.created}")


def generations(home: Home) -> Iterator[Finding]:
    """What lies beside the index."""
    others = beside(home)
    for one in others:
        size = f"{one.bytes_on_disk / 1e6:,.1f} MB"
        if one.kept and not one.embedder:
            yield error(
                f"generation {one.generation}, kept to go back to, is damaged",
                "Go on without it: the next `citewell migrate` replaces it.",
            )
        elif one.kept:
            yield Finding(f"generation {one.generation} ({one.embedder}, {size}) is kept to go back to")
        else:
            made = f"begun with {one.embedder}, {one.versions:,} versions so far" if one.embedder else "hardly begun"
            yield warning(
                f"generation {one.generation} ({size}) is unfinished: {made}",
                "Run the same `citewell migrate` again to go on with it; --fix removes it.",
                Mend.GENERATIONS,
            )
    if not others:
        yield Finding("one generation, nothing beside it")


def purges(home: Home) -> Iterator[Finding]:
    """What was purged has left the files."""
    waiting = erasing(home)
    if not waiting:
        yield Finding("none was cut short")
        return
    try:
        with home.writing():
            pass
    except IndexLocked as locked:
        yield Finding(f"one is under way: {locked.message}")
        return
    for number, gone in waiting.items():
        sources = [one.source for one in gone]
        named = f" of {len(gone):,} documents ({some(sources)})" if gone else ""
        if number == home.pointer().current:
            said = f"no answer has them, files of generation {number} may still hold them"
            remedy = "--fix removes those files, and so does the next run of `citewell index`, or the same purge again."
        else:
            said = f"generation {number}, which is kept to go back to, lost them, and the index may have them still"
            remedy = "Repeat the purge: --fix removes only what is left in the files of that generation."
        yield warning(f"a purge{named} was cut short: {said}", remedy, Mend.PURGES)


def leftovers(folder: Path, engine: str) -> Iterator[Finding]:
    """Nothing lies in the folder that belongs to nothing. `engine` is the vector engine of the settings."""
    found = leftover_paths(folder, engine)
    if found:
        names = ", ".join(str(path.relative_to(folder)) for path in found)
        yield warning(f"left over: {names}", "--fix removes them.", Mend.LEFTOVERS)
    else:
        yield Finding("nothing is left over")


def leftover_paths(folder: Path, engine: str) -> list[Path]:
    """Half-written small files, and what a vector engine holds that is not set any more: vectors that no purge
    reaches."""
    unsaved = [*folder.glob(f"*{UNSAVED}"), *folder.glob(f"generations/*/*{UNSAVED}")]
    engines = [path for path in folder.glob(f"generations/*/{VECTORS}/*") if path.is_dir() and path.name != engine]
    return sorted(unsaved + engines)


def writing(home: Home) -> Iterator[Finding]:
    """The index can be written to, or who is writing just now."""
    try:
        with home.writing():
            yield Finding("nobody is writing, and this user may")
    except IndexLocked as locked:
        yield Finding(locked.message)
    except PermissionRefused as refused:  # a reader's index may well be read-only
        yield warning(refused.message, refused.remedy)


def disk(folder: Path, size: int) -> Iterator[Finding]:
    """There is room for the next run, on a disk of this machine."""
    free = shutil.disk_usage(folder).free
    message = f"{free / 1e9:,.1f} GB free; the index takes {size / 1e6:,.1f} MB"
    if free < max(ROOM_FACTOR * size, LEAST_FREE_BYTES):
        yield warning(message, "Make room on the disk, or move the index.")
    else:
        yield Finding(message)
    kind = file_system(folder.resolve(), MOUNTS.read_text(encoding="utf-8") if MOUNTS.exists() else "")
    if kind in NETWORK:
        yield warning(
            f"the folder lies on a network file system ({kind}), where locks may not hold and reading is slow",
            "Move the index to a local disk, or use a PostgreSQL server for several machines.",
        )


def file_system(path: Path, mounts: str) -> str:
    """The type of file system that a path lies on, "" where that is not known. `mounts` has a line each, as in
    /proc/mounts: device, mount point with octal escapes, type."""
    points = (line.split()[1:3] for line in mounts.splitlines())
    known = {Path(point.replace("\\040", " ")): kind for point, kind in points}
    return next((known[place] for place in (path, *path.parents) if place in known), "")
