"""What is drawn on a page, as plain data: words, ruling lines, how much is picture. In points, y from the top down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

Box = tuple[float, float, float, float]
"""(left, top, right, bottom)."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a word is set. `size` in points as it appears on the page; `turn` is the page rotation that makes it upright.

    A quarter turn counts as 1, clockwise. `skewed` text (a watermark) lies at no such angle and has the page's own
    turn. `undrawn` text has the invisible rendering mode or is under a picture, as the text layer of a scan is; `pale`
    text is white, or nearly, or transparent.
    """

    size: float
    bold: bool
    mono: bool
    turn: int
    skewed: bool
    undrawn: bool
    pale: bool


class Word(NamedTuple):
    """Signs without white space between them. `spaced` says whether white space stands before the word.

    A tuple, since a frozen dataclass takes four times as long to make, and a manual has a hundred thousand words.
    """

    text: str
    x0: float
    x1: float
    baseline: float
    style: Style
    spaced: bool

    @property
    def top(self) -> float:
        return self.baseline - 0.8 * self.style.size

    @property
    def bottom(self) -> float:
        return self.baseline + 0.2 * self.style.size


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight ruling line: `at` is its y if it is `level`, its x if it is upright; it runs `start` to `end`."""

    level: bool
    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Shade:
    """A ground that is painted: its box and its colour as (red, green, blue), 0 to 255."""

    box: Box
    colour: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Link:
    """Where on the page, in its own frame, a web or mail address is behind what is seen."""

    box: Box
    address: str


@dataclass(frozen=True, slots=True)
class Frame:
    """A page's box in PDF coordinates, seen after `turn` quarter turns clockwise."""

    left: float
    bottom: float
    right: float
    top: float
    turn: int

    @property
    def width(self) -> float:
        return self.right - self.left if self.turn % 2 == 0 else self.top - self.bottom

    @property
    def height(self) -> float:
        return self.top - self.bottom if self.turn % 2 == 0 else self.right - self.left

    def turned(self, turn: int) -> Frame:
        return Frame(self.left, self.bottom, self.right, self.top, turn % 4)

    def seen(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the PDF's coordinates is seen: x to the right, y down."""
        if self.turn == 0:
            return x - self.left, self.top - y
        if self.turn == 1:
            return y - self.bottom, x - self.left
        if self.turn == 2:
            return self.right - x, y - self.bottom
        return self.top - y, self.right - x

    def box_in(self, box: Box, other: Frame) -> Box:
        """A box of this frame in another frame of the same page."""
        spun = box
        frame = self
        while frame.turn != other.turn:
            left, top, right, bottom = spun
            # One quarter turn clockwise: what was the bottom edge becomes the left edge.
            spun = (frame.height - bottom, left, frame.height - top, right)
            frame = frame.turned(frame.turn + 1)
        return spun


@dataclass(frozen=True, slots=True)
class View:
    """The words of a page that run in one direction, in the frame in which they are upright."""

    frame: Frame
    words: tuple[Word, ...]


def make_views(frame: Frame, words: Sequence[Word]) -> tuple[View, ...]:
    """A view for each direction of words on a page with this frame, the fullest first; one at least."""
    turns = Counter({frame.turn: 0})
    for word in words:
        turns[word.style.turn] += len(word.text)
    return tuple(
        View(frame.turned(turn), tuple(word for word in words if word.style.turn == turn))
        for turn, _ in turns.most_common()
        if turns[turn] or len(turns) == 1
    )


@dataclass(frozen=True, slots=True)
class Sheet:
    """One page. `frame` is as a reader sees it. `views` has one view for each direction of text, the fullest first.

    `rules` and `shades` are in the first view's frame. `picture` and `drawing` are the shares of the page, 0 to 1,
    under images and under vector graphics, `unreadable` the share of signs that the file gives no meaning for.
    `hidden` says what text on the page a reader does not see; `error` why the page could not be read. `looked_at` is a
    page that was rendered and read by OCR; `confidence` is OCR's, 0 to 1, where words of the page come from it.
    """

    number: int
    label: str
    frame: Frame
    views: tuple[View, ...] = ()
    rules: tuple[Rule, ...] = ()
    shades: tuple[Shade, ...] = ()
    links: tuple[Link, ...] = ()
    picture: float = 0.0
    drawing: float = 0.0
    unreadable: float = 0.0
    hidden: tuple[str, ...] = ()
    error: str = ""
    looked_at: bool = False
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A line of the file's outline: `level` 1 is outermost, `page` the 1-based number of its page."""

    title: str
    level: int
    page: int
