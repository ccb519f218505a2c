"""What a web page holds and does not show: taken out of the tree, and counted where it reads like sentences.

Only attributes and inline styles are looked at, not style sheets. Colours are compared where both are known: a page
that has a style sheet may paint any element that has a class or an id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from lxml import etree
from lxml.html import HtmlElement

from citewell.loading.html.boilerplate import is_furniture
from citewell.loading.html.text import HIDDEN, IGNORED, take_out

_A_FEW_WORDS = 6
_MANY_WORDS = 12
_SENTENCE_END = re.compile(r"[.!?:;](?:\s|$)|[。！？؟।]")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_STYLED = "boolean(//style | //link[contains(translate(@rel, 'STYLEHT', 'styleht'), 'stylesheet')])"

_SIZE = re.compile(r"([+-]?(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9}))(px|pt|em|rem|ex|%|vw|vh)?")
_PIXELS = {"pt": 1.3, "em": 16.0, "rem": 16.0, "ex": 8.0, "%": 10.0, "vw": 10.0, "vh": 10.0}
_PERCENT_OF_LETTER = 0.16
_SMALLEST_LETTER = 2.0
_FAR_OUTSIDE = -500.0
_FAINTEST = 0.05
_CLIPPED = re.compile(r"rect\(\s*(?:0|1)(?:px)?[\s,]+(?:0|1)(?:px)?\b|inset\(\s*(?:50|100)%|circle\(\s*0")
_MOVED_AWAY = re.compile(r"translate(?:x|y|3d)?\([^)]*-\d{4,}px|scale\(\s*0\s*[,)]")
_NO_FONT = re.compile(r"(?:^|\s)0(?:px|pt|em|%)?(?:/|\s)")

_Colour = tuple[int, int, int]
_WHITE: _Colour = (255, 255, 255)
_BLACK: _Colour = (0, 0, 0)
_NAMED: Mapping[str, _Colour] = {
    "white": _WHITE,
    "black": _BLACK,
    "snow": (255, 250, 250),
    "ivory": (255, 255, 240),
    "ghostwhite": (248, 248, 255),
    "whitesmoke": (245, 245, 245),
    "gray": (128, 128, 128),
    "silver": (192, 192, 192),
    "red": (255, 0, 0),
    "blue": (0, 0, 255),
    "green": (0, 128, 0),
    "yellow": (255, 255, 0),
    "navy": (0, 0, 128),
}
_HEX = re.compile(r"#([0-9a-f]{3,8})\b")
_RGB = re.compile(r"rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})")
_CLEAR = re.compile(r"\btransparent\b|(?:rgba|hsla)\([^)]*[,/]\s*0?\.?0+%?\s*\)|#(?:[0-9a-f]{3}0|[0-9a-f]{6}00)\b")
_PICTURE = re.compile(r"url\(|gradient\(|var\(")
_ALIKE = 16
_PAINTED_BY_BROWSERS = frozenset({"a", "mark", "button", "input", "select", "textarea", "option", "code", "kbd"})


@dataclass(frozen=True, slots=True)
class _Look:
    """How text looks at a place. None is a colour that only a style sheet knows."""

    is_hidden: bool = False
    is_tiny: bool = False
    colour: _Colour | None = _BLACK
    ground: _Colour | None = _WHITE
    is_clear: bool = False
    is_unseen: bool = False
    """What the other fields come to."""


def take_hidden(root: HtmlElement) -> dict[HtmlElement, int]:
    """Take what is not shown out of the tree, in place; its words, by the element that hides them.

    Words are counted where there are more than a few, and not in what many pages hide until it is asked for: menus,
    dialogs, messages.
    """
    is_styled = bool(root.xpath(_STYLED))
    looks = [_Look()]
    closed: list[HtmlElement] = []
    unseen: dict[HtmlElement, list[str]] = {}
    hiding: list[HtmlElement] = []  # the elements under way whose text is not seen, outermost first
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "start":
            is_closed = element is not root and is_switched_off(element)
            if is_closed:
                closed.append(element)
            if is_closed or element.tag in IGNORED:
                walk.skip_subtree()
                looks.append(looks[-1])
                continue
            looks.append(_look_of(element, looks[-1], is_styled))
            if looks[-1].is_unseen:
                hiding.append(element)
                unseen.setdefault(hiding[0], []).append(element.text or "")
                element.text = None
            continue
        looks.pop()
        if hiding and hiding[-1] is element:
            hiding.pop()
        if looks[-1].is_unseen and hiding:
            unseen[hiding[0]].append(element.tail or "")
            element.tail = None
    words = {element: _counted(element, " ".join(texts)) for element, texts in unseen.items()}
    for element in closed:
        words[element] = _counted(element, " ".join(_texts(element)))
        take_out(element, HIDDEN)
    return {element: count for element, count in words.items() if count}


def hides(element: HtmlElement) -> bool:
    """Whether an element alone on a white page hides its text."""
    return is_switched_off(element) or _look_of(element, _Look(), is_styled=False).is_unseen


def hidden_words(text: str) -> int:
    """The number of words where they read like a sentence, else 0. A Chinese, Japanese or Korean sign is a word."""
    count = sum(1 for _ in _WORD.finditer(text))
    return count if count > _MANY_WORDS or (count > _A_FEW_WORDS and _SENTENCE_END.search(text)) else 0


def hidden_reason(words: int) -> tuple[str, ...]:
    """For `Parsed.suspicious`."""
    return (f"{words:,} words that the page does not show were left out.",) if words else ()


def is_switched_off(element: HtmlElement) -> bool:
    """Whether neither the element nor anything in it is shown. `hidden="until-found"` is shown to who searches for it.

    `aria-hidden` is no such thing: it hides from screen readers only.
    """
    if element.get("hidden", "until-found").strip().lower() != "until-found":
        return True
    style = _declarations(element)
    if not style:
        return False
    is_boxed = style.get("overflow", "").startswith(("hidden", "clip"))
    is_placed = style.get("position", "") in {"absolute", "fixed"}
    return (
        style.get("display") == "none"
        or style.get("content-visibility") == "hidden"
        or _pixels(style.get("opacity", "1"), 1.0) <= _FAINTEST
        or bool(_CLIPPED.search(style.get("clip", "") + style.get("clip-path", "")))
        or bool(_MOVED_AWAY.search(style.get("transform", "")))
        or (is_boxed and any(_is_nothing(style.get(side)) for side in ("width", "height", "max-width", "max-height")))
        or any(_is_far(style.get(side)) for side in ("text-indent", "margin-left", "margin-top"))
        or (is_placed and any(_is_far(style.get(side)) for side in ("left", "right", "top", "bottom")))
    )


def _look_of(element: HtmlElement, outer: _Look, is_styled: bool) -> _Look:
    if not element.attrib and element.tag not in _PAINTED_BY_BROWSERS:
        return outer
    style = _declarations(element)
    look = outer
    if element.tag in _PAINTED_BY_BROWSERS or (is_styled and (element.get("class") or element.get("id"))):
        look = replace(look, colour=None, ground=None, is_clear=False)
    colour = style.get("color") or str(element.get("color", "")).lower()
    ground = style.get("background-color") or style.get("background") or str(element.get("bgcolor", "")).lower()
    if colour:
        look = replace(look, colour=_colour(colour), is_clear=bool(_CLEAR.search(colour)))
    if ground and not _CLEAR.search(ground):
        look = replace(look, ground=None if _PICTURE.search(ground) else _colour(ground))
    if "visibility" in style:
        look = replace(look, is_hidden=style["visibility"] in {"hidden", "collapse"})
    if "font-size" in style or "font" in style:
        size = _pixels(style.get("font-size", "16px"), _PERCENT_OF_LETTER)
        is_tiny = size < _SMALLEST_LETTER or _NO_FONT.search(style.get("font", "")) is not None
        look = replace(look, is_tiny=is_tiny)
    if look is outer:
        return outer
    is_unseen = look.is_hidden or look.is_tiny or look.is_clear or _are_alike(look.colour, look.ground)
    return replace(look, is_unseen=is_unseen)


def _declarations(element: HtmlElement) -> dict[str, str]:
    style = element.get("style", "")
    if not style:
        return {}
    pairs = (part.partition(":") for part in _COMMENT.sub("", style).lower().split(";"))
    return {name.strip(): value.replace("!important", "").strip() for name, _, value in pairs}


def _pixels(written: str, percent: float = 10.0) -> float:
    """A length in pixels, roughly; a middling one where it is not understood."""
    found = _SIZE.fullmatch(written)
    if not found:
        return 16.0
    factor = percent if found[2] == "%" else _PIXELS.get(found[2] or "px", 1.0)
    return float(found[1]) * factor


def _is_nothing(written: str | None) -> bool:
    return written is not None and abs(_pixels(written)) <= 1


def _is_far(written: str | None) -> bool:
    return written is not None and _pixels(written) <= _FAR_OUTSIDE


def _colour(written: str) -> _Colour | None:
    if found := _HEX.search(written):
        digits = found[1]
        pairs = [digit * 2 for digit in digits[:3]] if len(digits) < 6 else [digits[:2], digits[2:4], digits[4:6]]
        red, green, blue = (int(pair, 16) for pair in pairs)
        return red, green, blue
    if found := _RGB.search(written):
        return int(found[1]), int(found[2]), int(found[3])
    return next((_NAMED[word] for word in written.split() if word in _NAMED), None)


def _are_alike(one: _Colour | None, other: _Colour | None) -> bool:
    return one is not None and other is not None and max(abs(a - b) for a, b in zip(one, other, strict=True)) <= _ALIKE


def _counted(element: HtmlElement, text: str) -> int:
    return 0 if is_furniture(element) else hidden_words(text)


def _texts(root: HtmlElement) -> Iterator[str]:
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "end":
            yield (element.tail or "") if element is not root else ""
        elif element.tag in IGNORED:
            walk.skip_subtree()
        else:
            yield element.text or ""
