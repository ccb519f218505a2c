"""Bytes to text and elements, whatever the format. It runs in a child process (`worker`): files are hostile."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import entry_points
from typing import Protocol, cast

from citewell.errors import DamagedFile, EmptyFile, LimitExceeded, LoadError, SettingsError
from citewell.loading.bounds import check_inside, check_pages, check_text
from citewell.loading.endings import unlike_its_name
from citewell.loading.formats import Format, detect
from citewell.loading.parsed import Inside, Parsed, clean
from citewell.loading.testsets import refuse_testset
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
    """
    try:
        parsed = _load(data, name, limits, passwords)
        check_text(len(parsed.text.encode()), limits)
        check_pages(len(parsed.pages), limits)
        check_inside(len(parsed.inside), limits)
    except LoadError:
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
        noted=tuple(map(clean, parsed.noted)),
        inside=tuple(Inside(clean(inside.name), inside.data) for inside in parsed.inside),
    )


def check_plugins(limits: Loading) -> None:
    """See that every loader named is installed; none is imported.

    Raises:
        SettingsError: `loading.plugins` names one that is not.
    """
    offered = entry_points(group=PLUGINS).names
    for name in limits.plugins:
        if name not in offered:
            raise SettingsError(
                f"loading.plugins names {name!r}, and no installed package offers that loader "
                f"(offered: {', '.join(sorted(offered)) or 'none'}).",
                remedy="Install the package that has it, or correct the name.",
            )


def _load(data: bytes, name: str, limits: Loading, passwords: Sequence[str]) -> Parsed:
    refuse_testset(data)  # before any loader of another package
    for plugin in limits.plugins:
        loader = _accepting(plugin, data, name)
        if loader is not None:
            return _loaded(plugin, loader, data, name, limits)
    form = detect(data, name)
    module, function = _LOADERS[form]
    load: Callable[..., Parsed] = getattr(importlib.import_module(f"citewell.loading.{module}"), function)
    parsed = load(data, name, limits, tuple(passwords)) if form is Format.PDF else load(data, name, limits)
    told = unlike_its_name(form, name)
    return replace(parsed, noted=(told, *parsed.noted)) if told else parsed


def _loaded(plugin: str, loader: Loader, data: bytes, name: str, limits: Loading) -> Parsed:
    try:
        return loader.load(data, name, limits)
    except (LoadError, MemoryError):
        raise
    except Exception as error:
        raise DamagedFile(
            f"The loader {plugin!r} of loading.plugins failed on it ({type(error).__name__}: {str(error)[:_SHORT]}).",
            remedy="See whether the file is whole; if it is, tell whoever makes that loader.",
        ) from error


def _accepting(plugin: str, data: bytes, name: str) -> Loader | None:
    """The loader of that name, if it takes the file."""
    try:
        (point,) = entry_points(group=PLUGINS, name=plugin)
        loader = cast("Loader", point.load())
        return loader if loader.accepts(data, name) else None
    except Exception as error:
        # The border to another package: what it raises says nothing about the file.
        raise LoadError(
            f"The loader {plugin!r} of loading.plugins does not work ({type(error).__name__}: {error}).",
            remedy="Correct or update the package that has it, or take its name out of the settings.",
        ) from error
