"""What a file is: told by its bytes. Its name only decides between kinds of text."""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
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
    m mm sh bash zsh fish ps1 bat sql toml yaml yml ini cfg conf xml xsl xsd proto graphql css scss
    less vue tf gradle cmake mk dart ex exs erl hs ml clj el vim asm s f90 cob vb ipynb
    """.split()  # noqa: SIM905  Words read better as words.
)
TEXT_FORMATS = {
    **dict.fromkeys(_CODE_ENDINGS, Format.CODE),
    **dict.fromkeys(("md", "markdown", "mdown", "mkd", "mkdn", "mdx", "qmd", "rmd"), Format.MARKDOWN),
    **dict.fromkeys(("html", "htm", "xhtml"), Format.HTML),
    **dict.fromkeys(("csv", "tsv"), Format.CSV),
    **dict.fromkeys(("json", "jsonl", "ndjson"), Format.JSON),
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
    (b"GIF87a", "an image (GIF)"),
    (b"GIF89a", "an image (GIF)"),
    (b"8BPS", "an image (Photoshop)"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"PAR1", "a Parquet table"),
    (b"%!PS", "a PostScript document"),
    (b"fLaC", "a sound recording (FLAC)"),
    (b"OggS", "a sound recording (Ogg)"),
    (b"ID3", "a sound recording (MP3)"),
    (b"!BDN", "a mailbox (PST)"),
)
# These begin like something else or with a length; their mark stands further in.
_KNOWN_MARKS = (
    (4, b"ftyp", "a video or image (MP4, HEIC)"),
    (8, b"WAVE", "a sound recording (WAV)"),
    (8, b"AVI ", "a video (AVI)"),
    (257, b"ustar", "a tar archive"),
)
_IMAGE = re.compile(
    rb"\x89PNG\r\n\x1a\n | \xff\xd8\xff | II[*+]\0 | MM\0[*+] | RIFF.{4}WEBP | BM.{4}\0{4}", re.DOTALL | re.VERBOSE
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_FORMATS = {
    "__properties_version1.0": Format.OUTLOOK,
    "workbook": Format.SHEETS,
    "book": Format.SHEETS,  # before 1997
}
_OLE_ENCRYPTED = "encryptedpackage"
_OLE_OTHERS = {
    "worddocument": "an older Word document (.doc)",
    "powerpoint document": "an older presentation (.ppt)",
    "visiodocument": "a Visio drawing",
}
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_ZIP_FORMATS = {
    "word/document.xml": Format.DOCX,
    "ppt/presentation.xml": Format.PPTX,
    "xl/workbook.xml": Format.SHEETS,
    "xl/workbook.bin": Format.SHEETS,
    "META-INF/container.xml": Format.EPUB,
}
_MIME_FORMATS = {
    "application/epub+zip": Format.EPUB,
    "application/vnd.oasis.opendocument.spreadsheet": Format.SHEETS,
    "application/vnd.oasis.opendocument.spreadsheet-template": Format.SHEETS,
}
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
_LONGEST_MIME = 200
# What is no folder of documents, though it is a zip.
_ZIP_OTHERS = {
    "AndroidManifest.xml": "an Android program",
    "META-INF/MANIFEST.MF": "a Java archive",
    "[Content_Types].xml": "an Office file that is no document, spreadsheet or presentation",
    "Index/Document.iwa": "an Apple document (Pages, Numbers or Keynote)",
}
_PDF_MARK = b"%PDF-"
_PDF_MARK_WITHIN = 1024
_RTF_MARK = b"{\\rtf"
_HTML_START = re.compile(
    # Atomic groups: a row of comments is read once, not in every way that it can be cut.
    rb"(?:\xef\xbb\xbf)?\s*+(?>(?:<\?xml[^>]*+>\s*+|<!--(?>.*?-->)\s*+)*)<(?:!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
_HTML_END = re.compile(rb"</html\s*+>(?>\s*+<!--(?>.*?-->))*+\s*+\Z", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(rb"<[A-Za-z!/?]")
_MAIL_HEADER = re.compile(rb"^([A-Za-z][A-Za-z-]*):[ \t]", re.MULTILINE)
_MAIL_ONLY = {b"mime-version", b"message-id", b"received", b"return-path", b"delivered-to"}
_MAILBOX_START = re.compile(rb"From \S+ +(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [^\n]*\d{4}[^\n]*\n[A-Za-z-]+:")
_JSON_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*+[\[{]")
_LONGEST_JSON_TOLD = 10_000_000  # bytes; to tell, it is parsed


def detect(data: bytes, name: str) -> Format:
    """The format of the file's bytes; `name` decides only between Markdown, HTML, tables, code, JSON, mail and plain
    text.

    Raises:
        EmptyFile: no bytes, or white space only.
        UnsupportedFormat: no loader; the message names what the file is.
        PasswordNeeded: an encrypted Office file.
        DamagedFile: a zip archive or older Office file whose directory cannot be read.
    """
    if not data or data.isspace():
        raise EmptyFile("The file is empty.", remedy="Put content in it, or leave it out.")
    marked = _marked_format(data)
    if marked is not None:
        return marked
    _refuse_known(data)
    if not is_binary(data):
        return _text_format(data, name)
    # Readers take the mark after up to 1,024 bytes of anything but what is another format, or a text about PDF.
    if _PDF_MARK in data[:_PDF_MARK_WITHIN]:
        return Format.PDF
    raise _unsupported("binary data of an unknown kind")


def _marked_format(data: bytes) -> Format | None:
    """The format of a file that begins with its format's mark."""
    if data.startswith(_ZIP):
        return _zip_format(data)
    if data.startswith(_OLE):
        return _ole_format(data)
    bare = data[:_PDF_MARK_WITHIN].removeprefix(b"\xef\xbb\xbf").lstrip()
    if bare.startswith(_PDF_MARK):
        return Format.PDF
    if bare.startswith(_RTF_MARK):
        return Format.RTF
    return Format.IMAGE if _IMAGE.match(data) else None


