"""What a web page says about itself: its title, its language, who wrote it and when. Not to be trusted."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

from citewell.loading.html.text import pieces
from citewell.loading.office.properties import iso_day
from citewell.loading.tables import cell_text

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")
_KEYS = {
    **dict.fromkeys(("author", "article:author", "dc.creator", "dcterms.creator", "citation_author"), "author"),
    **dict.fromkeys(
        ("article:published_time", "datepublished", "dcterms.created", "dcterms.issued", "dc.date", "dcterms.date"),
        "created",
    ),
    **dict.fromkeys(("date", "pubdate", "citation_publication_date"), "created"),
    **dict.fromkeys(("article:modified_time", "og:updated_time", "datemodified", "dcterms.modified"), "modified"),
    **dict.fromkeys(("last-modified", "revised"), "modified"),
}
_MOST_AUTHORS = 10
_LONGEST = 500


def title_of(page: HtmlElement) -> str:
    """The <title>, else the first h1, else ""."""
    title = " ".join(page.findtext(".//title", default="").split())
    headline = page.find(".//h1")
    return title or (cell_text(pieces(headline)) if headline is not None else "")


def language_of(page: HtmlElement, content: HtmlElement) -> str:
    """The language tag of the content, or of what it stands in; "" where none is given."""
    places = [content, *content.iterancestors()]
    declared = page.xpath("//meta[translate(@http-equiv, 'CONTELAGU', 'contelagu') = 'content-language']/@content")
    for tag in (*(place.get("lang") or place.get("xml:lang") or "" for place in places), *declared):
        if _LANGUAGE.fullmatch(tag.strip()):
            return str(tag.strip())
    return ""


def metadata_of(page: HtmlElement) -> dict[str, str]:
    """`author`, `created` and `modified` from the meta tags, each where the page has it; a day as "2024-01-31"."""
    authors: dict[str, None] = {}
    found: dict[str, str] = {}
    for meta in page.iter("meta"):
        name = meta.get("name") or meta.get("property") or meta.get("itemprop") or meta.get("http-equiv") or ""
        key = _KEYS.get(name.strip().lower(), "")
        value = " ".join(meta.get("content", "").split())[:_LONGEST]
        # Some give the address of a profile.
        if key == "author" and value and not value.startswith(("http:", "https:")):
            authors[value] = None
        elif key and key != "author" and key not in found and iso_day(value):
            found[key] = iso_day(value)
    named = list(authors)[:_MOST_AUTHORS]
    return {**({"author": ", ".join(named)} if named else {}), **found}
