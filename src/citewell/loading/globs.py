"""Globs over paths: `*` and `?` within a name, `**` for any folders, `[a-z]` and `[!a-z]` for one sign.

A pattern that ends in a plain name or in / covers all below a folder of that name. Without that, `match = "secret"`
would protect nothing in the folder, in silence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import groupby


def one_spelling(path: str) -> str:
    """The path in the form that patterns are compiled for: two spellings of one accented letter are the same."""
    return unicodedata.normalize("NFC", path)


def compile_glob(pattern: str) -> re.Pattern[str]:
    """An expression to `fullmatch` paths with, in `one_spelling`; its time grows with the path and not beyond.

    Raises:
        ValueError: what is wrong with the pattern.
    """
    *folders, last = one_spelling(pattern).removesuffix("/").split("/")
    if "\\" in pattern or {"", ".", ".."} & {*folders, last}:
        raise ValueError("must be relative to the file's folder, with one / between names, and without . and ..")
    if last == "**":
        end = ".+"
    elif pattern.endswith("/"):
        end = _segment(last) + "/.+"
    else:
        end = _segment(last) + ("" if re.search(r"[*?\[]", last) else "(?:/.+)?")
    return re.compile(_folders(folders, end), re.DOTALL)


def _folders(folders: Sequence[str], end: str) -> str:
    """Names between two `**` are taken at the first place where they fit, for good (an atomic group).

    That loses nothing, as the next `**` reaches every later place too, and it never tries all ways to divide a path.
    """
    runs = [(deep, [_segment(name) + "/" for name in names if not deep]) for deep, names in _runs(folders)]
    if not runs:
        return end
    parts: list[str] = []
    for place, (deep, names) in enumerate(runs):
        if deep:
            continue
        after_deep = place > 0
        is_last = place == len(runs) - 1
        text = "".join(names)
        if not after_deep:
            parts.append(text)
        elif is_last:
            parts.append(_ANY_FOLDERS + text)
        else:
            parts.append(f"(?>{_ANY_FOLDERS}?{text})")
    return "".join(parts) + (_ANY_FOLDERS if runs[-1][0] else "") + end


_ANY_FOLDERS = "(?:[^/]+/)*"


def _runs(folders: Sequence[str]) -> list[tuple[bool, list[str]]]:
    return [(deep, list(names)) for deep, names in groupby(folders, key=lambda name: name == "**")]


def _segment(glob: str) -> str:
    if "**" in glob:
        raise ValueError("** stands for whole folders, alone between two /")
    if re.search(r"\[(?!!?[^\]!]+\])", glob):
        raise ValueError("a [ that opens no set of signs")
    parts = [""]
    for sign in re.findall(r"\[[^\]]+\]|.", glob, re.DOTALL):
        if sign == "*":
            parts.append("")
        else:
            parts[-1] += _sign(sign)
    first, *middle = parts
    if not middle:
        return first
    last = middle.pop()
    return first + "".join(f"(?>[^/]*?{part})" for part in middle if part) + "[^/]*" + last


def _sign(sign: str) -> str:
    if sign == "?":
        return "[^/]"
    if len(sign) > 1:
        negation, members = ("^", sign[2:-1]) if sign[1] == "!" else ("", sign[1:-1])
        escaped = re.sub(r"([^a-zA-Z0-9-])", r"\\\1", members)
        # A range such as +-9 holds the / too.
        return f"(?!/)[{negation}{escaped}]"
    return re.escape(sign)
