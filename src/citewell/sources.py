"""What the source of a document names."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit


def path_of(source: str) -> Path | None:
    """The path that a file's source names, `a.zip!/folder/b.pdf` for one inside another; None where it is no file's."""
    parts = urlsplit(source)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None
