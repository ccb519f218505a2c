"""The words of a page, read from pdfium's text page, which is asked for boxes at the ends of words only."""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pypdfium2.raw as pdfium
from numpy.typing import NDArray

from citewell.loading.pdf.sheet import Frame, Style, Word
from citewell.loading.pdf.signs import boxes, text_objects

HYPHEN = "\u2010"
"""Ends a word that pdfium, or the file by a soft hyphen, says was divided at the line's end."""
RTL = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe]")
"""A letter of a script that is written from right to left."""

_DIVIDED = "\x02\ufffe"
_SOFT = "\xad"
_WORD = re.compile(rf"[^\s{_DIVIDED}]+")
_HALF = re.compile(r"[\ud800-\udfff]")
_UNMAPPED = re.compile(r"[\ufffd\ue000-\uf8ff]")
_PRESENTATION = re.compile(r"[\ufb00-\ufdff\ufe70-\ufefe]")
_SYMBOLS = {0xF0B7: "•", 0xF0A7: "▪", 0xF0A8: "□", 0xF0D8: "➢", 0xF0FC: "✓", 0xF02D: "-"}
"""What word processors write for bullets in the Symbol and Wingdings fonts."""
_NOTHING = dict.fromkeys((0x00, 0xAD, *range(0x200B, 0x200C), 0x200E, 0x200F, *range(0x202A, 0x202F), 0x2060, 0xFEFF))
"""Signs without width, and those that only set a direction."""
_FIXED_PITCH = 1
_BOLD_WEIGHT = 600
_INVISIBLE_MODES = (3, 7)
_WIDEST = 1.05
"""In ems, for one sign; Chinese ones are 1."""
_PALE = 0.85
"""From this luminance on a text may be white on white; then the rendered page decides."""


@dataclass(slots=True)
class _Drawn:
    """What all signs of one text object share: their style, frame and base line."""

    style: Style
    frame: Frame
    baseline: float


@dataclass(slots=True)
class WordReader:
    """Reads one text page. What pdfium says is kept by text object, since asking it costs more than all the rest.

    The text objects that are `covered`, given by address, count as undrawn.
    """

    textpage: Any
    frame: Frame
    covered: frozenset[int] = frozenset()
    unreadable: float = 0.0
    _objects: dict[int | None, _Drawn] = field(default_factory=dict)
    _styles: dict[Style, Style] = field(default_factory=dict)
    _fonts: dict[bytes, tuple[bool, bool]] = field(default_factory=dict)

    def read(self) -> list[Word]:
        """Every word in pdfium's order, which is that of the drawing with right-to-left text made logical.

        Sets `unreadable`, the share of signs without a meaning.
        """
        text = self._text()
        unmapped = len(_UNMAPPED.findall(text))
        order: Sequence[int] = range(len(text))
        if RTL.search(text):
            order = _logical(text, [sorted(_ends(box, self.frame)) for box in boxes(self.textpage, order).tolist()])
            text = "".join(text[index] for index in order)
        words = list(self._words(text, order))
        self.unreadable = unmapped / max(sum(len(word.text) for word in words), 1)
        return words

    def _text(self) -> str:
        """The page's signs, one for each index that pdfium knows them by."""
        count = max(pdfium.FPDFText_CountChars(self.textpage), 0)
        buffer = (ctypes.c_ushort * (count + 1))()
        whole = pdfium.FPDFText_GetText(self.textpage, 0, count, buffer) == count + 1
        text = bytes(buffer)[:-2].decode("utf-16-le", "surrogatepass")
        if not whole or len(text) < count or _HALF.search(text):
            # It leaves signs without a meaning out and writes some as two units: its text does not go by the indices.
            text = "".join(chr(pdfium.FPDFText_GetUnicode(self.textpage, index)) for index in range(count))
        return text.translate(_SYMBOLS)

    def _words(self, text: str, order: Sequence[int]) -> Iterator[Word]:
        found = list(_WORD.finditer(text))
        ends = [order[at] for match in found for at in (match.start(), match.end() - 1)]
        found_at = boxes(self.textpage, ends)
        extents = cache(lambda turn: _extents(found_at, self.frame.turned(turn)))
        drawn = map(self._drawn, text_objects(self.textpage, ends), ends)
        end = 0
        for at, match in enumerate(found):
            # What pdfium writes where it sees a division parts words, but is no space.
            spaced = at == 0 or text[end : match.start()].strip(_DIVIDED) != ""
            begin, end = match.span()
            divided = text[end - 1] == _SOFT or (end < len(text) and text[end] in _DIVIDED)
            first, last = next(drawn), next(drawn)
            lefts, rights = extents(first.frame.turn)
            # Of one drawing operation, and no wider than its letters can be: nothing parts it.
            if first is last and rights[at] - lefts[at] < _WIDEST * (end - begin) * first.style.size:
                spelled = _spell(match.group()) + HYPHEN * divided
                yield Word(spelled, lefts[at], rights[at], first.baseline, first.style, spaced)
            else:
                yield from self._parts(order[begin:end], match.group(), spaced, divided)

    def _parts(self, indices: Sequence[int], text: str, spaced: bool, divided: bool) -> Iterator[Word]:
        """One word, or more where the style or the line changes inside it (a footnote mark)."""
        drawn = list(map(self._drawn, text_objects(self.textpage, indices), indices))
        found = boxes(self.textpage, indices).tolist()
        begin = 0
        for at in range(1, len(indices)):
            apart = _apart(drawn[at - 1], found[at - 1], drawn[at], found[at])
            if apart is not None:
                yield _word(drawn[begin], found[begin], found[at - 1], _spell(text[begin:at]), spaced)
                begin, spaced = at, apart
        yield _word(drawn[begin], found[begin], found[-1], _spell(text[begin:]) + HYPHEN * divided, spaced)

    def _drawn(self, text_object: int | None, index: int) -> _Drawn:
        drawn = self._objects.get(text_object)
        if drawn is None:
            style = self._style(index, text_object in self.covered)
            frame = self.frame.turned(style.turn)
            x, y = ctypes.c_double(), ctypes.c_double()
            pdfium.FPDFText_GetCharOrigin(self.textpage, index, x, y)
            drawn = self._objects[text_object] = _Drawn(style, frame, frame.seen(x.value, y.value)[1])
        return drawn

    def _style(self, index: int, covered: bool) -> Style:
        matrix = pdfium.FS_MATRIX()
        pdfium.FPDFText_GetMatrix(self.textpage, index, matrix)
        angle = math.degrees(math.atan2(matrix.b, matrix.a))
        size = pdfium.FPDFText_GetFontSize(self.textpage, index) * math.hypot(matrix.c, matrix.d)
        drawn = pdfium.FPDFText_GetTextObject(self.textpage, index)
        skewed = abs(angle / 90 - round(angle / 90)) > 0.05
        mode = pdfium.FPDFTextObj_GetTextRenderMode(drawn)
        bold, mono = self._font(pdfium.FPDFTextObj_GetFont(drawn))
        style = Style(
            size=round(abs(size), 1),
            bold=bold or mode == pdfium.FPDF_TEXTRENDERMODE_FILL_STROKE,
            mono=mono,
            turn=self.frame.turn if skewed else round(angle / 90) % 4,
            skewed=skewed,
            undrawn=covered or mode in _INVISIBLE_MODES,
            pale=_is_pale(drawn),
        )
        return self._styles.setdefault(style, style)

    def _font(self, font: Any) -> tuple[bool, bool]:
        """Whether a font is bold, and whether its signs are all of one width."""
        key = bytes(font)
        if key not in self._fonts:
            length = pdfium.FPDFFont_GetBaseFontName(font, None, 0)
            name = ctypes.create_string_buffer(max(length, 1))
            pdfium.FPDFFont_GetBaseFontName(font, name, length)
            family = name.value.decode("utf-8", "replace").lower()
            weight = pdfium.FPDFFont_GetWeight(font)
            bold = any(part in family for part in ("bold", "black", "heavy", "demi")) or weight > _BOLD_WEIGHT
            mono = any(part in family for part in ("courier", "mono", "consol", "menlo", "cmtt", "sftt"))
            self._fonts[key] = bold, mono or bool(max(pdfium.FPDFFont_GetFlags(font), 0) & _FIXED_PITCH)
        return self._fonts[key]


