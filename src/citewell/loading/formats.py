"""What a file is: told by its bytes. Its name only decides between kinds of text."""

from __future__ import annotations

import io
import re
import zipfile
from enum import StrEnum
from pathlib import PurePath

from citewell.errors import DamagedFile, EmptyFile, PasswordNeeded, UnsupportedFormat
from citewell.loading.encoding import is_binary


class Format(StrEnum):
    """The formats with a loader."""

    PLAIN = "plain"
    CSV = "csv"
    MARKDOWN = "markdown"
    HTML = "html"
    CODE = "code"
    PDF = "pdf"
    DOCX = "docx"
    PPTX = "pptx"
    SHEETS = "sheets"
    MAIL = "mail"
    OUTLOOK = "outlook"
    EPUB = "epub"
    RTF = "rtf"
    JSON = "json"
    IMAGE = "image"
    ZIP = "zip"


_CODE_ENDINGS = frozenset(
    """
    py pyi js mjs cjs jsx ts tsx java kt scala groovy c h cc cpp cxx hpp hh cs go rs rb php pl pm lua r jl swift
    m mm sh bash zsh fish ps1 bat sql toml yaml yml json jsonl ini cfg conf xml xsl xsd proto graphql css scss
    less vue tf gradle cmake mk dart ex exs erl hs ml clj el vim asm s f90 cob vb
    """.split()  # noqa: SIM905  Words read better as words.
)
_TEXT_FORMATS = {
    **dict.fromkeys(_CODE_ENDINGS, Format.CODE),
    **dict.fromkeys(("md", "markdown", "mdown", "mkd"), Format.MARKDOWN),
    **dict.fromkeys(("html", "htm", "xhtml"), Format.HTML),
    **dict.fromkeys(("csv", "tsv"), Format.CSV),
}
_CODE_NAMES = frozenset({"makefile", "dockerfile", "jenkinsfile", "rakefile", "gemfile"})

