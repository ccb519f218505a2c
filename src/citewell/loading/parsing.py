"""Bytes to text and elements, whatever the format. It runs in a child process (`worker`): files are hostile."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import entry_points
from typing import Protocol, cast

from citewell.errors import CitewellError, DamagedFile, EmptyFile, LimitExceeded, SettingsError
from citewell.loading.bounds import check_inside, check_pages, check_text
from citewell.loading.formats import Format, detect
from citewell.loading.parsed import Inside, Parsed, clean
from citewell.settings import Loading

PLUGINS = "citewell.loaders"
"""The entry point group of other packages' loaders."""

_LOADERS = {
    Format.PLAIN: ("plain.document", "load_plain"),
    Format.CSV: ("plain.document", "load_csv"),
    Format.MARKDOWN: ("markdown.document", "load_markdown"),
    Format.HTML: ("html.document", "load_html"),
    Format.CODE: ("code", "load_code"),
    Format.PDF: ("pdf", "load_pdf"),
    Format.DOCX: ("docx.document", "load_docx"),
    Format.PPTX: ("pptx.document", "load_pptx"),
    Format.SHEETS: ("sheets.document", "load_sheets"),
    Format.MAIL: ("mail.eml", "load_mail"),
    Format.OUTLOOK: ("mail.outlook", "load_outlook"),
    Format.EPUB: ("epub", "load_epub"),
    Format.RTF: ("rtf.document", "load_rtf"),
    Format.JSON: ("records", "load_json"),
    Format.IMAGE: ("scan.image", "load_image"),
    Format.ZIP: ("zipped", "load_zip"),
}
_SHORT = 120

_Load = Callable[[bytes, str, Loading], Parsed]


class Loader(Protocol):
    """What another package registers under `citewell.loaders`, and a user names in `loading.plugins`."""

    def accepts(self, data: bytes, name: str) -> bool:
        """Whether it reads this file; asked before our own detection."""
        ...

    def load(self, data: bytes, name: str, limits: Loading) -> Parsed:
        """Read it. Any exception is that file's failure."""
        ...


def parse(data: bytes, name: str, limits: Loading, passwords: Sequence[str] = ()) -> Parsed:
    """Text and elements of a file's bytes; `name` is its name without the folder, `passwords` are tried on a lock.

    A file whose pages hold no text is no error: its pages say what is missing.

    Raises:
        LoadError: one of its kinds, with the reason. Whatever a parser raises becomes DamagedFile.
        SettingsError: `loading.plugins` names a loader that is not installed.
    """
    try:
        load = _loader(data, name, limits, passwords)
        parsed = load(data, name, limits)
        check_text(len(parsed.text.encode()), limits)
        check_pages(len(parsed.pages), limits)
        check_inside(len(parsed.inside), limits)
    except (CitewellError, ImportError):
        raise
    except MemoryError:
        raise LimitExceeded(
            f"Reading it takes more than {limits.max_memory_mb:,} MB of memory.",
            remedy="Raise max_memory_mb in [loading] if the file is to be trusted.",
        ) from None
    except Exception as error:
        # The border: parsers raise anything, and one file never stops a folder.
        complaint = " ".join(str(error).split())[:_SHORT]
        raise DamagedFile(
            f"It does not parse ({type(error).__name__}: {complaint}).",
            remedy="Open it in the program that made it, save it again, and index that.",
        ) from error
    if not parsed.elements and not parsed.pages and not parsed.inside:
        raise EmptyFile("There is no text in it.", remedy="Put content in it, or leave it out.")
    return replace(
        parsed,
        suspicious=tuple(map(clean, parsed.suspicious)),
        lost=tuple(map(clean, parsed.lost)),
        inside=tuple(Inside(clean(inside.name), inside.data) for inside in parsed.inside),
    )


def _loader(data: bytes, name: str, limits: Loading, passwords: Sequence[str]) -> _Load:
    for plugin in map(_plugin, limits.plugins):
        if plugin.accepts(data, name):
            return plugin.load
    form = detect(data, name)
    module, function = _LOADERS[form]
    load: Callable[..., Parsed] = getattr(importlib.import_module(f"citewell.loading.{module}"), function)
    return partial(load, passwords=tuple(passwords)) if form is Format.PDF else load


def _plugin(name: str) -> Loader:
    found = next(iter(entry_points(group=PLUGINS, name=name)), None)
    if found is None:
        known = ", ".join(sorted(entry_points(group=PLUGINS).names)) or "none"
        raise SettingsError(
            f"loading.plugins names {name!r}, and no installed package offers that loader (offered: {known}).",
            remedy="Install the package that has it, or correct the name.",
        )
    return cast("Loader", found.load())
