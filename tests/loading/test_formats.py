from __future__ import annotations

import io
import random
import zipfile

import pytest
from aspose.email_foss import cfb, msg
from PIL import Image

from citewell.errors import DamagedFile, EmptyFile, PasswordNeeded, UnsupportedFormat
from citewell.loading.formats import Format, detect


def zipped(*names: str, mime: str = "") -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        if mime:
            archive.writestr("mimetype", mime)
        for name in names:
            archive.writestr(name, "content")
    return target.getvalue()


def ole(*streams: str) -> bytes:
    root = cfb.CFBStorage("Root Entry")
    for name in streams:
        root.add_stream(cfb.CFBStream(name, b"content"))
    return bytes(cfb.CFBWriter.to_bytes(cfb.CFBDocument(root=root)))


def picture(kind: str) -> bytes:
    target = io.BytesIO()
    Image.new("RGB", (8, 8), "white").save(target, kind)
    return target.getvalue()


OPEN_DOCUMENT = "application/vnd.oasis.opendocument."


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (b"# Title", "a.md", Format.MARKDOWN),
        (b"plain words", "a.txt", Format.PLAIN),
        (b"plain words", "README", Format.PLAIN),
        (b"plain words", "notes.unheard-of", Format.PLAIN),
        (b"<p>x</p>", "a.HTM", Format.HTML),
        (b"\xef\xbb\xbf <!-- saved -->\n<!DOCTYPE html><html></html>", "a.txt", Format.HTML),
        (b"<html lang='en'>", "page", Format.HTML),
        (b"<html> in a sentence about Markdown", "a.md", Format.MARKDOWN),
        (b"<html><body><p>x</p></body></html>\n", "a.md", Format.HTML),
        (b"<!DOCTYPE html>\n<html><p>x</html>\n<!-- end -->\n", "a.csv", Format.HTML),
        (b"<html><?php echo 1 ?></html>", "a.php", Format.CODE),
        (b'[{"a": 1}, {"a": 2}]', "a.csv", Format.JSON),
        (b'{"a": 1}', "a.html", Format.JSON),
        (b"Two lines\n\nwithout a tag, 1 < 2.", "a.html", Format.PLAIN),
        ("<p>x</p>".encode("utf-16"), "a.html", Format.HTML),
        (b"a,b", "a.csv", Format.CSV),
        (b"x = 1", "a.py", Format.CODE),
        (b"all:\n\ttrue", "Makefile", Format.CODE),
        (b"#!/bin/sh\n", "run", Format.CODE),
        (b"%PDF-1.7\n", "a.txt", Format.PDF),
        (b"\r\n%PDF-1.7\n", "a", Format.PDF),
        (b"junk\x00\x01" * 20 + b"%PDF-1.7\n", "a.pdf", Format.PDF),
        (b"A PDF begins with %PDF-1.7 as a rule.", "a.txt", Format.PLAIN),
        (b"MZ is what a program begins with.", "a.txt", Format.PLAIN),
        (b"From: A\nTo: B\nSubject: a memo\n\nText", "memo.txt", Format.PLAIN),
        ("ein Text".encode("utf-16-le"), "a.txt", Format.PLAIN),
        (zipped("[Content_Types].xml", "word/document.xml"), "renamed.zip", Format.DOCX),
        (zipped("[Content_Types].xml", "ppt/presentation.xml"), "a.txt", Format.PPTX),
        (zipped("[Content_Types].xml", "xl/workbook.xml"), "a.txt", Format.SHEETS),
        (zipped("[Content_Types].xml", "xl/workbook.bin"), "a.xlsb", Format.SHEETS),
        (zipped("content.xml", mime=OPEN_DOCUMENT + "spreadsheet"), "a.ods", Format.SHEETS),
        (zipped("content.opf", mime="application/epub+zip"), "a", Format.EPUB),
        (zipped("META-INF/container.xml"), "a.zip", Format.EPUB),
        (zipped("a.txt"), "a.docx", Format.ZIP),
        (zipped("a.txt", mime="a file that only has this name"), "a", Format.ZIP),
        (zipped(), "a", Format.ZIP),
        (ole("Workbook"), "a", Format.SHEETS),
        (ole("Book", "\x05SummaryInformation"), "a.xls", Format.SHEETS),
        (msg.MapiMessage.create("Subject", "Body").to_bytes(), "a.bin", Format.OUTLOOK),
        (b"{\\rtf1 text}", "a.txt", Format.RTF),
        (b"\xef\xbb\xbf\r\n{\\rtf1 text}", "a.doc", Format.RTF),
        *((picture(kind), "a.txt", Format.IMAGE) for kind in ("PNG", "JPEG", "TIFF", "BMP", "WEBP")),
        (b"Subject: x\n\ntext", "a.eml", Format.MAIL),
        (b"Received: by x\nFrom: a\nSubject: x\n\ntext", "a.txt", Format.MAIL),
        (b'{"a": 1}', "a.json", Format.JSON),
        (b'{"a": 1', "a.jsonl", Format.JSON),
        (b' [{"a": 1}]', "response", Format.JSON),
        (b'{"a": 1}\n{"a": 2}\n{"a": 3', "log.txt", Format.JSON),
        (b"[1] A. Author, a book.", "references.txt", Format.PLAIN),
        (b'{"a": 1}', "a.md", Format.MARKDOWN),
        (b"[" * 100_000, "a.txt", Format.PLAIN),
        (b"BM is an old sign.\n", "a.txt", Format.PLAIN),
    ],
)
def test_known_formats(data: bytes, name: str, expected: Format) -> None:
    assert detect(data, name) is expected


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        (zipped("content.xml", mime=OPEN_DOCUMENT + "text"), "a.odt", "OpenDocument"),
        (zipped("META-INF/MANIFEST.MF", "a.class"), "a.jar", "Java archive"),
        (zipped("META-INF/MANIFEST.MF", "AndroidManifest.xml"), "a.apk", "Android"),
        (zipped("[Content_Types].xml", "visio/document.xml"), "a.vsdx", "Office file"),
        (ole("WordDocument", "1Table"), "a.doc", "older Word"),
        (ole("PowerPoint Document"), "a.ppt", "older presentation"),
        (ole("Contents"), "a", "older Office"),
        (picture("GIF"), "a.gif", "GIF"),
        (b"From a@b.example Sat Jan  3 01:05:34 1996\nFrom: a@b.example\n\ntext\n", "a.mbox", "mailbox"),
        (b"\x7fELF\x02\x01\x01" + bytes(9), "a.txt", "ELF"),
        (b"\x1f\x8b\x08" + bytes(20), "a.txt.gz", "gzip"),
        (b"\x00\x00\x00\x18ftypmp42" + bytes(20), "a.mp4", "MP4"),
        (bytes(257) + b"ustar" + bytes(200), "a.tar", "tar"),
        (b"SQLite format 3\x00" + bytes(20), "a.db", "SQLite"),
        (random.Random(7).randbytes(1024), "random.txt", "binary data"),
    ],
)
def test_refusals_name_what_it_is(data: bytes, name: str, kind: str) -> None:
    with pytest.raises(UnsupportedFormat, match=kind):
        detect(data, name)


