"""Which files a call to index is about, and how each is named for good."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from re import Pattern

from citewell.errors import LoadError, NotAFile, PathError, PermissionRefused, SettingsError
from citewell.loading.access import ACCESS_FILE, SIDE_ENDING
from citewell.loading.globs import compile_glob, one_spelling
from citewell.settings import SETTINGS_FILE, STATE_FILE

_PERMIT = "Give this user permission, or leave it out."


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file, or a place in a folder that could not be taken and the `problem` why.

    `path` is absolute and resolved, `source` its `file://` URI: the same however the caller spelt the path. A file
    inside another has that one's path, and its own `data`, name and `depth` (1 in a file of a folder).
    """

    path: Path
    source: str
    name: str
    problem: LoadError | None = None
    data: bytes | None = None
    depth: int = 0
    parent_id: str | None = None


@dataclass(slots=True)
class Discovered:
    """The files found, each once, how many were passed over as hidden or by `loading.ignore`, and the side files that
    stand beside no file.
    """

    files: list[SourceFile] = field(default_factory=list)
    ignored: int = 0
    strays: list[Path] = field(default_factory=list)


def discover(paths: Sequence[Path], *, skip: Path | None = None, ignore: Sequence[str] = ()) -> Discovered:
    """The files at and below `paths`: in the order given, folders sorted by name, each file once.

    Hidden files and folders, what an `ignore` glob matches (against the name, or with a / against the path below the
    folder given), access and settings files and what lies inside `skip` (the index) or in a state folder of the service
    are left out. A path given may be a symbolic link; links inside a folder are reported, not followed, since they may
    point out of it. Devices, pipes and sockets are never opened.

    Raises:
        PathError: a given path does not exist, or is neither file nor folder.
        PermissionRefused: a given path may not be read.
        SettingsError: an ignore glob is wrong.
    """
    walk = _Walk(Path(os.path.realpath(skip)) if skip is not None else None, Ignored.by(ignore))
    found: dict[Path, SourceFile] = {}
    for path in paths:
        for file in walk.named(path):
            found.setdefault(file.path, file)
    strays = [side for side in walk.sides if not side.with_name(side.name.removesuffix(SIDE_ENDING)).exists()]
    return Discovered(list(found.values()), walk.ignored, strays)


def nothing_to_index(paths: Sequence[Path]) -> PathError:
    return PathError(
        f"There is nothing to index in {', '.join(map(str, paths)) or 'no paths'}.",
        remedy="Name a file, or a folder with files that are not hidden.",
    )


def is_ours(name: str) -> bool:
    """Whether files of this name say something about others, and are no documents."""
    return name in (ACCESS_FILE, SETTINGS_FILE) or name.endswith(SIDE_ENDING)


def in_state_folder(path: Path, root: Path) -> bool:
    """Whether a path below `root` is, or lies in, a folder where the service keeps its state: uploads, which it indexes
    itself, and what it logs."""
    folders = [path, *path.parents]
    below = folders[: len(folders) - len(root.parents)]
    return any(map(_is_state_folder, below))


def _is_state_folder(folder: Path) -> bool:
    try:
        return (folder / STATE_FILE).exists()
    except OSError:  # a folder that may not be looked into is told as such
        return False


@dataclass(frozen=True, slots=True)
class Ignored:
    """What is passed over below a folder: hidden files and folders, and those of `loading.ignore`."""

    _globs: tuple[tuple[bool, Pattern[str]], ...]
    """Expressions, each with whether it is for whole paths."""

    @classmethod
    def by(cls, globs: Sequence[str]) -> Ignored:
        """Raises SettingsError: a glob is wrong."""
        return cls(tuple(map(_compiled, globs)))

    def covers(self, path: Path, root: Path) -> bool:
        """Whether the file or folder at `path` is passed over by itself, not for a folder between it and `root`."""
        name, whole = one_spelling(path.name), one_spelling(path.relative_to(root).as_posix())
        return name.startswith(".") or any(
            pattern.fullmatch(whole if for_paths else name) for for_paths, pattern in self._globs
        )


def _compiled(glob: str) -> tuple[bool, Pattern[str]]:
    try:
        return "/" in glob.rstrip("/"), compile_glob(glob.rstrip("/"))
    except ValueError as error:
        raise SettingsError(f"loading.ignore: {glob!r}: {error}.", remedy="Correct the glob.") from None


@dataclass(slots=True)
class _Walk:
    """A walk through folders, all but `avoided`."""

    avoided: Path | None
    ignore: Ignored
    ignored: int = 0
    sides: list[Path] = field(default_factory=list)

    def named(self, path: Path) -> Iterator[SourceFile]:
        """What a path that the caller named stands for."""
        try:
            resolved = path.resolve(strict=True)
            mode = resolved.stat().st_mode
            if stat.S_ISDIR(mode):
                if not _is_state_folder(resolved):
                    yield from self._below(resolved)
            elif not stat.S_ISREG(mode):
                raise PathError(f"{path} is {_special(mode)}, not a file.", remedy="Name files or folders.")
            elif not self._is_ours(resolved):
                resolved.open("rb").close()
                yield _source_file(resolved)
        except PermissionError:
            raise PermissionRefused(
                f"{path} may not be read.", remedy="Give this user read permission on it, or leave it out."
            ) from None
        except (FileNotFoundError, NotADirectoryError):
            raise PathError(f"There is no file or folder {path}.", remedy="Check the path.") from None
        except (OSError, RuntimeError) as error:  # A loop of symbolic links is a RuntimeError in Python 3.11.
            raise PathError(f"{path} cannot be read: {error}.", remedy="Check the path.") from None

    def _below(self, root: Path) -> Iterator[SourceFile]:
        # A stack and not recursion: folders may lie a thousand deep.
        waiting = [iter(_entries(root))]
        while waiting:
            entry = next(waiting[-1], None)
            if entry is None:
                waiting.pop()
                continue
            path = Path(entry.path)
            if self._is_ours(path):
                if entry.name.endswith(SIDE_ENDING):
                    self.sides.append(path)
                continue
            if self.ignore.covers(path, root):
                self.ignored += 1
                continue
            try:
                mode = entry.stat(follow_symlinks=False).st_mode
            except FileNotFoundError:
                continue  # it has gone since the folder was listed
            except OSError as error:
                yield _source_file(path, LoadError(f"It cannot be seen: {error.strerror}.", remedy=_PERMIT))
                continue
            if not stat.S_ISDIR(mode):
                yield _found(path, mode)
                continue
            if _is_state_folder(path):
                self.ignored += 1
                continue
            try:
                waiting.append(iter(_entries(path)))
            except OSError as error:
                yield _source_file(path, LoadError(f"The folder cannot be read: {error.strerror}.", remedy=_PERMIT))

    def _is_ours(self, path: Path) -> bool:
        return is_ours(path.name) or (self.avoided is not None and path.is_relative_to(self.avoided))


def _found(path: Path, mode: int) -> SourceFile:
    if stat.S_ISREG(mode):
        return _source_file(path)
    if stat.S_ISLNK(mode):
        return _source_file(
            path, NotAFile("It is a symbolic link inside a folder.", remedy="Name its target, if it is to be indexed.")
        )
    return _source_file(path, NotAFile(f"It is {_special(mode)}, not a file.", remedy="Move it out of the folder."))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _source_file(path: Path, problem: LoadError | None = None) -> SourceFile:
    # A name need not be UTF-8, a title must be.
    name = os.fsencode(path.name).decode("utf-8", errors="replace")
    return SourceFile(path, path.as_uri(), name, problem)


def _special(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"
