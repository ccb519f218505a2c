"""The mark before a paragraph on a slide: its own, or what its layout and master say about its level."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lxml.etree import _Element

from citewell.loading.office.numerals import numeral
from citewell.loading.pptx.shapes import DRAWING, PRESENTATION, Shape

if TYPE_CHECKING:
    from pptx.slide import Slide

_MARKS = frozenset(f"{DRAWING}{name}" for name in ("buNone", "buChar", "buAutoNum", "buBlip"))
_NONE, _NUMBERED = f"{DRAWING}buNone", f"{DRAWING}buAutoNum"
_SCHEME = re.compile(r"(arabic|alphaLc|alphaUc|romanLc|romanUc)(Period|ParenR|ParenBoth|Plain)")
_FORMS = {"alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman", "romanUc": "upperRoman"}
_AROUND = {"Period": "{}.", "ParenR": "{})", "ParenBoth": "({})", "Plain": "{}"}
_DEEPEST = 8


@dataclass(slots=True)
class Bullets:
    """Asked for each paragraph of one shape, in order, since it counts. `styles` are asked in turn, nearest first."""

    styles: list[_Element]
    counts: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, shape: Shape, slide: Slide) -> Bullets:
        """From the list styles of the shape, of its place holders in layout and master, and of the master's body."""
        return cls([style for style in _styles(shape, slide) if style is not None])

    def mark(self, paragraph: _Element) -> str:
        """With its indentation and a space behind it: "- ", "  b) "; "" for a paragraph that is no list item."""
        properties = paragraph.find(f"{DRAWING}pPr")
        level = min(_number(None if properties is None else properties.get("lvl"), 0), _DEEPEST)
        found = self._find(properties, level)
        self.counts = {depth: count for depth, count in self.counts.items() if depth <= level}
        if found is None or found.tag == _NONE:
            self.counts.pop(level, None)
            return ""
        if found.tag != _NUMBERED:
            self.counts.pop(level, None)
            return f"{'  ' * level}- "
        self.counts[level] = self.counts.get(level, _number(found.get("startAt"), 1) - 1) + 1
        scheme = _SCHEME.fullmatch(found.get("type", ""))
        form, around = (_FORMS.get(scheme[1], "decimal"), _AROUND[scheme[2]]) if scheme else ("decimal", "{}.")
        return f"{'  ' * level}{around.format(numeral(self.counts[level], form))} "

    def _find(self, properties: _Element | None, level: int) -> _Element | None:
        named = [style.find(f"{DRAWING}lvl{level + 1}pPr") for style in self.styles]
        for place in (properties, *named):
            found = None if place is None else next((child for child in place if child.tag in _MARKS), None)
            if found is not None:
                return found
        return None


def _styles(shape: Shape, slide: Slide) -> list[_Element | None]:
    own = shape.element.find(f"{PRESENTATION}txBody/{DRAWING}lstStyle")
    place = next(shape.element.iter(f"{PRESENTATION}ph"), None)
    if place is None:
        return [own]
    layout, master = slide.slide_layout, slide.slide_layout.slide_master
    index = place.get("idx", "0")
    above = [one for one in layout.element.iter(f"{PRESENTATION}sp") if _place(one).get("idx") == index]
    kind = _place(above[0]).get("type", "obj") if above else place.get("type", "obj")
    above += [one for one in master.element.iter(f"{PRESENTATION}sp") if _place(one).get("type") in {kind, "body"}][:1]
    body = master.element.find(f"{PRESENTATION}txStyles/{PRESENTATION}bodyStyle")
    return [own, *(one.find(f"{PRESENTATION}txBody/{DRAWING}lstStyle") for one in above), body]


def _place(shape: _Element) -> dict[str, str]:
    """The attributes of a place holder, with their defaults; {} for another shape."""
    mark = next(shape.iter(f"{PRESENTATION}ph"), None)
    return {} if mark is None else {"idx": "0", "type": "obj", **{str(key): str(one) for key, one in mark.items()}}


def _number(text: str | None, default: int) -> int:
    return int(text) if text and re.fullmatch(r"\d{1,5}", text) else default
