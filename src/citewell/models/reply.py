"""What a language model wrote where it was asked for a list, a passage or a question: read as far as it can be.

Small models forget the form: words around the JSON, a fence, a list with numbers or dashes, an array that is cut off.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

MAX_REPLY_CHARS = 8_000
"""What is looked at of a reply."""
MAX_TEXT_CHARS = 2_000
"""Of one text in it; a longer one is no query."""

_MARKED = re.compile(r"\s*(?:[-*\u2022\u2013]|\(?\d{1,2}[.):]|q\d{1,2}[.:])\s+(?P<text>\S.*)", re.IGNORECASE)
_FENCE = re.compile(r"^\s*```\w*\s*$", re.MULTILINE)
_DECODER = json.JSONDecoder()
_LABEL = re.compile(
    r"""(?:\s*(?:[-*>\#]+\s
    |\**(?:(?:sure|here\s+is)\b[^:\n]*
        |(?:the\s+)?(?:(?:re-?written|stand-?alone|last|new|final|revised|broader|more\s+general|step-back)\s+)*
         (?:question|query|rewrite|passage|answer|broader))\**\s*:\**))+""",
    re.IGNORECASE | re.VERBOSE,
)
_DECLINES = re.compile(
    r"(?:I(?:['\u2019]?m|\s+am)\s+(?:sorry|unable|not\s+able)|I\s+(?:can(?:\s?not|['\u2019]t)|won['\u2019]t|do(?:\s+not|n['\u2019]t))\b"
    r"|sorry\b|unfortunately\b|as\s+an\s+AI\b)",
    re.IGNORECASE,
)
_QUOTES = "\"'\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb`* \t"


@dataclass(frozen=True, slots=True)
class Listed:
    """One text of a list, and what else its entry says."""

    text: str
    fields: Mapping[str, str] = field(default_factory=dict)


def listed(reply: str, key: str = "question") -> tuple[Listed, ...] | None:
    """The texts of a list, each on one line; None where the reply is no list.

    The list is a JSON array of strings or of objects with the text under `key`, whole or cut off, with or without words
    around it; or lines that begin with a number or a dash.
    """
    shown = reply[:MAX_REPLY_CHARS]
    begin = shown.find("[")
    values = list(_values(shown, begin + 1)) if begin >= 0 else []
    if values or (begin >= 0 and re.match(r"\[\s*\]", shown[begin:])):
        entries = [_entry(value, key) for value in values]
    else:
        lines = (_MARKED.fullmatch(line) for line in shown.splitlines())
        entries = [Listed(_bare(line["text"])) for line in lines if line]
        if not entries:
            return None
    return tuple(entry for entry in entries if entry and 0 < len(entry.text) <= MAX_TEXT_CHARS)


def prose(reply: str) -> str:
    """The running text of a reply on one line, without fence, label and quotes; "" where it declines."""
    text = unlabelled(_FENCE.sub("", reply[:MAX_REPLY_CHARS]))
    return "" if declines(text) else text[:MAX_TEXT_CHARS]


def unlabelled(text: str) -> str:
    """A text on one line, without the label or the dash before it and the quotes around it."""
    label = _LABEL.match(text)
    return _bare(text[label.end() :] if label else text)


def declines(text: str) -> bool:
    """Whether an unlabelled text says that there is nothing to say (English)."""
    return _DECLINES.match(text) is not None


def _values(shown: str, at: int) -> Iterator[object]:
    """The values of an array from `at` on, up to its end or to what is no JSON."""
    while True:
        at += len(shown[at:]) - len(shown[at:].lstrip(", \t\r\n"))
        try:
            value, at = _DECODER.raw_decode(shown, at)
        except (ValueError, RecursionError):
            return
        yield value


def _entry(value: object, key: str) -> Listed | None:
    if isinstance(value, str):
        return Listed(_bare(value))
    if not isinstance(value, dict):
        return None
    texts = {str(name): " ".join(text.split()) for name, text in value.items() if isinstance(text, str)}
    return Listed(_bare(texts.pop(key, "")), texts)


def _bare(text: str) -> str:
    """On one line, without the quotes and stars around it."""
    return " ".join(text.split()).strip(_QUOTES)
