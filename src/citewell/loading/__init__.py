"""Files to Documents: found by `discover`, their rights looked up by `AccessRules`, read by `load`."""

from __future__ import annotations

import hashlib
import importlib
import os
from collections.abc import Callable, Iterable
from dataclasses import replace

from citewell.errors import CitewellError, DamagedFile, EmptyFile, LoadError
from citewell.loading.access import ACCESS_FILE, AccessRules
from citewell.loading.attributes import NOTHING, Attributes
from citewell.loading.bounds import MEGABYTE, check_file, check_pages, check_text
from citewell.loading.discovery import SourceFile, discover
from citewell.loading.formats import Format, detect
from citewell.loading.parsed import Parsed
from citewell.settings import Loading
from citewell.types import EVERYONE, Document, Rights, Trust

__all__ = [
    "ACCESS_FILE",
    "AccessRules",
    "Attributes",
    "SourceFile",
    "described",
    "discover",
    "document_id",
    "load",
    "parse",
    "read",
]

_LOADERS = {
    Format.PLAIN: ("plain", "load_plain"),
    Format.CSV: ("plain", "load_csv"),
    Format.MARKDOWN: ("markdown", "load_markdown"),
    Format.HTML: ("html", "load_html"),
    Format.CODE: ("code", "load_code"),
    Format.PDF: ("pdf", "load_pdf"),
    Format.DOCX: ("docx", "load_docx"),
    Format.PPTX: ("pptx", "load_pptx"),
    Format.SHEETS: ("sheets", "load_sheets"),
    Format.MAIL: ("mail", "load_mail"),
    Format.OUTLOOK: ("outlook", "load_outlook"),
    Format.EPUB: ("epub", "load_epub"),
    Format.RTF: ("rtf", "load_rtf"),
    Format.JSON: ("records", "load_json"),
    Format.IMAGE: ("image", "load_image"),
    Format.ZIP: ("zipped", "load_zip"),
}
_SHORT = 120


def document_id(source: str) -> str:
    """The id of the document at a source URI: the same for all its versions."""
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read(file: SourceFile, limits: Loading) -> bytes:
    """The file's bytes.

    Raises:
        LoadError: discovery found a problem with it, or it cannot be read.
        LimitExceeded: over `max_file_mb`; it is not read then.
    """
    if file.problem is not None:
        raise file.problem
    try:
        check_file(file.path.stat().st_size, limits)
        with file.path.open("rb") as stream:
            # It may have grown since.
            data = stream.read(int(limits.max_file_mb * MEGABYTE) + 1)
    except OSError as error:
        raise LoadError(
            f"The file cannot be read: {error.strerror}.", remedy="Check that it is there and may be read."
        ) from None
    check_file(len(data), limits)
    return data


def parse(data: bytes, name: str, limits: Loading) -> Parsed:
    """Text and elements of a file's bytes, whatever its format; `name` is its name without the folder.

    A PDF without any text is no error: its pages say what is missing.

    Raises:
        LoadError: one of its kinds, with the reason. Whatever a parser raises becomes DamagedFile.
    """
    module, function = _LOADERS[detect(data, name)]
    loader: Callable[[bytes, str, Loading], Parsed]
    loader = getattr(importlib.import_module(f"citewell.loading.{module}"), function)
    try:
        parsed = loader(data, name, limits)
        check_text(len(parsed.text.encode()), limits)
        check_pages(len(parsed.pages), limits)
    except (CitewellError, ImportError):
        raise
    except Exception as error:
        # The border: parsers raise anything, and one file never stops a folder.
        complaint = " ".join(str(error).split())[:_SHORT]
        raise DamagedFile(
            f"It does not parse ({type(error).__name__}: {complaint}).",
            remedy="Open it in the program that made it, save it again, and index that.",
        ) from error
    if not parsed.elements and not parsed.pages:
        raise EmptyFile("There is no text in it.", remedy="Put content in it, or leave it out.")
    return parsed


def load(
    file: SourceFile,
    limits: Loading,
    attributes: Attributes = NOTHING,
    default_groups: Iterable[str] = (EVERYONE,),
    data: bytes | None = None,
) -> Document:
    """Read one file as a Document, with what `AccessRules.rules_for` said about it; `data` is its bytes if known.

    `default_groups` may read it where no rule names groups. Its version is the rule's, else the first 8 digits of its
    content hash.

    Raises:
        LoadError: the file cannot be read; the others can.
    """
    content = read(file, limits) if data is None else data
    # A name need not be UTF-8, a title must be.
    name = os.fsencode(file.path.name).decode("utf-8", errors="replace")
    parsed = parse(content, name, limits)
    content_hash = hashlib.sha256(content).hexdigest()
    document = Document(
        id=document_id(file.source),
        content_hash=content_hash,
        title=parsed.title,
        source=file.source,
        version=content_hash[:8],
        text=parsed.text,
        elements=parsed.elements,
        rights=Rights(frozenset()),
        pages=parsed.pages,
        language=parsed.language,
    )
    return described(document, attributes, default_groups)


def described(document: Document, attributes: Attributes, default_groups: Iterable[str]) -> Document:
    """The document with what its access rules say; where they say nothing, what it has by itself or by default."""
    groups = attributes.groups if attributes.groups is not None else frozenset(default_groups)
    return replace(
        document,
        title=attributes.title or document.title,
        version=attributes.version or document.content_hash[:8],
        rights=Rights(groups),
        valid_from=attributes.valid_from,
        valid_to=attributes.valid_to,
        trust=attributes.trust or Trust.UNREVIEWED,
    )
