"""`citewell rollback ID` or `citewell rollback FOLDER`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.options import DEFAULT_INDEX, IndexPlace, Json, SettingsFile, load_settings, name, words
from citewell.cli.terminal import count, one_line, out, place, print_json, print_table
from citewell.errors import UnknownId
from citewell.shapes import rollback_shape, rollback_to_shape
from citewell.types import FileReport, Version

if TYPE_CHECKING:
    from citewell.index import Index

Wanted = Annotated[
    str | None, typer.Argument(metavar="ID", parser=name, help="A document's id, a path or a source URI; or a folder.")
]
To = Annotated[int | None, typer.Option("--to", metavar="N", min=1, help="Which version; the last before, by default.")]
ToState = Annotated[
    str | None, typer.Option("--state", metavar="NAME", parser=words, help="Every document, as it was in that state.")
]


def rollback(
    wanted: Wanted = None,
    to: To = None,
    state: ToState = None,
    at: IndexPlace = DEFAULT_INDEX,
    settings: SettingsFile = None,
    as_json: Json = False,
) -> None:
    """Bring back a version, what was deleted, or a named state."""
    if (wanted is None) == (state is None):
        raise typer.BadParameter("Say what to bring back: the ID of a document, or the --state of the whole index.")
    if state is not None and to is not None:
        raise typer.BadParameter("--to is the number of a document's version; with --state it means nothing.")
    from citewell.index import Index

    with Index.open(at, settings=load_settings(settings)) as index:
        if state is not None:
            files = index.rollback_to(state)
            print_json(rollback_to_shape(state, files)) if as_json else _print_files(state, files)
        elif wanted is not None:
            number = to or _last_before(index, wanted)
            now = index.rollback(wanted, number)
            print_json(rollback_shape(number, now)) if as_json else _print_restored(number, now)


def _last_before(index: Index, wanted: str) -> int | None:
    """The number of the version that is brought back where none is named; None where that is no document's name."""
    try:
        versions = index.history(wanted)
    except UnknownId:
        return None
    return max((version.number for version in versions if not version.current), default=None)


def _print_restored(number: int | None, now: Sequence[Version]) -> None:
    for one in now if number is None else now[1:]:
        out().print(f"{place(one.source)} is back, as version {one.number}. {_readers(one)}")
    if number is not None:
        one = now[0]
        out().print(f"{place(one.source)} is as in version {number} again, now as version {one.number}.", style="bold")
        out().print(f"{_readers(one)} What its file holds now is taken in when the file changes.")
    else:
        out().print(f"Brought back {count(len(now), 'document')}.", style="bold")


def _readers(version: Version) -> str:
    return f"Readable by {', '.join(map(one_line, sorted(version.rights.groups))) or 'nobody'}."


def _print_files(state: str, files: Sequence[FileReport]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for file in files:
        table.add_row(Text(file.state), Text(f"{place(file.source)}: {one_line(file.reason)}", overflow="fold"))
    print_table(table)
    changed = "Nothing has changed since" if not files else "The index is as it was in"
    out().print(f"{changed} the state {one_line(state)}.", style="bold")
