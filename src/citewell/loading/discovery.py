"""Which files a call to index is about, and how each is named for good."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from citewell.errors import LoadError, PathError, PermissionRefused
from citewell.loading.access import ACCESS_FILE
from citewell.settings import SETTINGS_FILE


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file, or a place in a folder that could not be taken and the `problem` why.

    `path` is absolute and resolved, `source` its `file://` URI: the same however the caller spelt the path.
    """

    path: Path
    source: str
    problem: LoadError | None = None


def discover(paths: Sequence[Path], skip: Path | None = None) -> list[SourceFile]:
    """The files at and below `paths`: in the order given, folders sorted by name, each file once.

    Hidden files and folders, access and settings files and what lies inside `skip` (the index) are left out. A path
    given may be a symbolic link; links inside a folder are reported, not followed, since they may point out of it.
    Devices, pipes and sockets are never opened.

    Raises:
        PathError: a given path does not exist, or is neither file nor folder, or there is no file at any of them.
        PermissionRefused: a given path may not be read.
    """
    avoided = skip.resolve() if skip is not None else None
    found: dict[Path, SourceFile] = {}
    for path in paths:
        for file in _named(path, avoided):
            found.setdefault(file.path, file)
    if not found:
        raise PathError(
            f"There is nothing to index in {', '.join(map(str, paths)) or 'no paths'}.",
            remedy="Name a file, or a folder with files that are not hidden.",
        )
    return list(found.values())


def _named(path: Path, avoided: Path | None) -> Iterator[SourceFile]:
    try:
        resolved = path.resolve(strict=True)
        mode = resolved.stat().st_mode
        if stat.S_ISDIR(mode):
            yield from _folder(_entries(resolved), avoided)
        elif not stat.S_ISREG(mode):
            raise PathError(f"{path} is {_special(mode)}, not a file.", remedy="Name files or folders.")
        elif not _left_out(resolved, avoided):
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


def _folder(entries: list[os.DirEntry[str]], avoided: Path | None) -> Iterator[SourceFile]:
    for entry in entries:
        path = Path(entry.path)
        if entry.name.startswith(".") or _left_out(path, avoided):
            continue
        try:
            mode = entry.stat(follow_symlinks=False).st_mode
        except FileNotFoundError:
            continue  # it has gone since the folder was listed
        if stat.S_ISDIR(mode):
            try:
                inside = _entries(path)
            except OSError as error:
                yield _source_file(path, f"The folder cannot be read: {error.strerror}.", "Give this user permission.")
                continue
            yield from _folder(inside, avoided)
        elif stat.S_ISREG(mode):
            yield _source_file(path)
        elif stat.S_ISLNK(mode):
            yield _source_file(
                path, "It is a symbolic link inside a folder.", "Name its target, if it is to be indexed."
            )
        else:
            yield _source_file(path, f"It is {_special(mode)}, not a file.", "Move it out of the folder.")


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _left_out(path: Path, avoided: Path | None) -> bool:
    return path.name in (ACCESS_FILE, SETTINGS_FILE) or (avoided is not None and path.is_relative_to(avoided))


def _source_file(path: Path, problem: str = "", remedy: str = "") -> SourceFile:
    return SourceFile(path, path.as_uri(), LoadError(problem, remedy=remedy) if problem else None)


def _special(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"
