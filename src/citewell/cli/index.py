"""`citewell index PATH...`"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.options import DEFAULT_INDEX, IndexPlace, Json, SettingsFile, load_settings, name
from citewell.cli.progress import shown
from citewell.cli.report import print_report
from citewell.errors import IndexingStopped, IndexNotFound
from citewell.types import IndexReport

if TYPE_CHECKING:
    from citewell.index import Index
    from citewell.settings import Settings


def _path(text: str) -> Path:
    return Path(name(text))


Paths = Annotated[list[Path], typer.Argument(metavar="PATH", parser=_path, help="Files and folders.")]
Watch = Annotated[bool, typer.Option("--watch", help="Go on, and index again whenever something changes.")]


def index(
    paths: Paths,
    watch: Watch = False,
    at: IndexPlace = DEFAULT_INDEX,
    settings: SettingsFile = None,
    as_json: Json = False,
) -> None:
    """Add files and folders to the index, or refresh them."""
    with _open_or_create(at, paths, load_settings(settings), watch=watch) as opened:
        if watch:
            from citewell.cli.following import follow

            follow(lambda: _run(opened, paths), opened, paths, as_json=as_json)
        else:
            report, stopped = _run(opened, paths)
            print_report(report, stopped, as_json=as_json, on_one_line=False)
            if stopped is not None:
                raise typer.Exit(stopped.exit_code)
            if report.failed:
                raise typer.Exit(1)


def _run(opened: Index, paths: Sequence[Path]) -> tuple[IndexReport, IndexingStopped | None]:
    """One run: its report, with what the settings of now were not applied to, and what stopped it."""
    try:
        with shown("files") as on_progress:
            report = opened.add(*paths, on_progress=on_progress)
        left = (f"{one}. {one.remedy}" for one in opened.drift())  # of other paths, or of the index as a whole
        return replace(report, warnings=(*report.warnings, *left)), None
    except IndexingStopped as error:
        if error.report is None:
            raise
        return error.report, error


def _open_or_create(at: str, paths: Sequence[Path], settings: Settings, *, watch: bool) -> Index:
    """Open the index, or make one."""
    from citewell.index import Index
    from citewell.loading.discovery import discover, nothing_to_index
    from citewell.stores.homes import folder_at

    try:
        opened = Index.open(at, settings=settings)
    except IndexNotFound:
        opened = None
    if opened is None or watch:
        # A mistyped path must not leave an empty index behind, or be waited for.
        found = discover(paths, skip=folder_at(at), ignore=settings.loading.ignore)
        if not (found.files or watch):
            raise nothing_to_index(paths)
    return opened or Index.create(at, settings=settings)
