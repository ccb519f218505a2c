"""The words of a page, read from pdfium's text page, which is asked for boxes at the ends of words only."""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pypdfium2.raw as pdfium

from citewell.loading.pdf.sheet import Frame, Style, Word

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
    """Reads one text page. What pdfium says is kept by text object, since asking it costs more than all the rest."""

    textpage: Any
    frame: Frame
    unmapped: int = 0
    _objects: dict[bytes, _Drawn] = field(default_factory=dict)
    _fonts: dict[bytes, tuple[bool, bool]] = field(default_factory=dict)
    _box: Any = field(default_factory=pdfium.FS_RECTF)

    def read(self) -> list[Word]:
        """Every word in pdfium's order, which is that of the drawing with right-to-left text made logical."""
        text = self._text()
        self.unmapped = len(_UNMAPPED.findall(text))
        order: Sequence[int] = range(len(text))
        if RTL.search(text):
            order = _logical(text, self._span)
            text = "".join(text[index] for index in order)
        words: list[Word] = []
        end = 0
        for match in _WORD.finditer(text):
            spaced = not words or any(sign not in _DIVIDED for sign in text[end : match.start()])
            begin, end = match.span()
            divided = text[end - 1] == _SOFT or (end < len(text) and text[end] in _DIVIDED)
            words.extend(self._words(order[begin:end], match.group(), spaced, divided))
        return words

    def _text(self) -> str:
        """The page's signs, one for each index that pdfium knows them by."""
        count = max(self.textpage.count_chars(), 0)
        buffer = (ctypes.c_ushort * (count + 1))()
        whole = pdfium.FPDFText_GetText(self.textpage, 0, count, buffer) == count + 1
        text = "".join(map(chr, buffer[:count]))
        if not whole or _HALF.search(text):
            # It leaves signs without a meaning out and writes some as two units: its text does not go by the indices.
            text = "".join(chr(pdfium.FPDFText_GetUnicode(self.textpage, index)) for index in range(count))
        return text.translate(_SYMBOLS)

    def _words(self, indices: Sequence[int], text: str, spaced: bool, divided: bool) -> Iterator[Word]:
        """One word, or more where the style or the line changes inside it (a footnote mark)."""
        first, last = self._drawn(indices[0]), self._drawn(indices[-1])
        whole = self._word(first, indices, text, spaced, divided)
        # Of one drawing operation, and no wider than its letters can be: nothing parts it.
        if first is last and whole.x1 - whole.x0 < _WIDEST * len(text) * first.style.size:
            yield whole
            return
        begin = 0
        for at in range(1, len(indices)):
            apart = self._apart(indices[at - 1], indices[at])
            if apart is not None:
                yield self._word(self._drawn(indices[begin]), indices[begin:at], text[begin:at], spaced, False)
                begin, spaced = at, apart
        yield self._word(self._drawn(indices[begin]), indices[begin:], text[begin:], spaced, divided)

    def _word(self, drawn: _Drawn, indices: Sequence[int], text: str, spaced: bool, divided: bool) -> Word:
        ends = (*self._ends(indices[0], drawn.frame), *self._ends(indices[-1], drawn.frame))
        spelled = _spell(text) + HYPHEN * divided
        return Word(spelled, min(ends), max(ends), drawn.baseline, drawn.style, spaced)

    def _apart(self, before: int, after: int) -> bool | None:
        """Whether a gap is between two signs that are not of one word; None where they are."""
        one, other = self._drawn(before), self._drawn(after)
        (left, right), (near, far) = sorted(self._ends(before, one.frame)), sorted(self._ends(after, one.frame))
        if max(near - right, left - far) > 0.25 * one.style.size:
            return True
        drop = abs(one.baseline - other.baseline)
        return False if one.style != other.style or drop > 0.1 * one.style.size else None

    def _drawn(self, index: int) -> _Drawn:
        # A pointer's own bytes are its address; casting it to a number takes five times as long.
        key = bytes(pdfium.FPDFText_GetTextObject(self.textpage, index))
        drawn = self._objects.get(key)
        if drawn is None:
            style = self._style(index)
            frame = self.frame.turned(style.turn)
            x, y = ctypes.c_double(), ctypes.c_double()
            pdfium.FPDFText_GetCharOrigin(self.textpage, index, x, y)
            drawn = self._objects[key] = _Drawn(style, frame, frame.seen(x.value, y.value)[1])
        return drawn

    def _style(self, index: int) -> Style:
        matrix = pdfium.FS_MATRIX()
        pdfium.FPDFText_GetMatrix(self.textpage, index, matrix)
        angle = math.degrees(math.atan2(matrix.b, matrix.a))
        size = pdfium.FPDFText_GetFontSize(self.textpage, index) * math.hypot(matrix.c, matrix.d)
        drawn = pdfium.FPDFText_GetTextObject(self.textpage, index)
        skewed = abs(angle / 90 - round(angle / 90)) > 0.05
        mode = pdfium.FPDFTextObj_GetTextRenderMode(drawn)
        bold, mono = self._font(pdfium.FPDFTextObj_GetFont(drawn))
        return Style(
            size=round(abs(size), 1),
            bold=bold or mode == pdfium.FPDF_TEXTRENDERMODE_FILL_STROKE,
            mono=mono,
            turn=self.frame.turn if skewed else round(angle / 90) % 4,
            skewed=skewed,
            undrawn=mode in _INVISIBLE_MODES,
            pale=_is_pale(drawn),
        )

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

    def _ends(self, index: int, frame: Frame) -> tuple[float, float]:
        """The two ends of a sign along the line, as seen in a frame."""
        box = self._box
        pdfium.FPDFText_GetLooseCharBox(self.textpage, index, box)
        return frame.seen(box.left, box.bottom)[0], frame.seen(box.right, box.top)[0]

    def _span(self, index: int) -> tuple[float, float]:
        left, right = self._ends(index, self.frame)
        return min(left, right), max(left, right)


def _is_pale(drawn: Any) -> bool:
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not pdfium.FPDFPageObj_GetFillColor(drawn, red, green, blue, alpha):
        return False
    luminance = (0.299 * red.value + 0.587 * green.value + 0.114 * blue.value) / 255
    return luminance > _PALE or alpha.value < 255 * (1 - _PALE)


def _spell(text: str) -> str:
    """A word's letters: ligatures and presentation forms are taken apart, signs without width left out."""
    if text.isascii():
        return text
    plain = text.translate(_NOTHING).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _PRESENTATION.sub(lambda match: unicodedata.normalize("NFKC", match.group()), plain)


def _logical(text: str, span: Callable[[int], tuple[float, float]]) -> list[int]:
    """The order of a page's signs that mends what pdfium's reversal of right-to-left lines breaks.

    One glyph that stands for two letters (lam-alef) comes out back to front: its letters have one and the same box.
    A mark drawn over its letter comes out before it, often after a space that the writer put under the mark.
    """
    order = list(range(len(text)))
    at = 0
    while at + 1 < len(order):
        here, after = order[at], order[at + 1]
        if RTL.match(text[here]) and RTL.match(text[after]):
            left, right = span(here)
            over, under = span(after)
            mark = unicodedata.combining(text[here]) and over <= (left + right) / 2 <= under
            if mark or (left, right) == (over, under):
                order[at], order[at + 1] = after, here
                if mark and at and text[order[at - 1]] == " ":
                    del order[at - 1]
                    continue
                at += 1
        at += 1
    return order
