"""What Word's styles make of a paragraph: a heading and its level, a list item and its label."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml.etree import _Element

from citewell.loading.docx_numbering import Labels, value, w, whole_number

# Word stores the names of its own styles in English, whatever language it shows.
_HEADING_NAME = re.compile(r"heading ([1-9])")
_BODY_TEXT = 9
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Look:
    """How a paragraph stands: its style's name, its heading level (0 for none), its label, its depth in a list."""

    style: str
    level: int
    label: str
    depth: int


@dataclass(slots=True)
class Styles:
    """The paragraph styles of one document, and its numberings as they are counted."""

    _labels: Labels
    _by_id: dict[str, _Element] = field(default_factory=dict)
    _default: str = ""

    @classmethod
    def read(cls, styles: _Element, numbering: _Element | None) -> Styles:
        """From the roots of styles.xml and numbering.xml."""
        result = cls(Labels.read(numbering))
        for style in styles.iterfind(w("style")):
            style_id = style.get(w("styleId"), "")
            if style.get(w("type")) == "paragraph":
                result._by_id[style_id] = style
                if style.get(w("default")) in {"1", "true", "on"}:
                    result._default = style_id
        return result

    def look(self, paragraph: _Element) -> Look:
        """Ask once for each paragraph, in order, since this counts its numbering on."""
        properties = paragraph.find(w("pPr"))
        chain = list(self._chain(value(properties, "pStyle") or self._default))
        style = _name(chain[0]) if chain else ""
        level = _heading_level(properties, chain)
        number_id, depth = self._numbering(properties, chain)
        label = self._labels.next(number_id, depth)
        if not label and not level and style.startswith("list "):
            label = "-" if "bullet" in style or "number" in style else ""
        return Look(style, level, label, depth)

    def _chain(self, style_id: str) -> Iterator[_Element]:
        """The style and those that it is based on; a file may tie them into a loop."""
        seen = set()
        while style_id in self._by_id and style_id not in seen:
            seen.add(style_id)
            yield self._by_id[style_id]
            style_id = value(self._by_id[style_id], "basedOn") or ""

    def _numbering(self, properties: _Element | None, chain: list[_Element]) -> tuple[str, int]:
        """The numbering's id and the level in it: the paragraph's own, else its nearest style's. Id 0 is for none."""
        own = value(properties, "numPr/numId")
        if own is not None:
            return own, min(whole_number(value(properties, "numPr/ilvl")), _DEEPEST)
        for style in chain:
            number_id = value(style, "pPr/numPr/numId")
            if number_id is not None:
                tied = self._labels.depth_of_style(number_id, chain[0].get(w("styleId"), ""))
                depth = whole_number(value(style, "pPr/numPr/ilvl")) if tied is None else tied
                return number_id, min(depth, _DEEPEST)
        return "0", 0


def _heading_level(properties: _Element | None, chain: list[_Element]) -> int:
    outline = value(properties, "outlineLvl")
    if outline is not None:
        return _level_of(outline)
    for style in chain:
        if _name(style) == "title":
            return 1
        outline = value(style, "pPr/outlineLvl")
        if outline is not None:
            return _level_of(outline)
        named = _HEADING_NAME.fullmatch(_name(style))
        if named:
            return int(named[1])
    return 0


def _level_of(outline: str) -> int:
    depth = whole_number(outline, _BODY_TEXT)
    return depth + 1 if depth < _BODY_TEXT else 0


def _name(style: _Element) -> str:
    return (value(style, "name") or "").lower()
