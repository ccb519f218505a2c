"""Files that hold texts of documents: reports and test sets."""

from __future__ import annotations

import os
from pathlib import Path

from citewell.errors import PathError


def save(text: str, path: Path) -> None:
    """Write a file; a new one is for its owner's eyes only, since not everyone may read every document.

    Raises:
        PathError: it cannot be written there.
    """
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise PathError(f"{path} cannot be written: {error.strerror}.", remedy="Give another path.") from None