@pytest.mark.parametrize("data", [b"", b" \n\t\r\n"])
def test_nothing_is_empty_whatever_its_name(data: bytes) -> None:
    with pytest.raises(EmptyFile):
        detect(data, "a.pdf")


def test_an_encrypted_office_file_asks_for_a_password() -> None:
    with pytest.raises(PasswordNeeded):
        detect(ole("EncryptedPackage", "EncryptionInfo"), "a.docx")


def test_a_zip_that_was_cut_off_is_damaged() -> None:
    with pytest.raises(DamagedFile):
        detect(zipped("word/document.xml")[:-30], "a.docx")


def test_an_older_office_file_without_a_directory_is_damaged() -> None:
    with pytest.raises(DamagedFile, match="directory"):
        detect(ole("Workbook")[:512] + b"\xff" * 2_000, "a.xls")


def test_a_mail_of_a_mailbox_that_was_saved_alone_is_a_mail() -> None:
    data = b"From a@b.example Sat Jan  3 01:05:34 1996\nFrom: a@b.example\n\ntext\n"
    assert detect(data, "a.eml") is Format.MAIL


def test_a_row_of_comments_is_read_once() -> None:
    # Read in every way that it can be cut, it would not end before the test's time limit.
    assert detect(b"<!-- x -->\n" * 5_000 + b"notes", "notes.xyz") is Format.PLAIN
    assert detect(b"<!-- x -->\n" * 5_000 + b"<html><p>x", "notes.xyz") is Format.HTML


def test_an_archive_that_begins_with_a_pdf_is_an_archive() -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("plan.pdf", b"%PDF-1.7\n\xff\xfe and so on")
    assert detect(target.getvalue(), "a.zip") is Format.ZIP
