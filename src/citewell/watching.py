"""When it is time to index again: what a run would see has changed, and no more does just now.

Only folders that a run looks into are watched, each by itself: a link in one of them may lead anywhere.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from watchfiles import Change, watch

from citewell.loading.access import ACCESS_FILE, SIDE_ENDING
from citewell.loading.discovery import Ignored, in_state_folder, is_ours
from citewell.settings import SETTINGS_FILE

QUIET_S = 0.5
"""For so long nothing may change before a run: files are often written in several steps."""
LONGEST_S = 10.0
"""A run begins after this time though things go on changing."""
POLL_MS = 2_000
"""Between two looks at every file, where the system does not tell of changes."""

Changes = set[tuple[Change, str]]


@dataclass(frozen=True, slots=True)
class Watched:
    """What lies at some paths just now, and what is said of it elsewhere.

    `roots` are the files and folders, resolved; what lies in `skip` or is ignored does not count. `beside` stands for
    which files and folders they are, and for the access files that lie outside of them.
    """

    paths: tuple[Path, ...]
    roots: tuple[Path, ...]
    skip: Path | None
    ignored: Ignored
    beside: tuple[object, ...]

    @classmethod
    def now(cls, paths: Sequence[Path], skip: Path | None, ignored: Ignored) -> Watched:
        roots = tuple(Path(os.path.realpath(path)) for path in paths)
        avoided = Path(os.path.realpath(skip)) if skip is not None else None
        return cls(tuple(paths), roots, avoided, ignored, _beside(paths, roots))

    @property
    def is_another(self) -> bool:
        """Whether something else lies at the paths than did, or access files outside of them have changed."""
        return self.beside != _beside(self.paths, self.roots)

    def places(self) -> list[Path]:
        """The folders that a run looks into, and the files named. Without those that may not be read or whose name is
        not UTF-8, which cannot be watched."""
        found = [root for root in self.roots if root.is_file()]
        for root in self.roots:
            for folder, names, _ in os.walk(root):
                found.append(Path(folder))
                names[:] = [name for name in names if self._is_seen(Path(folder, name), root)]
        return [place for place in found if _is_utf8(str(place))]

    def concerns(self, path: Path) -> bool:
        """Whether a run could see a change there."""
        return any(self._is_seen(path, root) for root in self.roots if path.is_relative_to(root))

    def _is_seen(self, path: Path, root: Path) -> bool:
        if path == root:
            return True
        if path.name == SETTINGS_FILE or (self.skip is not None and path.is_relative_to(self.skip)):
            return False  # settings were read when the program started
        if in_state_folder(path, root):
            return False
        folders = [folder for folder in path.parents if folder != root and folder.is_relative_to(root)]
        places = folders if is_ours(path.name) else [path, *folders]
        return not any(self.ignored.covers(place, root) for place in places)


def moments(paths: Sequence[Path], *, skip: Path | None = None, ignore: Sequence[str] = ()) -> Generator[bool]:
    """Twice a second or so, whether it is time to index again. What changes while the caller is at work is not missed.

    Says False first, when the watch has begun: what is indexed from then on is up to date. `skip` and `ignore` are as
    in `discover`.

    Raises:
        SettingsError: an ignore glob is wrong.
    """
    ignored = Ignored.by(ignore)
    since: float | None = None
    while True:
        watched = Watched.now(paths, skip, ignored)
        with closing(_changes(watched.places())) as happened:
            for changes in happened:
                seen = [(change, Path(path)) for change, path in changes or ()]
                is_over = changes is None or watched.is_another or any(_is_folders(*one, watched) for one in seen)
                if is_over or any(watched.concerns(path) for _, path in seen):
                    since = since or time.monotonic()
                    is_due = time.monotonic() - since > LONGEST_S
                else:
                    is_due = since is not None
                since = None if is_due else since
                yield is_due
                if is_over:  # there are other folders to watch
                    since = since or time.monotonic()
                    break


def _changes(places: Sequence[Path]) -> Generator[Changes | None]:
    """What changed, an empty set where nothing did for a while; None at the end: something did, and nobody knows what.

    Where the system cannot tell of changes, or of so many folders, all files are looked at again and again.
    """
    while not places:
        time.sleep(QUIET_S)
        yield set()
    begun = False
    for polling in (None, True):
        try:
            for changes in watch(
                *places,
                watch_filter=None,
                rust_timeout=int(QUIET_S * 1000),
                yield_on_timeout=True,
                recursive=False,
                force_polling=polling,
                poll_delay_ms=POLL_MS,
            ):
                begun = True
                yield changes
        except FileNotFoundError:
            break
        except (OSError, RuntimeError):  # what watchfiles raises, also for a name that is not UTF-8
            if begun:
                break
    yield None


def _is_folders(change: Change, path: Path, watched: Watched) -> bool:
    """Whether it is the end of a root, after which the next of that name may look the same, or of a folder anew."""
    if change is Change.deleted:
        return path in watched.roots
    return watched.concerns(path) and path.is_dir() and not path.is_symlink()


def _is_utf8(path: str) -> bool:
    return path.encode("utf-8", "surrogateescape") == path.encode("utf-8", "replace")


def _beside(paths: Sequence[Path], roots: Sequence[Path]) -> tuple[object, ...]:
    there = [(state.st_dev, state.st_ino) if state else None for state in map(_state, paths)]
    places = [folder / ACCESS_FILE for root in roots for folder in root.parents]
    places += [root.with_name(root.name + SIDE_ENDING) for root in roots]
    said = [(state.st_ino, state.st_mtime_ns, state.st_size) if state else None for state in map(_state, places)]
    return (*there, *said)


def _state(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None
