"""Headings of plain text, where they are beyond doubt: underlined lines, and numbered titles above what they head."""

from __future__ import annotations

import re

_UNDERLINES = {"=": 1, "#": 1, "*": 1, "-": 2, "~": 2, "^": 3}
_UNDERLINED = re.compile(
    r"[ \t]*(?P<title>[^\n]{0,119}\w[^\n]{0,119})\n[ \t]*(?P<line>(?P<sign>[=#*~^-])(?P=sign){2,})[ \t]*(?:\n|\Z)"
)
_NUMBER = re.compile(r"\s*(\d{1,3}(?:\.\d{1,3}){0,5})\.?[ \t]")
_NUMBERED = re.compile(r"[ \t]*\d{1,3}(?:\.\d{1,3}){0,5}\.?[ \t]+[^\W\d_][^\n]{0,98}")
_LEADER = re.compile(r"\.{4}|(?:\. ){3}")
_UNLIKE_LENGTH = 3
_SENTENCE_ENDS = (".", ",", ";", ":", "!", "?", "。", "，", "、", "：")


def underlined(paragraph: str) -> tuple[str, int, str]:
    """Its title, level and the text below, where its second line underlines its first; else ("", 0, paragraph)."""
    found = _UNDERLINED.match(paragraph)
    if not found or abs(len(found["title"].rstrip()) - len(found["line"])) > _UNLIKE_LENGTH:
        return "", 0, paragraph
    return found["title"], _UNDERLINES[found["sign"]], paragraph[found.end() :]


def numbered_level(paragraph: str, before: str, after: str) -> int:
    """The level of a line alone such as "1.2 Fees", by its number; 0 for anything else.

    Neither neighbour may have a number of the same level: "1. Bread", "2. Milk" is a list.
    """
    line = paragraph.strip("\n").rstrip()
    if not _NUMBERED.fullmatch(line) or line.endswith(_SENTENCE_ENDS) or _LEADER.search(line) or not after.strip():
        return 0
    level = _level(paragraph)
    return level if level not in {_level(before), _level(after)} else 0


def _level(paragraph: str) -> int:
    found = _NUMBER.match(paragraph)
    return found[1].count(".") + 1 if found else 0
