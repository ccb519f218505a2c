"""Files that hold texts of documents: reports and test sets."""

from __future__ import annotations

import os
from pathlib import Path

from citewell.errors import PathError


def check_place(path: Path) -> None:
    """Refuse, before a long run, where nothing could be written at its end.

    Raises:
        PathError: there is no such folder, or it is a folder itself.
    """
    folder = path.absolute().parent
    if not folder.is_dir():
        raise PathError(f"There is no folder {folder}.", remedy="Make it, or give another path.")
    if path.is_dir():
        raise PathError(f"{path} is a folder.", remedy="Name a file in it.")


def save(text: str, path: Path) -> None:
    """Write a file for its owner's eyes only, since not everyone may read every document.

    One that was there loses its text and the permission of others to read it: whoever shares it does so afterwards.

    Raises:
        PathError: it cannot be written there.
    """
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o600)  # before the first word of the text
            file.truncate()
            file.write(text)
    except OSError as error:
        raise PathError(f"{path} cannot be written: {error.strerror}.", remedy="Give another path.") from None
