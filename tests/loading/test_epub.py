from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

import pytest

from citewell.errors import DamagedFile, LimitExceeded, PasswordNeeded, UnsupportedFormat
from citewell.loading.epub import load_epub
from citewell.loading.formats import Format, detect
from citewell.loading.parsed import Parsed
from citewell.settings import Loading
from citewell.types import ElementKind
from tests.loading.checks import of_kind, path_of

CONTAINER = (
    '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
    '<rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
ABOUT = (
    "<dc:title>The Night Desk</dc:title><dc:creator>Ann Writer</dc:creator><dc:creator>Bo Helper</dc:creator>"
    "<dc:language>en-GB</dc:language><dc:date>2021-05-04</dc:date>"
    '<meta property="dcterms:modified">2022-01-02T03:04:05Z</meta>'
)
PAGES = {
    "cover.xhtml": "<img src='cover.png'/>",
    "chapter 1.xhtml": "<h1>Duties</h1><p>The officer on duty writes it down.</p><h2>Papers</h2><p>All are kept.</p>",
    "chapter2.xhtml": "<p>This page of the second part has no heading at all.</p>",
    "chapter2b.xhtml": "<p>It goes on here, on a page of its own, as long chapters do.</p>",
    "notes.xhtml": "<aside epub:type='footnote'><p>Hours are those of the clock in the hall.</p></aside>",
}
NAV = (
    "<nav epub:type='toc'><ol><li><a href='chapter%201.xhtml'>Duties</a></li>"
    "<li><a href='chapter2.xhtml#start'>The <i>second</i> part</a></li></ol></nav>"
    "<nav epub:type='page-list'><ol><li><a href='notes.xhtml#p9'>9</a></li></ol></nav>"
)
NCX = (
    '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint>'
    '<navLabel><text>The second part</text></navLabel><content src="chapter2.xhtml"/></navPoint></navMap></ncx>'
)


def page(body: str) -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head><title>x</title></head><body>{body}</body></html>'
    )


def package(about: str = ABOUT, extra: str = "", spine: str = "") -> str:
    names = list(PAGES)
    kind = "application/xhtml+xml"
    items = "".join(
        f'<item id="i{place}" href="Text/{name.replace(" ", "%20")}" media-type="{kind}"/>'
        for place, name in enumerate(names)
    )
    refs = "".join(f'<itemref idref="i{place}"/>' for place in range(len(names)))
    return (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/">{about}</metadata><manifest>{items}{extra}'
        f"</manifest><spine>{spine}{refs}</spine></package>"
    )


NAV_ITEM = '<item id="nav" href="Text/nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'


def book(parts: Mapping[str, str | bytes | None] | None = None) -> bytes:
    """A book, with `parts` in place of those of the same name; None leaves one out."""
    own: dict[str, str | bytes | None] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/content.opf": package(extra=NAV_ITEM, spine='<itemref idref="nav"/>'),
        "OEBPS/Text/nav.xhtml": page(NAV),
        **{f"OEBPS/Text/{name}": page(body) for name, body in PAGES.items()},
    }
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**own, **(parts or {})}.items():
            if content is not None:
                archive.writestr(name, content)
    return target.getvalue()


def read(parts: Mapping[str, str | bytes | None] | None = None, **limits: object) -> Parsed:
    data = book(parts)
    assert detect(data, "a.zip") is Format.EPUB
    return load_epub(data, "book.epub", Loading.model_validate(limits))


def test_chapters_in_the_order_of_the_spine() -> None:
    parsed = read()
    assert parsed.title == "The Night Desk"
    assert parsed.language == "en-GB"
    assert parsed.metadata == {
        "author": "Ann Writer; Bo Helper",
        "created": "2021-05-04",
        "modified": "2022-01-02T03:04:05Z",
    }
    assert of_kind(parsed, ElementKind.HEADING) == ["Duties", "Papers"]
    places = [parsed.text.index(text) for text in ("The officer", "All are kept", "This page", "It goes on", "Hours")]
    assert places == sorted(places)
    assert parsed.pages == ()
    assert parsed.lost == ()


