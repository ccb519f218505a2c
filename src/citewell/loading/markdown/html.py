"""HTML within Markdown: what it hides stays out of the text, also where whole paragraphs stand between its tags."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lxml.etree import ParserError
from lxml.html import document_fromstring

from citewell.loading.html.hidden import hidden_words, hides

_TAG = re.compile(
    r"<!--(?P<comment>.*?)(?:-->|\Z)|<(?P<end>/?)(?P<name>[a-z][\w:-]*)(?P<rest>(?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>",
    re.DOTALL | re.IGNORECASE,
)
_MAY_HIDE = re.compile(r"\b(?:style|hidden|color)\b", re.IGNORECASE)
_NEVER_SHOWN = frozenset({"script", "style", "template"})
_VOID = frozenset(
    {"br", "hr", "img", "input", "meta", "link", "wbr", "source", "col", "area", "base", "embed", "track"}
)
_LICENCE = re.compile(r"copyright|licen[cs]e|spdx", re.IGNORECASE)


@dataclass(slots=True)
class Veil:
    """Follows tags through pieces of HTML and text, and tells what is shown of them. `words` counts what is not.

    Comments count as well, unless they hold a licence: a reader of the page does not see them, a model would.
    """

    words: int = 0
    _tag: str = ""
    _depth: int = 0
    _hidden: list[str] = field(default_factory=list)

    @property
    def is_drawn(self) -> bool:
        """Whether what follows is hidden."""
        return bool(self._tag)

    def text(self, text: str) -> str:
        """Text without tags: itself, or "" where it is hidden."""
        if not self._tag:
            return text
        self._hidden.append(text)
        return ""

    def markup(self, markup: str) -> str:
        """What is shown of a piece of HTML, tags included and comments not."""
        shown = []
        start = 0
        for found in _TAG.finditer(markup):
            before = self.text(markup[start : found.start()])
            was_drawn = self.is_drawn
            self._pass(found)
            shown += [before, "" if was_drawn or self.is_drawn or found["name"] is None else found[0]]
            start = found.end()
        shown.append(self.text(markup[start:]))
        return "".join(shown)

    def lift(self) -> None:
        """Hide nothing from now on."""
        if self._tag not in _NEVER_SHOWN:
            self.words += hidden_words(" ".join(self._hidden))
        self._tag, self._depth = "", 0
        self._hidden.clear()

    def _pass(self, found: re.Match[str]) -> None:
        name = (found["name"] or "").lower()
        if not name:
            comment = found["comment"]
            self.words += 0 if _LICENCE.search(comment) else hidden_words(comment)
        elif self._tag:
            self._depth += 0 if name != self._tag else -1 if found["end"] else 1
            if not self._depth:
                self.lift()
        elif not found["end"] and name not in _VOID and _is_hiding(name, found):
            self._tag, self._depth = name, 1


def _is_hiding(name: str, tag: re.Match[str]) -> bool:
    if name in _NEVER_SHOWN:
        return True
    if not _MAY_HIDE.search(tag["rest"]):
        return False
    try:
        # A name of no meaning: alone, a <td> or <tr> would not be kept.
        page = document_fromstring(f"<html><body><span{tag['rest']}></span></body></html>")
    except (ParserError, ValueError):  # ValueError: signs that XML forbids.
        return False
    return any(map(hides, page.iter("span")))
