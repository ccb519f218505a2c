"""EPUB: the chapters in the order of the spine, each read as the web page that it is. A book has no page numbers."""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from urllib.parse import unquote, urlsplit

from lxml import etree
from lxml.etree import _Element

from citewell.errors import DamagedFile, EmptyFile, PasswordNeeded, UnsupportedFormat
from citewell.loading.archive import UNREADABLE, Unpacking, check_directory
from citewell.loading.bounds import check_tags, check_text
from citewell.loading.html.document import load_html
from citewell.loading.joined import add_elements
from citewell.loading.names import shortened, shown
from citewell.loading.parsed import Parsed, TextBuilder
from citewell.settings import Loading
from citewell.types import ElementKind

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PACKAGE = "application/oebps-package+xml"
# A book with these algorithms hides only its fonts, so that they are not copied.
_FONTS_ONLY = frozenset({"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"})
_PAGES = frozenset({"application/xhtml+xml", "text/html", "text/x-oeb1-document"})
_NCX = "application/x-dtbncx+xml"
_TYPE = "{http://www.idpf.org/2007/ops}type"


def load_epub(data: bytes, name: str, limits: Loading) -> Parsed:
    """Read a book. A chapter without a heading stands under its title in the table of contents.

    Raises:
        PasswordNeeded: its text is encrypted (DRM).
        UnsupportedFormat: its container names no package of EPUB.
        LimitExceeded: too much for `max_inflation`, `max_file_mb` or `max_text_mb`.
        DamagedFile: its parts share their bytes, or those that say what is in it are missing or no XML.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = archive.infolist()
        check_directory(parts, len(data), limits)
        book = _Book(Unpacking(archive, len(data), limits), {part.filename: part for part in parts})
        if _ENCRYPTION in book.parts:
            _check_encryption(book.xml(_ENCRYPTION))
        return _read(book, name, limits)


@dataclass(frozen=True, slots=True)
class _Item:
    """A part of the book that its manifest names."""

    path: str
    kind: str
    properties: frozenset[str]


@dataclass(slots=True)
class _Book:
    """The archive's parts by name."""

    unpacking: Unpacking
    parts: dict[str, zipfile.ZipInfo]
    lost: list[str] = field(default_factory=list)

    def content(self, path: str) -> bytes | None:
        """None, and noted as lost, where the part is missing or damaged."""
        try:
            return b"".join(self.unpacking.steps(self.parts[path]))
        except (KeyError, *UNREADABLE):
            self.lost.append(f"{shortened(shown(path))} is missing or damaged")
            return None

    def xml(self, path: str) -> _Element:
        """No network, no document type, no entities but XML's own.

        Raises:
            DamagedFile: it is missing, or no XML.
        """
        content = self.content(path) or b""
        check_text(len(content), self.unpacking.limits)
        check_tags(content.count(b"<"))
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True)
        try:
            root = etree.fromstring(content, parser=parser)
        except etree.XMLSyntaxError:
            root = None
        if root is None:
            raise DamagedFile(
                f"Its part {shortened(shown(path))} is missing or damaged.",
                remedy="Get the book again from its source.",
            )
        return root


def _check_encryption(root: _Element) -> None:
    algorithms = {method.get("Algorithm", "") for method in root.iterfind(".//{*}EncryptedData/{*}EncryptionMethod")}
    if not algorithms <= _FONTS_ONLY:
        raise PasswordNeeded("The book is encrypted (DRM).", remedy="Index a copy without encryption, if you own one.")