_KNOWN_STARTS = (
    (b"\x7fELF", "a program (ELF)"),
    (b"MZ", "a Windows program"),
    (b"\xca\xfe\xba\xbe", "a Java class or macOS program"),
    (b"\xcf\xfa\xed\xfe", "a macOS program"),
    (b"\x00asm", "a WebAssembly module"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x89PNG\r\n\x1a\n", "an image (PNG)"),
    (b"\xff\xd8\xff", "an image (JPEG)"),
    (b"GIF87a", "an image (GIF)"),
    (b"GIF89a", "an image (GIF)"),
    (b"II*\x00", "an image (TIFF)"),
    (b"MM\x00*", "an image (TIFF)"),
    (b"8BPS", "an image (Photoshop)"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"PAR1", "a Parquet table"),
    (b"{\\rtf", "an RTF document"),
    (b"%!PS", "a PostScript document"),
    (b"fLaC", "a sound recording (FLAC)"),
    (b"OggS", "a sound recording (Ogg)"),
    (b"ID3", "a sound recording (MP3)"),
)
# These begin like something else or with a length; their mark stands further in.
_KNOWN_MARKS = (
    (4, b"ftyp", "a video or image (MP4, HEIC)"),
    (8, b"WEBP", "an image (WebP)"),
    (8, b"WAVE", "a sound recording (WAV)"),
    (8, b"AVI ", "a video (AVI)"),
    (257, b"ustar", "a tar archive"),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_ZIP_CONTENTS = (
    ("ppt/presentation.xml", "a presentation (PPTX)"),
    ("xl/workbook.xml", "a spreadsheet (XLSX)"),
    ("xl/workbook.bin", "a spreadsheet (XLSB)"),
    ("META-INF/container.xml", "an e-book (EPUB)"),
    ("META-INF/MANIFEST.MF", "a Java archive"),
    ("mimetype", "an OpenDocument file"),
)
_PDF_MARK = b"%PDF-"
_PDF_MARK_WITHIN = 1024
_HTML_START = re.compile(
    # Atomic groups: a row of comments is read once, not in every way that it can be cut.
    rb"(?:\xef\xbb\xbf)?\s*+(?>(?:<\?xml[^>]*+>\s*+|<!--(?>.*?-->)\s*+)*)<(?:!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
_MAIL_HEADER = re.compile(rb"^([A-Za-z][A-Za-z-]*):[ \t]", re.MULTILINE)
_MAIL_ONLY = {b"mime-version", b"message-id", b"received", b"return-path", b"delivered-to"}


def detect(data: bytes, name: str) -> Format:
    """The format of the file's bytes; `name` decides only between Markdown, HTML, tables, code and plain text.

    Raises:
        EmptyFile: no bytes, or white space only.
        UnsupportedFormat: no loader; the message names what the file is.
        PasswordNeeded: an encrypted Office file.
        DamagedFile: a zip archive whose directory cannot be read.
    """
    if not data or data.isspace():
        raise EmptyFile("The file is empty.", remedy="Put content in it, or leave it out.")
    if _is_pdf(data):
        return Format.PDF
    if data.startswith(_ZIP):
        return _zip_format(data)
    if data.startswith(_OLE):
        raise _office_file(data)
    _refuse_known(data)
    if is_binary(data):
        raise _unsupported("binary data of an unknown kind")
    return _text_format(data, name)


def _is_pdf(data: bytes) -> bool:
    """Readers take the mark after up to 1,024 bytes of anything; a text about PDF may hold it there too."""
    if data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(_PDF_MARK):
        return True
    return _PDF_MARK in data[:_PDF_MARK_WITHIN] and is_binary(data)


def _zip_format(data: bytes) -> Format:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OverflowError) as error:
        raise DamagedFile(
            f"The zip archive cannot be read: {error}.", remedy="Open and save it again in the program that made it."
        ) from None
    if "word/document.xml" in names:
        return Format.DOCX
    for inside, kind in _ZIP_CONTENTS:
        if inside in names:
            raise _unsupported(kind)
    raise _unsupported("a zip archive")


def _office_file(data: bytes) -> UnsupportedFormat | PasswordNeeded:
    if "EncryptedPackage".encode("utf-16-le") in data:
        return PasswordNeeded(
            "It is an Office file with a password.", remedy="Save a copy without the password and index that."
        )
    return _unsupported("an older Office file (.doc, .xls, .ppt or .msg)")


def _refuse_known(data: bytes) -> None:
    for start, kind in _KNOWN_STARTS:
        # A text may well begin with letters such as MZ.
        if data.startswith(start) and (not start.isalnum() or is_binary(data)):
            raise _unsupported(kind)
    for offset, mark, kind in _KNOWN_MARKS:
        if data[offset : offset + len(mark)] == mark and is_binary(data):
            raise _unsupported(kind)


def _text_format(data: bytes, name: str) -> Format:
    path = PurePath(name.lower())
    ending = path.suffix.removeprefix(".")
    if ending == "eml" or _is_mail(data):
        raise _unsupported("an e-mail message")
    if ending in _TEXT_FORMATS:
        return _TEXT_FORMATS[ending]
    if path.name in _CODE_NAMES or data.startswith(b"#!"):
        return Format.CODE
    return Format.HTML if _HTML_START.match(data) else Format.PLAIN


def _is_mail(data: bytes) -> bool:
    """Whether it has a header that only mail programs write; a memo may have From, To and Subject lines."""
    head = re.split(rb"\r?\n\r?\n", data[:16_384], maxsplit=1)[0]
    names = {found.lower() for found in _MAIL_HEADER.findall(head)}
    return _MAIL_HEADER.match(head) is not None and b"from" in names and not names.isdisjoint(_MAIL_ONLY)


def _unsupported(kind: str) -> UnsupportedFormat:
    return UnsupportedFormat(
        f"It is {kind}, which cannot be read yet.",
        remedy="Save it as PDF, DOCX, HTML, Markdown or text, and index that.",
    )
