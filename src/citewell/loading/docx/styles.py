"""What Word's styles make of a paragraph: a heading and its level, a list item and its label."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml.etree import _Element

from citewell.loading.docx.numbering import DEEPEST, Labels, is_on, value, w, whole_number

# Word stores the names of its own styles in English, whatever language it shows.
_HEADING_NAME = re.compile(r"heading ([1-9])")
_BODY_TEXT = 9
_LONGEST_CHAIN = 20
"""Of styles based on each other; Word has 10 at most."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a paragraph stands: its style's name, its heading level (0 for none), its label, its depth in a list."""

    style: str
    level: int
    label: str
    depth: int


@dataclass(frozen=True, slots=True)
class _Style:
    """What a style and those it is based on say together."""

    name: str
    level: int
    number_id: str
    depth: int


@dataclass(slots=True)
class Styles:
    """The styles of one document, and its numberings as they are counted.

    `hidden` are the ids of those that hide their text, `shaded` of those that put a ground under it, `headed` of the
    table styles that set the first row off.
    """

    _labels: Labels
    hidden: set[str] = field(default_factory=set)
    shaded: set[str] = field(default_factory=set)
    headed: set[str] = field(default_factory=set)
    _looks: dict[str, _Style] = field(default_factory=dict)
    _by_id: dict[str, _Element] = field(default_factory=dict)
    _default: str = ""

    @classmethod
    def read(cls, styles: _Element, numbering: _Element | None) -> Styles:
        """From the roots of styles.xml and numbering.xml."""
        result = cls(Labels.read(numbering))
        for style in styles.iterfind(w("style")):
            style_id = style.get(w("styleId"), "")
            result._by_id[style_id] = style
            if style.get(w("type")) == "paragraph" and style.get(w("default")) in {"1", "true", "on"}:
                result._default = style_id
        for style_id in result._by_id:
            chain = list(result._chain(style_id))
            vanish = next((one for style in chain for one in style.iterfind(f"{w('rPr')}/{w('vanish')}")), None)
            if is_on(vanish):
                result.hidden.add(style_id)
            if any(style.find(f"{w('pPr')}/{w('shd')}") is not None for style in chain):
                result.shaded.add(style_id)
            if any(one.get(w("type")) == "firstRow" for style in chain for one in style.iterfind(w("tblStylePr"))):
                result.headed.add(style_id)
        return result

    def look(self, paragraph: _Element) -> Look:
        """Ask once for each paragraph, in order, since this counts its numbering on."""
        properties = paragraph.find(w("pPr"))
        style = self._known(value(properties, "pStyle") or self._default)
        outline = value(properties, "outlineLvl")
        level = style.level if outline is None else _level_of(outline)
        number_id, depth = style.number_id, style.depth
        own = value(properties, "numPr/numId")
        if own is not None:
            number_id, depth = own, min(whole_number(value(properties, "numPr/ilvl")), DEEPEST)
        label = self._labels.next(number_id, depth)
        if not label and not level and style.name.startswith("list "):
            label = "-" if "bullet" in style.name or "number" in style.name else ""
        return Look(style.name, level, label, depth)

    def _known(self, style_id: str) -> _Style:
        if style_id not in self._looks:
            chain = list(self._chain(style_id))
            name = _name(chain[0]) if chain else ""
            self._looks[style_id] = _Style(name, _heading_level(chain), *self._numbering(chain))
        return self._looks[style_id]

    def _chain(self, style_id: str) -> Iterator[_Element]:
        """The style and those that it is based on; a file may tie them into a loop."""
        seen: set[str] = set()
        while style_id in self._by_id and style_id not in seen and len(seen) < _LONGEST_CHAIN:
            seen.add(style_id)
            yield self._by_id[style_id]
            style_id = value(self._by_id[style_id], "basedOn") or ""

    def _numbering(self, chain: list[_Element]) -> tuple[str, int]:
        """The nearest style's numbering: its id and the level in it. Id 0 is for none."""
        for style in chain:
            number_id = value(style, "pPr/numPr/numId")
            if number_id is not None:
                tied = self._labels.depth_of_style(number_id, chain[0].get(w("styleId"), ""))
                depth = whole_number(value(style, "pPr/numPr/ilvl")) if tied is None else tied
                return number_id, min(depth, DEEPEST)
        return "0", 0


def _heading_level(chain: list[_Element]) -> int:
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
