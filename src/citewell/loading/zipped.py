"""ZIP archives: a list of the files inside, and the files. Their names are shown and never used as paths."""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePath
from re import Pattern

from citewell.loading.archive import UNREADABLE, Unpacking, check_directory
from citewell.loading.bounds import check_inside
from citewell.loading.globs import compile_glob, one_spelling
from citewell.loading.names import distinct, shortened, shown
from citewell.loading.parsed import Inside, Parsed, TextBuilder
from citewell.settings import Loading
from citewell.types import ElementKind

_MAC_FOLDER = "__MACOSX"  # resource forks, one for each real file
_UTF8_NAME = 0x800


def load_zip(data: bytes, name: str, limits: Loading) -> Parsed:
    """Read an archive: its text is the list of its files, which are in `inside`. Hidden files and those that
    `limits.ignore` names are left out, as they are in a folder; links and damaged files are left out and named.

    Raises:
        LimitExceeded: too much for `max_inflation` or, in all, `max_file_mb`; or more files than `max_inside`.
        PasswordNeeded: a file is encrypted.
        DamagedFile: files share their bytes.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = archive.infolist()
        check_directory(parts, len(data), limits)
        ignored = [compile_glob(glob.rstrip("/")) for glob in limits.ignore]
        kept = [(part, path) for part in parts if not _is_passed_over(part, path := _name(part), ignored)]
        check_inside(len(kept), limits)
        unpacking = Unpacking(archive, len(data), limits)
        inside, lost = [], []
        for (part, _), path in zip(kept, distinct(path for _, path in kept), strict=True):
            if stat.S_ISLNK(part.external_attr >> 16):
                lost.append(f"{shortened(path)} is a symbolic link and was not followed")
                continue
            try:
                inside.append(Inside(path, b"".join(unpacking.steps(part))))
            except UNREADABLE as error:
                lost.append(f"{shortened(path)} cannot be unpacked ({shortened(str(error))})")
    builder = TextBuilder(limits)
    builder.add(ElementKind.LIST, "\n".join(f"- {shortened(member.name)}" for member in inside))
    return replace(builder.build(PurePath(name).stem), inside=tuple(inside), lost=tuple(lost))


def _name(part: zipfile.ZipInfo) -> str:
    """The name as it was written: zipfile cuts it at a NUL, and takes what does not say UTF-8 for an old code page."""
    name = part.orig_filename
    if not part.flag_bits & _UTF8_NAME:
        with suppress(UnicodeError):  # then the old code page it is
            name = name.encode("cp437").decode("utf-8")
    return shown(name)


def _is_passed_over(part: zipfile.ZipInfo, path: str, ignored: Sequence[Pattern[str]]) -> bool:
    folders = [folder for folder in one_spelling(path).replace("\\", "/").split("/") if folder not in ("", ".", "..")]
    return (
        part.is_dir()
        or _MAC_FOLDER in folders
        or any(folder.startswith(".") for folder in folders)
        or any(glob.fullmatch(text) for text in (*folders, "/".join(folders)) for glob in ignored)
    )
