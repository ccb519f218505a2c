"""Names of files inside files: shown to readers, never used as paths."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

# Control signs, and the marks that turn the direction of what follows: "exe.fdp" could read "pdf.exe".
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_LONGEST_SHOWN = 200


def shown(name: str) -> str:
    """The name with what cannot be seen spelt out: a NUL becomes `\\x00`."""
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], name)


def shortened(name: str) -> str:
    """The name for a line of text: the middle of a very long one is left out, its ending stays."""
    half = _LONGEST_SHOWN // 2
    return name if len(name) <= _LONGEST_SHOWN else f"{name[:half]}…{name[-half:]}"


def distinct(names: Iterable[str]) -> Iterator[str]:
    """Each name, with a number before its ending where it looks like one before it: `a.txt`, `a (2).txt`."""
    taken: set[str] = set()
    counts: dict[str, int] = {}
    for name in names:
        path, other = PurePosixPath(name), name
        while _look(other) in taken:
            counts[_look(name)] = counts.get(_look(name), 1) + 1
            other = f"{name.removesuffix(path.suffix)} ({counts[_look(name)]}){path.suffix}"
        taken.add(_look(other))
        yield other


def _look(name: str) -> str:
    return unicodedata.normalize("NFC", name)
