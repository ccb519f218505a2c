"""The text of parts of an HTML tree that are read as a whole: headings, cells, lists, code. And what they link to.

Everything walks without recursion: pages may be nested thousands deep.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree
from lxml.html import HtmlElement

HIDDEN = "hidden-text"
"""The tag of what the page does not show, once it is taken out."""

BESIDE = "beside-content"
"""The tag of what is beside the page's content, once it is taken out."""

LISTS = frozenset({"ul", "ol", "menu"})
CELLS = frozenset({"td", "th"})
BLOCKS = frozenset(
    """
    address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer
    form header hgroup hr html legend li main menu ol p section summary table tbody td tfoot th thead tr ul
    """.split()  # noqa: SIM905  Words read better as words.
)
IGNORED = frozenset(
    {"script", "style", "template", "head", "title", "noscript", "iframe", "svg", "annotation", "annotation-xml"}
    | {HIDDEN, BESIDE}
)
_CELL_BREAK = "\x1f"
_SPACE = re.compile(r"\s+")
_ADDRESS = re.compile(r"(?:https?|mailto):|(?![a-z][a-z0-9+.-]*:|#)", re.IGNORECASE)
_LONGEST_ADDRESS = 2_000
_MOST_INDENTED = 10


def take_out(element: HtmlElement, mark: str) -> None:
    """Empty an element and make `mark` its tag; what follows it stays.

    lxml's drop_tree joins strings at each call, which is quadratic, and fails on control signs that its parser lets in.
    """
    element.clear(keep_tail=True)
    element.tag = mark


def pieces(root: HtmlElement) -> Iterator[str]:
    """The text of `root` cut at paragraphs, list items and rows of nested tables, whose cells are joined by commas."""
    piece: list[str] = []

    def joined() -> str:
        cells = (" ".join(cell.split()) for cell in "".join(piece).split(_CELL_BREAK))
        piece.clear()
        return ", ".join(filter(None, cells))

    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        is_cell = element.tag in CELLS and element is not root
        if element.tag in BLOCKS and not is_cell:
            yield joined()
        if event == "end":
            piece.append(spaced(element.tail) if element is not root else "")
        elif element.tag in IGNORED:
            walk.skip_subtree()
        else:
            piece.append(_CELL_BREAK if is_cell else "")
            piece.append(" " if element.tag == "br" else inline_text(element))
    yield joined()


def list_lines(root: HtmlElement) -> Iterator[str]:
    """One line an item, with its number or a dash, indented by two spaces a level."""
    counters: list[int | None] = []
    mark = ""
    piece: list[str] = []

    def line() -> Iterator[str]:
        text = " ".join("".join(piece).split())
        piece.clear()
        if text:
            yield f"{'  ' * min(len(counters) - 1, _MOST_INDENTED)}{mark}{text}"

    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if element.tag in LISTS or element.tag == "li":
            yield from line()
            # What follows a nested list inside its item has no mark of its own.
            mark = "  "
        if event == "end":
            if element.tag in LISTS:
                counters.pop()
            piece.append(spaced(element.tail) if element is not root else "")
        elif element.tag in IGNORED:
            walk.skip_subtree()
        else:
            if element.tag in LISTS:
                counters.append(whole_number(element.get("start")) if element.tag == "ol" else None)
            elif element.tag == "li":
                mark = _mark(counters)
            piece.append(" " if element.tag == "br" or element.tag in BLOCKS else "")
            piece.append(inline_text(element))


def _mark(counters: list[int | None]) -> str:
    number = counters[-1]
    if number is None:
        return "- "
    counters[-1] = number + 1
    return f"{number}. "


def verbatim(root: HtmlElement) -> str:
    """The text with all its white space, as <pre> shows it."""
    parts = []
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "end":
            parts.append(element.tail if element is not root else "")
        elif element.tag in IGNORED:
            walk.skip_subtree()
        else:
            parts.append("\n" if element.tag == "br" else element.text)
    return "".join(filter(None, parts))


def links(root: HtmlElement) -> tuple[str, ...]:
    """The addresses that `root` points at, each once: web and mail addresses, and relative ones as they stand."""
    found = (address(element.get("href", "")) for element in root.iter("a"))
    return tuple(dict.fromkeys(filter(None, found)))


def address(written: str) -> str:
    """`written` without white space; "" for a place in the page itself, or what is no address (a script, data)."""
    short = "".join(written.split()) if len(written) <= _LONGEST_ADDRESS else ""
    return short if _ADDRESS.match(short) else ""


def inline_text(element: HtmlElement) -> str:
    """What stands before the element's first child; for the picture of a formula, the formula."""
    if element.tag == "img":
        return str(element.get("alt", "")) if "math" in element.get("class", "") else ""
    return spaced(element.text)


def spaced(text: str | None) -> str:
    return _SPACE.sub(" ", text) if text else ""


def whole_number(attribute: str | None) -> int:
    """A positive number of up to five digits; 1 for anything else."""
    return int(attribute) if attribute and re.fullmatch(r"[1-9]\d{0,4}", attribute, re.ASCII) else 1