def _read(book: _Book, name: str, limits: Loading) -> Parsed:
    package_path = next(
        (one.get("full-path", "") for one in book.xml(_CONTAINER).iterfind(".//{*}rootfile") if _is_package(one)), ""
    )
    if not package_path:
        raise UnsupportedFormat(
            "It is an archive of a kind that is no EPUB book.", remedy="Save it as EPUB, PDF or DOCX, and index that."
        )
    package = book.xml(package_path)
    items = dict(_manifest(package, posixpath.dirname(package_path)))
    labels = _labels(book, items)
    builder = TextBuilder(limits)
    above: tuple[str, ...] = ()
    suspicious: dict[str, None] = {}
    references = (ref.get("idref", "") for ref in package.iterfind("{*}spine/{*}itemref"))
    # Each page once, however often the spine of a hostile book names it.
    pages = {items[key].path: items[key] for key in references if key in items}
    for item in pages.values():
        chapter = _chapter(book, item, limits)
        if chapter is None:
            continue
        has_headings = any(element.kind is ElementKind.HEADING for element in chapter.elements)
        # A long chapter may be cut into several pages; what has no title goes on with the one before.
        above = () if has_headings else (labels[item.path],) if item.path in labels else above
        add_elements(builder, chapter, above)
        if has_headings:
            above = chapter.elements[-1].heading_path
        suspicious |= dict.fromkeys(chapter.suspicious)
        book.lost += (f"{shortened(shown(item.path))}: {reason}" for reason in chapter.lost)
    title, language, about = _about(package)
    parsed = builder.build(title or PurePath(name).stem, language, about)
    return replace(parsed, lost=tuple(dict.fromkeys(book.lost)), suspicious=tuple(suspicious))


def _is_package(rootfile: _Element) -> bool:
    return bool(rootfile.get("media-type", _PACKAGE) == _PACKAGE)


def _chapter(book: _Book, item: _Item, limits: Loading) -> Parsed | None:
    """None for what is no page, for the page that is the table of contents, and for one without text."""
    if item.kind not in _PAGES or "nav" in item.properties:
        return None
    content = book.content(item.path)
    try:
        return load_html(content, item.path, limits) if content else None
    except EmptyFile:
        return None
    except DamagedFile as error:
        book.lost.append(f"{shortened(shown(item.path))}: {error.message}")
        return None


def _manifest(package: _Element, folder: str) -> Iterator[tuple[str, _Item]]:
    for one in package.iterfind("{*}manifest/{*}item"):
        properties = frozenset(one.get("properties", "").split())
        yield one.get("id", ""), _Item(_target(folder, one.get("href", "")), one.get("media-type", ""), properties)


def _target(folder: str, href: str) -> str:
    """The name of the part that a reference means, as seen from a folder of the archive."""
    try:
        path = urlsplit(href).path
    except ValueError:  # what looks like a broken address
        path = href
    return posixpath.normpath(posixpath.join(folder, unquote(path)))


def _labels(book: _Book, items: dict[str, _Item]) -> dict[str, str]:
    """The titles in the table of contents, by the page that they lead to."""
    found: dict[str, str] = {}
    for item in items.values():
        if "nav" not in item.properties and item.kind != _NCX:
            continue
        folder = posixpath.dirname(item.path)
        try:
            root = book.xml(item.path)
        except DamagedFile:
            continue  # noted as lost where it is missing; the chapters have headings too
        entries = _ncx_entries(root) if item.kind == _NCX else _nav_entries(root)
        for href, label in entries:
            if href and label:
                found.setdefault(_target(folder, href), label)
    return found


def _nav_entries(root: _Element) -> Iterator[tuple[str, str]]:
    for nav in root.iterfind(".//{*}nav"):
        if nav.get(_TYPE, "toc") == "toc":
            for link in nav.iterfind(".//{*}a"):
                yield link.get("href", ""), " ".join("".join(link.itertext()).split())


def _ncx_entries(root: _Element) -> Iterator[tuple[str, str]]:
    for point in root.iterfind(".//{*}navPoint"):
        content = point.find("{*}content")
        label = " ".join(point.findtext("{*}navLabel/{*}text", default="").split())
        yield content.get("src", "") if content is not None else "", label


def _about(package: _Element) -> tuple[str, str, dict[str, str]]:
    """Title, language and metadata, as the package has them (Dublin Core)."""

    def texts(name: str) -> list[str]:
        found = (" ".join("".join(one.itertext()).split()) for one in package.iterfind(f"{{*}}metadata//{{*}}{name}"))
        return [text for text in found if text]

    modified = (
        one.text for one in package.iterfind("{*}metadata/{*}meta") if one.get("property") == "dcterms:modified"
    )
    about = {
        "author": "; ".join(texts("creator")),
        "created": next(iter(texts("date")), ""),
        "modified": next((text.strip() for text in modified if text), ""),
    }
    return next(iter(texts("title")), ""), next(iter(texts("language")), ""), about
