"""The value of a setting as a report shows it, which goes from hand to hand."""

from __future__ import annotations

from pathlib import PurePath
from urllib.parse import urlsplit

from citewell.models.onnx_folder import PREFIX as FOLDER


def shown(value: str) -> str:
    """Without what may be secret: a URL without user, password and query, a model's folder by its name alone."""
    if value.startswith(FOLDER):
        return f"{FOLDER}{PurePath(value.removeprefix(FOLDER)).name}"
    if not value.startswith(("http://", "https://")):
        return value
    parts = urlsplit(value)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
