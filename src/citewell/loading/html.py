"""HTML: the main content in reading order, with headings, lists, tables and code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from citewell.errors import DamagedFile, EmptyFile
from citewell.loading.boilerplate import main_content
from citewell.loading.bounds import check_tags
from citewell.loading.encoding import decode
from citewell.loading.parsed import Parsed, TextBuilder
from citewell.loading.tables import cell_text, table_text
from citewell.settings import Loading
from citewell.types import ElementKind

_DECLARED = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_XML_DECLARED = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)""", re.IGNORECASE)
_DECLARED_WITHIN = 4_096

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset({"ul", "ol", "menu"})
_CELLS = frozenset({"td", "th"})
_BLOCKS = frozenset(
    """
    address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer
    form header hgroup hr html legend li main menu ol p section summary table tbody td tfoot th thead tr ul
    """.split()  # noqa: SIM905  Words read better as words.
)
_CAPTIONS = frozenset({"figcaption", "caption"})
_IGNORED = frozenset({"script", "style", "template", "head", "title", "noscript", "iframe", "svg", "annotation"})
_OWN_ROWS = "./tr | ./thead/tr | ./tbody/tr | ./tfoot/tr"
_HOLDS_BLOCKS = "boolean(.//h1 | .//h2 | .//h3 | .//h4 | .//h5 | .//h6 | .//pre | .//table)"
_HOLDS_HEADINGS = "boolean(.//h1 | .//h2 | .//h3 | .//h4 | .//h5 | .//h6)"
_LONG_CELL = 2_000
_MOST_SPANNED = 50
_LINE_BREAK = "\n"
_CELL_BREAK = "\x1f"
_SPACE = re.compile(r"\s+")


def load_html(data: bytes, name: str, limits: Loading) -> Parsed:
    """Read the page's main content. Its title is <title>, else the first h1, else the file's name."""
    page = parse_markup(decode(data, limits, _declared_encoding(data)))
    title = " ".join(page.findtext(".//title", default="").split())
    language = page.get("lang", "") or page.get("{http://www.w3.org/XML/1998/namespace}lang", "")
    content = main_content(page)
    headline = page.find(".//h1")
    builder = TextBuilder(limits)
    if headline is not None:
        title = title or cell_text(_pieces(headline))
        # It may stand just before the <main> or <article>.
        if content.find(".//h1") is None:
            builder.add(ElementKind.HEADING, cell_text(_pieces(headline)))
    add_content(builder, content)
    return builder.build(title or PurePath(name).stem, language.strip())


def parse_markup(text: str) -> HtmlElement:
    """A tree of HTML, without comments. No network, no document types, no entities but HTML's own.

    Raises:
        EmptyFile: no element and no text.
        LimitExceeded: too many tags to keep in memory.
        DamagedFile: nested deeper than the parser goes; it would leave out the rest in silence.
    """
    check_tags(text.count("<"))
    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        page = document_fromstring(text.encode("utf-8", errors="replace"), parser=parser)
    except etree.ParserError:
        raise EmptyFile("The page holds no text.", remedy="Leave it out, or save the page with its content.") from None
    if any("depth" in entry.message for entry in parser.error_log):
        raise DamagedFile("Its elements are nested too deep.", remedy="Save the page again from a browser.")
    return page


def _declared_encoding(data: bytes) -> str:
    start = data[:_DECLARED_WITHIN]
    found = _DECLARED.search(start) or _XML_DECLARED.search(start)
    return found.group(1).decode("ascii", errors="ignore") if found else ""


def add_content(builder: TextBuilder, root: HtmlElement) -> None:
    """Add what `root` holds, block by block. It walks without recursion: pages may be nested thousands deep."""
    inline: list[str] = []

    def close_block(block: HtmlElement | None) -> None:
        kind = ElementKind.CAPTION if block is not None and block.tag in _CAPTIONS else ElementKind.PARAGRAPH
        builder.add(kind, _lines("".join(inline)))
        inline.clear()

    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "end":
            if element.tag in _BLOCKS:
                close_block(element)
            if element is not root:
                inline.append(_spaced(element.tail))
        elif element.tag in _IGNORED:
            walk.skip_subtree()
        else:
            whole = _whole(element)
            if whole or element.tag in _BLOCKS:
                close_block(element.getparent())
            for kind, text, level in whole:
                builder.add(kind, text, level=level)
            if whole:
                walk.skip_subtree()
            else:
                inline.append(_LINE_BREAK if element.tag == "br" else _spaced(element.text))
    close_block(None)


