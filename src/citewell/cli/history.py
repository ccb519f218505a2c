"""`citewell history [ID]`"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Annotated

import typer

from citewell.cli.options import (
    DEFAULT_INDEX,
    IndexPlace,
    Json,
    SettingsFile,
    load_settings,
    name,
    words,
)
from citewell.cli.terminal import moment, one_line, out, place, print_json, print_table
from citewell.shapes import Kept, history_shape, state_shape, states_shape
from citewell.types import Version

Wanted = Annotated[
    str | None, typer.Argument(metavar="ID", parser=name, help="A document's id, a path or a source URI.")
]
NewName = Annotated[
    str | None, typer.Option("--name", metavar="NAME", parser=words, help="Give the index as it is now a name.")
]
DropName = Annotated[
    str | None, typer.Option("--drop", metavar="NAME", parser=words, help="Forget a named state; no document changes.")
]


def history(
    wanted: Wanted = None,
    state: NewName = None,
    drop: DropName = None,
    at: IndexPlace = DEFAULT_INDEX,
    settings: SettingsFile = None,
    as_json: Json = False,
) -> None:
    """List the versions of a document, or what can be brought back."""
    if sum(given is not None for given in (wanted, state, drop)) > 1:
        raise typer.BadParameter("--name and --drop are of the whole index; give one of them, and no ID.")
    from citewell.index import Index

    with Index.open(at, settings=load_settings(settings)) as index:
        if state is not None:
            since = index.name_state(state)
            print_json(state_shape(state, since)) if as_json else _print_named(state, since)
        elif drop is not None:
            since = index.drop_state(drop)
            print_json(state_shape(drop, since)) if as_json else _print_dropped(drop, since)
        elif wanted is not None:
            versions = [(version, index.kept_until(version)) for version in index.history(wanted)]
            print_json(history_shape(versions)) if as_json else _print_versions(versions)
        else:
            states, deleted = index.states(), [(version, index.kept_until(version)) for version in index.deleted()]
            print_json(states_shape(states, deleted)) if as_json else _print_states(states, deleted)


def _print_named(state: str, since: datetime) -> None:
    out().print(f"The index as it was at {moment(since)} is called {one_line(state)}.")


def _print_dropped(state: str, since: datetime) -> None:
    out().print(f"The index as it was at {moment(since)} is no longer called {one_line(state)}.")


def _print_versions(versions: Sequence[Kept]) -> None:
    from rich.table import Table
    from rich.text import Text

    newest, _ = versions[-1]
    out().print(Text(one_line(newest.title) or place(newest.source), "bold"))
    out().print(place(newest.source), style="dim")
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("", "version", "indexed", "in force", "state", "readable by"):
        table.add_column(column, overflow="fold")
    for version, until in versions:
        table.add_row(
            str(version.number),
            one_line(version.label),
            moment(version.indexed_at),
            _days(version),
            _state(version, until),
            ", ".join(map(one_line, sorted(version.rights.groups))) or "nobody",
        )
    print_table(table)


def _print_states(states: Mapping[str, datetime], deleted: Sequence[Kept]) -> None:
    from rich.table import Table

    screen = out()
    named = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("state", "named"):
        named.add_column(column, overflow="fold")
    for state, at in states.items():
        named.add_row(one_line(state), moment(at))
    print_table(named)
    gone = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("document", "id", "state"):
        gone.add_column(column, overflow="fold")
    for version, until in deleted:
        gone.add_row(place(version.source), version.document_id, _state(version, until))
    if states and deleted:
        screen.print()
    print_table(gone)
    if not (states or deleted):
        screen.print("No state has a name, and nothing deleted is kept.", style="yellow")


def _days(version: Version) -> str:
    if not version.searchable:
        return "no day"
    first = f"from {version.in_force_from}" if version.in_force_from else ""
    last = f"until {version.in_force_to}" if version.in_force_to else ""
    return " ".join(part for part in (first, last) if part) or "every day"


def _state(version: Version, until: date | None) -> str:
    if version.current:
        return "current"
    if version.searchable:
        return "past"
    return f"{version.ending}, kept until {until}"