def _zip_format(data: bytes) -> Format:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
            mime = _mime_type(archive, names)
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError, OverflowError, NotImplementedError) as error:
        raise DamagedFile(
            f"The zip archive cannot be read: {error}.", remedy="Open and save it again in the program that made it."
        ) from None
    if mime in _MIME_FORMATS:
        return _MIME_FORMATS[mime]
    if mime.startswith(_OPEN_DOCUMENT):
        raise _unsupported("an OpenDocument file that is no spreadsheet")
    for inside, form in _ZIP_FORMATS.items():
        if inside in names:
            return form
    for inside, kind in _ZIP_OTHERS.items():
        if inside in names:
            raise _unsupported(kind)
    return Format.ZIP


def _mime_type(archive: zipfile.ZipFile, names: set[str]) -> str:
    """What the archive says that it is, as OpenDocument files and e-books do; "" where it says nothing."""
    if "mimetype" not in names:
        return ""
    try:
        with archive.open("mimetype") as stream:
            return stream.read(_LONGEST_MIME).decode("ascii", errors="replace").strip()
    except RuntimeError:  # with a password
        return ""


def _ole_format(data: bytes) -> Format:
    import olefile

    try:
        with olefile.OleFileIO(data) as file:
            names = {entry.name.lower() for entry in file.root.kids} if file.root else set()
    except Exception as error:
        # The library lets through whatever a wrong directory makes it stumble over.
        raise DamagedFile(
            f"The directory of this older Office file cannot be read ({type(error).__name__}).",
            remedy="Open it in the program that made it, save it again, and index that.",
        ) from error
    if _OLE_ENCRYPTED in names:
        raise PasswordNeeded(
            "It is an Office file with a password.", remedy="Save a copy without the password and index that."
        )
    for inside, form in _OLE_FORMATS.items():
        if inside in names:
            return form
    kinds = (kind for inside, kind in _OLE_OTHERS.items() if inside in names)
    raise _unsupported(next(kinds, "an older Office file of an unknown kind"))


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
        return Format.MAIL
    if _MAILBOX_START.match(data):
        raise _unsupported("a mailbox (mbox)")
    if ending in TEXT_FORMATS:
        return _as_named(TEXT_FORMATS[ending], data)
    if path.name in _CODE_NAMES or data.startswith(b"#!"):
        return Format.CODE
    if _HTML_START.match(data):
        return Format.HTML
    return Format.JSON if _is_json(data) else Format.PLAIN


def _as_named(named: Format, data: bytes) -> Format:
    """The format of the name, unless the bytes are plainly another: read by that name they would be garbage."""
    if named in (Format.MARKDOWN, Format.CSV, Format.JSON) and _HTML_START.match(data) and _HTML_END.search(data):
        return Format.HTML
    if named in (Format.CSV, Format.HTML) and _is_json(data):
        return Format.JSON
    if named is Format.HTML and not _is_wide(data) and not _TAG.search(data):
        return Format.PLAIN
    return named


def _is_wide(data: bytes) -> bool:
    """Whether the signs have more than a byte each, so that what is looked for is not seen."""
    return b"\x00" in data


def _is_mail(data: bytes) -> bool:
    """Whether it has a header that only mail programs write; a memo may have From, To and Subject lines."""
    head = re.split(rb"\r?\n\r?\n", data[:16_384], maxsplit=1)[0]
    names = {found.lower() for found in _MAIL_HEADER.findall(head)}
    return _MAIL_HEADER.match(head) is not None and b"from" in names and not names.isdisjoint(_MAIL_ONLY)


def _is_json(data: bytes) -> bool:
    """Whether all of it is one object or array, or its first two lines are objects."""
    if not _JSON_START.match(data) or len(data) > _LONGEST_JSON_TOLD:
        return False
    first_lines = b"\n".join(data.split(b"\n", 2)[:2]).splitlines()
    return _parses(data) or (
        len(first_lines) > 1 and all(_JSON_START.match(line) and _parses(line) for line in first_lines)
    )


def _parses(data: bytes) -> bool:
    try:
        json.loads(data, parse_int=str)
    except (ValueError, RecursionError):
        return False
    return True


def _unsupported(kind: str) -> UnsupportedFormat:
    return UnsupportedFormat(
        f"It is {kind}, which is not read.",
        remedy="If there is text in it, save that as PDF, DOCX, HTML or text, and index that; else leave it out.",
    )