def _whole(element: HtmlElement) -> list[tuple[ElementKind, str, int]]:
    """What is added for an element that is not walked into, as (kind, text, level); [] for one that is."""
    tag = element.tag
    if tag in _HEADINGS:
        return [(ElementKind.HEADING, cell_text(_pieces(element)), _HEADINGS[tag])]
    if tag == "pre":
        return [(ElementKind.CODE, "".join(_verbatim(element)), 1)]
    if tag in _LISTS and not element.xpath(_HOLDS_BLOCKS):
        return [(ElementKind.LIST, "\n".join(_list_lines(element)), 1)]
    if tag == "table":
        rows = element.xpath(_OWN_ROWS)
        if rows and not _is_layout(element, rows):
            captions = [(ElementKind.CAPTION, cell_text(_pieces(caption)), 1) for caption in element.xpath("./caption")]
            return [*captions, (ElementKind.TABLE, table_text(_grid(rows)), 1)]
    return []


def _is_layout(table: HtmlElement, rows: list[HtmlElement]) -> bool:
    """Whether the table only places parts of a page side by side, or holds text outside its cells."""
    cells = [cell for row in rows for cell in row if cell.tag in _CELLS]
    sizes = [_size(cell) for cell in cells]
    return (
        table.get("role", "") in {"presentation", "none"}
        or len(cells) <= 1
        or table.xpath(_HOLDS_HEADINGS)
        or max(sizes) > _LONG_CELL
        # Where an end tag is missing, the rest of the page may stand between the cells.
        or _size(table) > sum(sizes) + sum(map(_size, table.xpath("./caption")))
    )


def _grid(rows: list[HtmlElement]) -> Iterator[list[str]]:
    """Cells in their columns. A merged cell's text stands once, at its top left; the rest of it is empty."""
    below: dict[int, int] = {}  # column -> rows that a cell above still covers
    for row in rows:
        line: list[str] = []
        started: dict[int, int] = {}
        for cell in row:
            if cell.tag not in _CELLS:
                continue
            while below.get(len(line), 0) > 0:
                line.append("")
            width = min(_number(cell.get("colspan")), _MOST_SPANNED)
            covered = range(len(line), len(line) + width)
            started.update(dict.fromkeys(covered, _number(cell.get("rowspan")) - 1))
            line += [cell_text(_pieces(cell)), *[""] * (width - 1)]
        below = {column: left - 1 for column, left in below.items() if left > 1} | started
        yield line


def _number(attribute: str | None) -> int:
    return int(attribute) if attribute and re.fullmatch(r"[1-9]\d{0,4}", attribute) else 1


def _pieces(root: HtmlElement) -> Iterator[str]:
    """The text of `root` cut at paragraphs, list items and rows of nested tables, whose cells are joined by commas."""
    piece: list[str] = []

    def joined() -> str:
        cells = (" ".join(cell.split()) for cell in "".join(piece).split(_CELL_BREAK))
        piece.clear()
        return ", ".join(filter(None, cells))

    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        is_cell = element.tag in _CELLS and element is not root
        if element.tag in _BLOCKS and not is_cell:
            yield joined()
        if event == "end":
            piece.append(_spaced(element.tail) if element is not root else "")
        elif element.tag in _IGNORED:
            walk.skip_subtree()
        else:
            piece.append(_CELL_BREAK if is_cell else "")
            piece.append(" " if element.tag == "br" else _spaced(element.text))
    yield joined()


def _list_lines(root: HtmlElement) -> Iterator[str]:
    """One line an item, with its number or a dash, indented by two spaces a level."""
    counters: list[int | None] = []
    mark = ""
    piece: list[str] = []

    def line() -> Iterator[str]:
        text = " ".join("".join(piece).split())
        piece.clear()
        if text:
            yield f"{'  ' * (len(counters) - 1)}{mark}{text}"

    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if element.tag in _LISTS or element.tag == "li":
            yield from line()
            # What follows a nested list inside its item has no mark of its own.
            mark = "  "
        if event == "end":
            if element.tag in _LISTS:
                counters.pop()
            piece.append(_spaced(element.tail) if element is not root else "")
        elif element.tag in _IGNORED:
            walk.skip_subtree()
        else:
            if element.tag in _LISTS:
                counters.append(_number(element.get("start")) if element.tag == "ol" else None)
            elif element.tag == "li":
                mark = _mark(counters)
            piece.append(" " if element.tag == "br" or element.tag in _BLOCKS else "")
            piece.append(_spaced(element.text))


def _mark(counters: list[int | None]) -> str:
    number = counters[-1]
    if number is None:
        return "- "
    counters[-1] = number + 1
    return f"{number}. "


def _verbatim(root: HtmlElement) -> Iterator[str]:
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            yield _LINE_BREAK if element.tag == "br" else element.text or ""
        elif element is not root:
            yield element.tail or ""


def _size(element: HtmlElement) -> int:
    return sum(len(word) for text in element.itertext() for word in text.split())


def _spaced(text: str | None) -> str:
    return _SPACE.sub(" ", text) if text else ""


def _lines(text: str) -> str:
    """Collapse white space as a browser does, but keep the breaks that <br> makes."""
    return "\n".join(filter(None, (" ".join(line.split()) for line in text.split(_LINE_BREAK))))
