"""Which part of a web page is its content: navigation and banners leave the tree. See `html_hidden` for hidden text.

trafilatura, made for the same, lost on the shared files what must not be lost: the h1 of three pages of four, text that
follows a table, where a nested table stood, the lines of a <pre>; and it flattened a short page of branch hours into
one paragraph, navigation included. So the rules are ours, and they rather keep too much.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree
from lxml.html import HtmlElement

from citewell.loading.html.text import BESIDE, take_out

_NEVER = frozenset(
    """
    head script style template noscript iframe object embed canvas audio video svg dialog button select textarea
    input datalist nav
    """.split()  # noqa: SIM905  Words read better as words.
)
_NEVER_ROLES = frozenset({"navigation", "search", "dialog", "alertdialog", "menu", "menubar", "toolbar"})
_KIND_OF_ROLE = {"banner": "header", "contentinfo": "footer", "complementary": "aside"}
# The line that mail programs show in their list; hints beside a field.
_HINT_WORDS = frozenset({"preheader", "preview", "tooltip"})
_MESSAGE_ROLES = frozenset({"alert", "status", "log", "tooltip", "progressbar"})
# Links to edit or to point at a section, numbers of lines of code, and a second form of the same formula.
_NEVER_CLASSES = frozenset(
    {"mw-editsection", "headerlink", "hash-link", "linenos", "lineno", "linenumbers", "katex-html"}
)

_MENU_WORDS = frozenset(
    {
        "nav",
        "navbar",
        "navbox",
        "navigation",
        "menu",
        "breadcrumb",
        "breadcrumbs",
        "sidebar",
        "toc",
        "pagination",
        "catlinks",
        "printfooter",
    }
)
_CONSENT_WORDS = frozenset({"consent", "gdpr", "onetrust", "cookiebar", "cookiebanner"})
_BANNER_WORDS = frozenset({"banner", "notice", "bar", "popup", "message", "alert", "overlay", "modal", "law"})
_MENU_TAGS = frozenset({"div", "section", "ul", "ol", "table", "td"})
_BLOCK_TAGS = frozenset({"p", "h1", "h2", "h3", "h4", "h5", "h6", "table", "pre"})
_MAIN_TAGS = frozenset({"main", "article"})

_OUTERMOST_MAINS = ".//*[self::main or @role='main'][not(ancestor::*[self::main or @role='main'])]"
_MOSTLY = 0.5


@dataclass(slots=True)
class _Open:
    """An element under way in the walk, with what was met in it so far."""

    inside_main: bool
    chars: int = 0
    link_chars: int = 0
    headlines: int = 0
    blocks: int = 0
    mains: int = 0

    @property
    def is_mostly_links(self) -> bool:
        return self.link_chars > self.chars * _MOSTLY

    def take(self, inner: _Open) -> None:
        self.chars += inner.chars
        self.link_chars += inner.link_chars
        self.headlines += inner.headlines
        self.blocks += inner.blocks
        self.mains += inner.mains


def main_content(page: HtmlElement) -> HtmlElement:
    """Clean the page in place, and return its <main>, its <article>, or, where those hold too little, its body."""
    body = page.find("body")
    if body is None:
        body = page
    for element in [one for one in body.iterdescendants(etree.Element) if _is_never_content(one)]:
        take_out(element, BESIDE)
    for element in list(_beside_content(body)):
        take_out(element, BESIDE)
    for candidates in (body.xpath(_OUTERMOST_MAINS), body.xpath(".//article")):
        # Of several articles none is the page.
        if len(candidates) == 1 and _size(candidates[0]) >= _size(body) * _MOSTLY:
            return candidates[0]
    return body


def _is_never_content(element: HtmlElement) -> bool:
    return (
        element.tag in _NEVER
        or element.get("role", "").strip().lower() in _NEVER_ROLES
        # The name of a menu that a checkbox opens.
        or (element.tag == "label" and element.get("aria-hidden") == "true")
        or not _NEVER_CLASSES.isdisjoint(element.get("class", "").split())
    )


def is_furniture(element: HtmlElement) -> bool:
    """Whether it is something that many pages hide until it is asked for: a menu, a dialog, a message."""
    return (
        _is_never_content(element)
        or element.get("role", "").strip().lower() in _MESSAGE_ROLES
        or element.get("aria-live") is not None
        or not _words(element).isdisjoint(_MENU_WORDS | _CONSENT_WORDS | _BANNER_WORDS | _HINT_WORDS)
        or sum(map(_size, element.iter("a"))) > _size(element) * _MOSTLY
    )


def _beside_content(body: HtmlElement) -> Iterator[HtmlElement]:
    headlines = len(body.xpath(".//h1"))
    path = [_Open(inside_main=False)]
    for event, element in etree.iterwalk(body, events=("start", "end")):
        if event == "start":
            path.append(_Open(path[-1].inside_main or element.tag in _MAIN_TAGS, _length(element.text)))
            continue
        closed = path.pop()
        closed.link_chars = closed.chars if element.tag == "a" else closed.link_chars
        closed.headlines += element.tag == "h1"
        closed.blocks += element.tag in _BLOCK_TAGS
        closed.mains += element.tag in _MAIN_TAGS
        if element is not body and _is_beside(element, closed, headlines):
            yield element
        else:
            path[-1].take(closed)
        path[-1].chars += _length(element.tail)


def _is_beside(element: HtmlElement, closed: _Open, headlines: int) -> bool:
    kind = _KIND_OF_ROLE.get(element.get("role", "").strip().lower(), element.tag)
    if kind == "header":
        # The page's only headline may stand in a header.
        holds_headline = closed.headlines and closed.headlines == headlines
        return not (closed.inside_main or closed.mains or holds_headline)
    if closed.mains or closed.headlines:
        return False
    beside = {
        "footer": closed.is_mostly_links or not closed.inside_main,
        "aside": closed.is_mostly_links,
        # Some servers wrap the whole page in a form.
        "form": not closed.blocks,
    }
    if kind in beside:
        return beside[kind]
    words = _words(element)
    asks_consent = bool(words & _CONSENT_WORDS or (words & {"cookie", "cookies"} and words & _BANNER_WORDS))
    is_menu = element.tag in _MENU_TAGS and bool(words & _MENU_WORDS) and closed.is_mostly_links
    return asks_consent or is_menu


def _words(element: HtmlElement) -> set[str]:
    return set(re.split(r"[^a-z]+", f"{element.get('class', '')} {element.get('id', '')}".lower()))


def _size(element: HtmlElement) -> int:
    return sum(_length(text) for text in element.itertext())


def _length(text: str | None) -> int:
    return len(text.strip()) if text else 0