def _is_pale(drawn: Any) -> bool:
    red, green, blue, alpha = ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
    if not pdfium.FPDFPageObj_GetFillColor(drawn, red, green, blue, alpha):
        return False
    luminance = (0.299 * red.value + 0.587 * green.value + 0.114 * blue.value) / 255
    return luminance > _PALE or alpha.value < 255 * (1 - _PALE)


def _ends(box: Any, frame: Frame) -> tuple[Any, Any]:
    """The two ends of a sign along the line, as seen in a frame, of its box; or of all signs, where it holds arrays."""
    left, top, right, bottom = box
    return frame.seen(left, bottom)[0], frame.seen(right, top)[0]


def _extents(found_at: NDArray[np.float64], frame: Frame) -> tuple[list[float], list[float]]:
    """The least and the greatest x of each word as seen in a frame, of the boxes of its first and its last sign."""
    xs = np.stack(_ends(found_at.T, frame), axis=-1).reshape(-1, 4)
    return xs.min(axis=1).tolist(), xs.max(axis=1).tolist()


def _word(drawn: _Drawn, first: Sequence[float], last: Sequence[float], text: str, spaced: bool) -> Word:
    """The word whose first and last sign have these boxes."""
    ends = (*_ends(first, drawn.frame), *_ends(last, drawn.frame))
    return Word(text, min(ends), max(ends), drawn.baseline, drawn.style, spaced)


def _apart(one: _Drawn, before: Sequence[float], other: _Drawn, after: Sequence[float]) -> bool | None:
    """Whether a gap is between two signs, given with their boxes, that are not of one word; None where they are."""
    (left, right), (near, far) = sorted(_ends(before, one.frame)), sorted(_ends(after, one.frame))
    if max(near - right, left - far) > 0.25 * one.style.size:
        return True
    drop = abs(one.baseline - other.baseline)
    return False if one.style != other.style or drop > 0.1 * one.style.size else None


def _spell(text: str) -> str:
    """A word's letters: ligatures and presentation forms are taken apart, signs without width left out."""
    if text.isascii():
        return text
    plain = text.translate(_NOTHING).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _PRESENTATION.sub(lambda match: unicodedata.normalize("NFKC", match.group()), plain)


def _logical(text: str, spans: Sequence[Sequence[float]]) -> list[int]:
    """The order of a page's signs that mends what pdfium's reversal of right-to-left lines breaks. `spans` are theirs.

    One glyph that stands for two letters (lam-alef) comes out back to front: its letters have one and the same box.
    A mark drawn over its letter comes out before it, often after a space that the writer put under the mark.
    """
    order = list(range(len(text)))
    at = 0
    while at + 1 < len(order):
        here, after = order[at], order[at + 1]
        if RTL.match(text[here]) and RTL.match(text[after]):
            left, right = spans[here]
            over, under = spans[after]
            mark = unicodedata.combining(text[here]) and over <= (left + right) / 2 <= under
            if mark or (left, right) == (over, under):
                order[at], order[at + 1] = after, here
                if mark and at and text[order[at - 1]] == " ":
                    del order[at - 1]
                    continue
                at += 1
        at += 1
    return order