def test_chapters_without_headings_stand_under_their_title_in_the_contents() -> None:
    ncx = package(extra='<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>')
    old = read({"OEBPS/content.opf": ncx, "OEBPS/toc.ncx": NCX.replace("chapter2", "Text/chapter2")})
    for parsed in (read(), old):
        assert path_of(parsed, "The officer") == ("Duties",)
        assert path_of(parsed, "All are kept") == ("Duties", "Papers")
        assert path_of(parsed, "This page of the second part") == ("The second part",)
        assert path_of(parsed, "It goes on here") == ("The second part",)
        assert "second part" not in parsed.text.replace("page of the second part", "")


def test_missing_and_damaged_chapters_are_named() -> None:
    parsed = read({"OEBPS/Text/chapter 1.xhtml": None})
    assert parsed.lost == ("OEBPS/Text/chapter 1.xhtml is missing or damaged",)
    cut = read({"OEBPS/Text/chapter2.xhtml": page("<div>It ends <b>here</b> and")[: -len("</body></html>")]})
    assert cut.lost == ("OEBPS/Text/chapter2.xhtml: it ends before its elements do, and may be cut short",)
    assert "This page" in parsed.text
    deep = read({"OEBPS/Text/chapter2.xhtml": page("<b>" * 5_000 + "x")})
    assert deep.lost[0].startswith("OEBPS/Text/chapter2.xhtml: ")
    assert "The officer" in deep.text


def test_a_book_without_metadata_is_called_as_its_file() -> None:
    parsed = read({"OEBPS/content.opf": package(about="")})
    assert (parsed.title, parsed.language, parsed.metadata) == ("book", "", {})


def encryption(algorithm: str) -> str:
    return (
        '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:e="http://www.w3.org/2001/04/xmlenc#">'
        f'<e:EncryptedData><e:EncryptionMethod Algorithm="{algorithm}"/></e:EncryptedData></encryption>'
    )


def test_encrypted_text_and_encrypted_fonts() -> None:
    with pytest.raises(PasswordNeeded, match="DRM"):
        read({"META-INF/encryption.xml": encryption("http://www.w3.org/2001/04/xmlenc#aes128-cbc")})
    assert "The officer" in read({"META-INF/encryption.xml": encryption("http://www.idpf.org/2008/embedding")}).text


def test_what_is_no_book() -> None:
    with pytest.raises(UnsupportedFormat):
        read({"META-INF/container.xml": CONTAINER.replace("oebps-package", "other")})
    for content in ("", "no XML", None):
        with pytest.raises(DamagedFile, match=r"content\.opf is missing or damaged"):
            read({"OEBPS/content.opf": content})


def test_entities_are_not_resolved() -> None:
    lines = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    bomb = f'<!DOCTYPE package [<!ENTITY e0 "boom"><!ENTITY f SYSTEM "file:///etc/passwd">{lines}]>'
    parsed = read({"OEBPS/content.opf": bomb + package(about="<dc:title>x&f;y&e11;</dc:title>")})
    assert "root:" not in parsed.title
    assert "boom" not in parsed.title
    evil = f"{bomb.replace('package', 'html')}<html><body><p>The words a&f;b&e11; of it.</p></body></html>"
    text = read({"OEBPS/Text/chapter2.xhtml": evil}).text
    assert "root:" not in text
    assert len(text) < 1_000


def test_bombs_are_refused() -> None:
    with pytest.raises(LimitExceeded, match="max_inflation"):
        read({"OEBPS/Text/chapter2.xhtml": page("<p>words</p>" * 200_000)})
    again = package().replace("<itemref", '<itemref idref="i1"/>' * 1_000 + "<itemref", 1)
    assert read({"OEBPS/content.opf": again}).text.count("The officer on duty") == 1
    same = "".join(f'<item id="s{n}" href="Text/chapter2.xhtml" media-type="text/html"/>' for n in range(2_000))
    refs = "".join(f'<itemref idref="s{n}"/>' for n in range(2_000))
    parts = {"OEBPS/content.opf": package(extra=same, spine=refs)}
    assert read(parts).text.count("This page of the second part") == 1


def test_references_that_lead_out_of_the_book() -> None:
    hrefs = {"x": "../../../etc/passwd", "y": "//["}
    extra = "".join(f'<item id="{key}" href="{href}" media-type="text/html"/>' for key, href in hrefs.items())
    parsed = read({"OEBPS/content.opf": package(extra=extra, spine='<itemref idref="x"/><itemref idref="y"/>')})
    assert "root:" not in parsed.text
    assert len(parsed.lost) == 2
