from __future__ import annotations

import io
import random
import zipfile

import pytest

from citewell.errors import DamagedFile, EmptyFile, PasswordNeeded, UnsupportedFormat
from citewell.loading.formats import Format, detect


def zipped(*names: str) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in names:
            archive.writestr(name, "content")
    return target.getvalue()


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
    ],
)
def test_known_formats(data: bytes, name: str, expected: Format) -> None:
    assert detect(data, name) is expected


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        (zipped("ppt/presentation.xml"), "a.pptx", "PPTX"),
        (zipped("xl/workbook.xml"), "a.xlsx", "XLSX"),
        (zipped("mimetype", "META-INF/container.xml"), "a.epub", "EPUB"),
        (zipped("mimetype", "META-INF/manifest.xml", "content.xml"), "a.odt", "OpenDocument"),
        (zipped("a.txt"), "a.docx", "zip archive"),
        (b"\x7fELF\x02\x01\x01" + bytes(9), "a.txt", "ELF"),
        (b"\x89PNG\r\n\x1a\n" + bytes(20), "a.md", "PNG"),
        (b"\xff\xd8\xff\xe0" + bytes(20), "a", "JPEG"),
        (b"\x1f\x8b\x08" + bytes(20), "a.txt.gz", "gzip"),
        (b"\x00\x00\x00\x18ftypmp42" + bytes(20), "a.mp4", "MP4"),
        (bytes(257) + b"ustar" + bytes(200), "a.tar", "tar"),
        (b"SQLite format 3\x00" + bytes(20), "a.db", "SQLite"),
        (b"{\\rtf1 text}", "a.rtf", "RTF"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "a.doc", "older Office"),
        (b"Subject: x\n\ntext", "a.eml", "e-mail"),
        (b"Received: by x\nFrom: a\nSubject: x\n\ntext", "a.txt", "e-mail"),
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
    data = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500) + "EncryptedPackage".encode("utf-16-le")
    with pytest.raises(PasswordNeeded):
        detect(data, "a.docx")


def test_a_zip_that_was_cut_off_is_damaged() -> None:
    with pytest.raises(DamagedFile):
        detect(zipped("word/document.xml")[:-30], "a.docx")


def test_a_row_of_comments_is_read_once() -> None:
    # Read in every way that it can be cut, it would not end before the test's time limit.
    assert detect(b"<!-- x -->\n" * 5_000 + b"notes", "notes.xyz") is Format.PLAIN
    assert detect(b"<!-- x -->\n" * 5_000 + b"<html><p>x", "notes.xyz") is Format.HTML
