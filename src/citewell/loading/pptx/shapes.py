"""The shapes of a slide: out of their groups, with the place they are seen at, in the order they are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from citewell.loading.office.regions import Box, regions

DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
PRESENTATION = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_EMU_PER_POINT = 12_700
_OVERLAP = 6
"""Points that two shapes may reach into each other and still stand below or beside each other."""
_REPEATED = frozenset({"dt", "ftr", "sldNum", "hdr"})
_TITLES = frozenset({"title", "ctrTitle"})

Shape = Any
"""One of python-pptx's, which has no types where it matters."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A shape that is no group. `box` is in points from the slide's corner; `unseen` is why it is not shown, or ""."""

    shape: Shape
    box: Box | None
    unseen: str

    @property
    def text(self) -> str:
        return str(self.shape.text_frame.text) if self.shape.has_text_frame else ""

    @property
    def has_text(self) -> bool:
        return any((one.text or "").strip() for one in self.shape.element.iter(f"{DRAWING}t"))

    @property
    def is_title(self) -> bool:
        return _role(self.shape) in _TITLES

    @property
    def is_picture(self) -> bool:
        return next(self.shape.element.iter(f"{DRAWING}blip"), None) is not None


@dataclass(frozen=True, slots=True)
class Frame:
    """How the coordinates of a slide or group become points on the slide, whose size is `width` by `height` points."""

    width: float
    height: float
    left: float = 0
    top: float = 0
    across: float = 1 / _EMU_PER_POINT
    down: float = 1 / _EMU_PER_POINT

    @classmethod
    def of_slide(cls, width: int, height: int) -> Frame:
        """`width` and `height` in EMU."""
        return cls(width / _EMU_PER_POINT, height / _EMU_PER_POINT)

    def box(self, shape: Shape) -> Box | None:
        """None where neither the shape nor its layout says where it is."""
        if None in (shape.left, shape.top, shape.width, shape.height):
            return None
        left, top = self.left + shape.left * self.across, self.top + shape.top * self.down
        return left, top, left + shape.width * self.across, top + shape.height * self.down

    def inside(self, group: Shape) -> Frame:
        """The frame of a group's members, which have coordinates of their own."""
        place = group.element.find(f"{PRESENTATION}grpSpPr/{DRAWING}xfrm")
        corner, size = (None, None) if place is None else (place.find(f"{DRAWING}chOff"), place.find(f"{DRAWING}chExt"))
        box = self.box(group)
        if corner is None or size is None or box is None:
            return self
        wide, high = int(size.get("cx", "0")), int(size.get("cy", "0"))
        across = (box[2] - box[0]) / wide if wide else self.across
        down = (box[3] - box[1]) / high if high else self.down
        left, top = box[0] - int(corner.get("x", "0")) * across, box[1] - int(corner.get("y", "0")) * down
        return Frame(self.width, self.height, left, top, across, down)

    def is_outside(self, box: Box | None) -> bool:
        if box is None:
            return False
        return box[2] <= 0 or box[3] <= 0 or box[0] >= self.width or box[1] >= self.height


def take_first_choices(slide: Shape) -> None:
    """Put what is in new forms (equations, ink) where it is offered beside a second copy for old programs."""
    for offer in list(slide.element.iter(f"{_COMPATIBILITY}AlternateContent")):
        choice = offer.find(f"{_COMPATIBILITY}Choice")
        for shape in [] if choice is None else list(choice):
            offer.addprevious(shape)
        offer.getparent().remove(offer)


def placed(shapes: Iterable[Shape], frame: Frame, unseen: str = "") -> Iterator[Placed]:
    """All shapes that are no groups, without dates, footers and slide numbers."""
    for shape in shapes:
        why = unseen or ("hidden shapes" if _is_hidden(shape) else "")
        if shape.element.tag == f"{PRESENTATION}grpSp":
            yield from placed(shape.shapes, frame.inside(shape), why)
        elif _role(shape) not in _REPEATED:
            box = frame.box(shape)
            yield Placed(shape, box, why or ("shapes beside the slide" if frame.is_outside(box) else ""))


def in_order(shapes: Sequence[Placed]) -> Iterator[Placed]:
    """Those without a place first; then from the top down, and from the left where they stand side by side."""
    yield from (shape for shape in shapes if shape.box is None)
    located = [(shape, shape.box) for shape in shapes if shape.box is not None]
    for chosen in regions([box for _, box in located], gap=-_OVERLAP):
        # Those that lie over each other: as they are stacked.
        yield from (located[at][0] for at in chosen)


def _role(shape: Shape) -> str:
    """Its type as a placeholder, "" for other shapes."""
    mark = next(shape.element.iter(f"{PRESENTATION}ph"), None)
    return "" if mark is None else str(mark.get("type", "obj"))


def _is_hidden(shape: Shape) -> bool:
    named = next(shape.element.iter(f"{PRESENTATION}cNvPr"), None)
    return named is not None and named.get("hidden") in {"1", "true"}
