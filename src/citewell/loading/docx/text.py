"""The text of a paragraph in Word as its reader sees it, and what is in it that no reader sees."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from lxml.etree import _Element

from citewell.loading.docx.numbering import is_on, value, w, whole_number
from citewell.loading.docx.styles import Styles

NOTES = {w("footnoteReference"): "footnotes", w("endnoteReference"): "endnotes"}

_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_RELATED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
# Deleted or moved away in tracked changes; or a second copy of a drawing for old programs.
_LEFT_OUT = frozenset({w("del"), w("moveFrom"), w("pPr"), w("rPr"), f"{_COMPATIBILITY}Fallback"})
_TEXT = frozenset({w("t"), f"{_MATH}t"})
_SIGNS = {w("tab"): "\t", w("br"): "\n", w("cr"): "\n", w("noBreakHyphen"): "-"}
_FIELD_LINK = re.compile(r'\bHYPERLINK\s+"([^"]+)"')
_HOLDERS = frozenset({w("tc"), w("txbxContent")})
"""What may have a ground of its own."""
_WHITE = "FFFFFF"
_NO_GROUND = frozenset({None, "auto", _WHITE})
_SMALLEST = 2
"""Half points; Word's own smallest size."""


@dataclass(slots=True)
class Inline:
    """The text of a paragraph, the text boxes that hang on it, and the targets of its links."""

    parts: list[str] = field(default_factory=list)
    boxes: list[_Element] = field(default_factory=list)
    links: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.parts).strip()


@dataclass(slots=True)
class Reader:
    """Reads the paragraphs of one document. `unseen` collects what was left out because no reader sees it.

    `targets` are the addresses by relationship id; `mark_note` gives the mark of a note by its kind and id;
    `on_white` says that the page has no colour.
    """

    styles: Styles
    targets: Mapping[str, str]
    on_white: bool
    mark_note: Callable[[str, str], str]
    unseen: dict[str, None] = field(default_factory=dict)

    def read(self, paragraph: _Element) -> Inline:
        inline = Inline()
        self._read(paragraph, inline, value(paragraph, "pPr/pStyle") in self.styles.hidden)
        return inline

    def _read(self, element: _Element, into: Inline, in_hidden: bool) -> None:
        for child in element:
            if child.tag in _LEFT_OUT or (child.tag == w("r") and self._leaves_out(child, in_hidden)):
                continue
            if child.tag in _TEXT:
                into.parts.append(child.text or "")
            elif child.tag in _SIGNS:
                into.parts.append(_SIGNS[child.tag])
            elif child.tag in NOTES:
                into.parts.append(self.mark_note(NOTES[child.tag], child.get(w("id"), "")))
            elif child.tag == w("txbxContent"):
                into.boxes.append(child)
            elif child.tag == w("instrText"):
                into.links += _FIELD_LINK.findall(child.text or "")
            else:
                if child.tag == w("hyperlink"):
                    into.links.append(self.targets.get(child.get(f"{_RELATED}id", ""), ""))
                into.links += _FIELD_LINK.findall(child.get(w("instr"), ""))
                self._read(child, into, in_hidden)

    def _leaves_out(self, run: _Element, in_hidden: bool) -> bool:
        reason = self._why_unseen(run, in_hidden)
        if reason and any((text.text or "").strip() for text in run.iter(w("t"))):
            self.unseen[reason] = None
        return bool(reason)

    def _why_unseen(self, run: _Element, in_hidden: bool) -> str:
        properties = run.find(w("rPr"))
        vanish = None if properties is None else properties.find(w("vanish"))
        by_style = in_hidden or value(properties, "rStyle") in self.styles.hidden
        if is_on(vanish) or (vanish is None and by_style):
            return "hidden text"
        if properties is None:
            return ""
        if whole_number(value(properties, "sz"), _SMALLEST + 1) <= _SMALLEST:
            return "text of a point or less"
        if value(properties, "color") == _WHITE and self._stands_on_white(run, properties):
            return "white text"
        return ""

    def _stands_on_white(self, run: _Element, properties: _Element) -> bool:
        if not self.on_white or _has_ground(properties) or properties.find(w("highlight")) is not None:
            return False
        for holder in run.iterancestors():
            if holder.tag in _HOLDERS:
                return False
            if holder.tag == w("p"):
                look = holder.find(w("pPr"))
                if look is not None and (_has_ground(look) or value(look, "pStyle") in self.styles.shaded):
                    return False
        return True


def inside(container: _Element, wanted: frozenset[str]) -> Iterator[_Element]:
    """The wanted children, also inside content controls, tracked insertions and the like, but not in each other."""
    walks = [iter(container)]
    while walks:
        child = next(walks[-1], None)
        if child is None:
            walks.pop()
        elif child.tag in wanted:
            yield child
        elif child.tag not in _LEFT_OUT:
            walks.append(iter(child))


def _has_ground(properties: _Element) -> bool:
    shading = properties.find(w("shd"))
    return shading is not None and shading.get(w("fill")) not in _NO_GROUND
