"""HTML: the main content in reading order, with headings, lists, tables and code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath

from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from citewell.errors import DamagedFile, EmptyFile
from citewell.loading.bounds import check_tags
from citewell.loading.encoding import decode
from citewell.loading.html.about import language_of, metadata_of, title_of
from citewell.loading.html.boilerplate import main_content
from citewell.loading.html.hidden import hidden_reason, take_hidden
from citewell.loading.html.tables import table_rows, whole_blocks
from citewell.loading.html.text import (
    BESIDE,
    BLOCKS,
    IGNORED,
    LISTS,
    address,
    inline_text,
    links,
    list_lines,
    pieces,
    spaced,
    verbatim,
)
from citewell.loading.parsed import PLAIN, Details, Parsed, TextBuilder
from citewell.loading.tables import cell_text, header_lines, table_text
from citewell.settings import Loading
from citewell.types import ElementKind

_DECLARED = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_XML_DECLARED = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)""", re.IGNORECASE)
_DECLARED_WITHIN = 4_096

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_CAPTIONS = frozenset({"figcaption", "caption"})
_CODE_LANGUAGE = re.compile(r"(?:^|\s)(?:lang|language|highlight-source)-([\w+#.-]{1,30})")
_LINE_BREAK = "\n"
_PAGE = re.compile(r"<(/?)(?:html|body)\b", re.IGNORECASE)
# Of those with an end tag that no writer may leave out, the ones that pages are made of.
_CLOSED = re.compile(
    r"<(/?)(?:div|section|article|main|table|ul|ol|dl|span|pre|head|title|script|style)\b(?![^<>]*/>)", re.IGNORECASE
)
_CUT_SHORT = "it ends before its elements do, and may be cut short"


def load_html(data: bytes, name: str, limits: Loading) -> Parsed:
    """Read the page's main content. Its title is <title>, else the first h1, else the file's name.

    What the page does not show is left out; where it holds sentences, the page is suspicious. What seems to have been
    cut off is noted as lost.
    """
    text = decode(data, limits, _declared_encoding(data))
    page = parse_markup(text)
    hidden = take_hidden(page)
    title, metadata = title_of(page), metadata_of(page)
    headline = page.find(".//h1")
    content = main_content(page)
    builder = TextBuilder(limits)
    # It may stand just before the <main> or <article>.
    if headline is not None and content.find(".//h1") is None:
        builder.add(ElementKind.HEADING, cell_text(pieces(headline)))
    add_content(builder, content)
    parsed = builder.build(title or PurePath(name).stem, language_of(page, content), metadata)
    unseen = sum(hidden.get(element, 0) for element in content.iter(etree.Element) if element.tag != BESIDE)
    return replace(parsed, suspicious=hidden_reason(unseen), lost=(_CUT_SHORT,) if _is_cut_short(text) else ())


def _is_cut_short(text: str) -> bool:
    """Whether it has no end of a page, and ends within a tag, a comment or an element that needs an end tag."""
    page_tags = _PAGE.findall(text)
    if "/" in page_tags:
        return False
    opened = text.rfind("<")
    if text.rfind("<!--") > text.rfind("-->") or (opened > text.rfind(">") and text[opened + 1 : opened + 2].isalpha()):
        return True
    tags = _CLOSED.findall(text)
    return bool(page_tags) and tags.count("") > tags.count("/")


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
    whole = whole_blocks(root)
    inline: list[str] = []
    found: list[str] = []

    def close_block(block: HtmlElement | None) -> None:
        kind = ElementKind.CAPTION if block is not None and block.tag in _CAPTIONS else ElementKind.PARAGRAPH
        builder.add(kind, _lines("".join(inline)), more=Details(links=tuple(dict.fromkeys(filter(None, found)))))
        inline.clear()
        found.clear()

    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        is_whole = element in whole or element.tag in _HEADINGS or element.tag == "pre"
        if event == "end":
            if element.tag in BLOCKS and not is_whole:
                close_block(element)
            if element is not root:
                inline.append(spaced(element.tail))
        elif element.tag in IGNORED:
            walk.skip_subtree()
        elif is_whole:
            close_block(element.getparent())
            for kind, text, more in _read_whole(element):
                builder.add(kind, text, level=_HEADINGS.get(element.tag, 1), more=more)
            walk.skip_subtree()
        else:
            if element.tag in BLOCKS:
                close_block(element.getparent())
            if element.tag == "a":
                found.append(address(element.get("href", "")))
            inline.append(_LINE_BREAK if element.tag == "br" else inline_text(element))
    close_block(None)


def _read_whole(element: HtmlElement) -> Iterator[tuple[ElementKind, str, Details]]:
    """What is added for an element that is not walked into: a heading, code, a list, or a table and its captions."""
    if element.tag in _HEADINGS:
        yield ElementKind.HEADING, cell_text(pieces(element)), Details(links=links(element))
    elif element.tag == "pre":
        yield ElementKind.CODE, verbatim(element), Details(preamble=_code_language(element), links=links(element))
    elif element.tag in LISTS:
        yield ElementKind.LIST, "\n".join(list_lines(element)), Details(links=links(element))
    else:
        for caption in element.iterchildren("caption"):
            yield ElementKind.CAPTION, cell_text(pieces(caption)), PLAIN
        rows, header_rows = table_rows(element)
        more = Details(header_rows=header_lines(rows, header_rows), links=links(element))
        yield ElementKind.TABLE, table_text(rows), more


def _code_language(block: HtmlElement) -> str:
    """What `class="language-sql"` says, on the block or on the <code> in it."""
    classes = (one.get("class", "") for one in (block, *block.iterchildren("code")))
    found = next(filter(None, map(_CODE_LANGUAGE.search, classes)), None)
    return found[1] if found else ""


def _lines(text: str) -> str:
    """Collapse white space as a browser does, but keep the breaks that <br> makes."""
    return "\n".join(filter(None, (" ".join(line.split()) for line in text.split(_LINE_BREAK))))
