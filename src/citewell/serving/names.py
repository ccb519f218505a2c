"""The names of uploaded files, which are whatever a client says."""

from __future__ import annotations

import re
import unicodedata

from citewell.errors import UsageError
from citewell.loading.access import SIDE_ENDING
from citewell.loading.discovery import is_ours
from citewell.signs import UNSEEN

MAX_BYTES = 200
"""Of a name in UTF-8: a side file's ending must fit behind it."""

# Separators of any system, and what some system forbids.
_FORBIDDEN = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f]')
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def clean(name: str) -> str:
    """The name as a plain file's in one folder, nothing of a path left.

    Raises:
        UsageError: nothing is left of it, or it is a name of ours, by which it would say who may read others.
    """
    readable = name.encode("utf-8", "replace").decode()
    last = re.split(r"[/\\]", readable)[-1]
    plain = UNSEEN.sub("", _FORBIDDEN.sub("_", unicodedata.normalize("NFC", last)))
    cleaned = _shortened(" ".join(plain.split()).strip(". "))
    if not cleaned.strip("_.- "):
        raise UsageError("A file has no name.", remedy="Give it one, such as manual.pdf.")
    if is_ours(cleaned.lower()) or cleaned.lower().endswith(SIDE_ENDING):
        raise UsageError(
            "A file has the name of an access or settings file.", remedy="Say with the upload who may read it."
        )
    return f"_{cleaned}" if _DEVICES.fullmatch(cleaned) else cleaned


def _shortened(name: str) -> str:
    """At most `MAX_BYTES`; the ending, by which some formats are told, stays."""
    if len(name.encode()) <= MAX_BYTES:
        return name
    stem, dot, ending = name.rpartition(".")
    if not dot or len(ending.encode()) > 20:
        stem, ending = name, ""
    room = MAX_BYTES - len((dot + ending).encode()) if ending else MAX_BYTES
    return stem.encode()[:room].decode(errors="ignore").strip(". ") + (dot + ending if ending else "")
