"""`citewell keys add|list|revoke`"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.options import Json, SettingsFile, day, load_settings, words
from citewell.cli.serving import require_serving
from citewell.cli.terminal import complain, one_line, out, print_json, print_table
from citewell.serving.caller import Scope

if TYPE_CHECKING:
    from pathlib import Path

    from citewell.serving.keys import Key, Keys
    from citewell.shapes import Shape

app = typer.Typer(help="The API keys of the service.", rich_markup_mode=None)

Name = Annotated[str, typer.Argument(metavar="NAME", parser=words, help="Whose it is; two of a name are one caller.")]
KeyId = Annotated[str, typer.Argument(metavar="ID", parser=words, help="As `citewell keys list` shows it.")]
KeyScope = Annotated[Scope, typer.Option("--scope", help="What it may do; each may do what those before may.")]
Groups = Annotated[
    list[str] | None,
    typer.Option("--group", metavar="GROUP", parser=words, help="It reads as a member; may be given several times."),
]
Expires = Annotated[
    date | None, typer.Option("--expires", metavar="DATE", parser=day, help="From that day on it does not hold.")
]


@app.command()
def add(
    name: Name,
    scope: KeyScope = Scope.READ,
    groups: Groups = None,
    expires: Expires = None,
    settings: SettingsFile = None,
    as_json: Json = False,
) -> None:
    """Make a key, and show it this once."""
    keys = _keys(settings)
    key, token = keys.add(name, scope, groups or (), expires)
    if as_json:
        print_json({"version": 1, "key": _shape(key), "token": token})
        return
    out().print(token, soft_wrap=True)
    complain(f"key {key.id} of {one_line(key.name)} ({key.scope}); it is not shown again")


@app.command("list")
def every(settings: SettingsFile = None, as_json: Json = False) -> None:
    """List the keys, without their secrets."""
    from rich.table import Table

    keys = _keys(settings).every()
    if as_json:
        print_json({"version": 1, "keys": [_shape(key) for key in keys]})
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("id", "name", "scope", "groups", "made", "holds"):
        table.add_column(column, overflow="fold")
    for key in keys:
        groups = ", ".join(one_line(group) for group in sorted(key.groups))
        table.add_row(key.id, one_line(key.name), key.scope, groups, key.created[:10], _holds(key))
    print_table(table)
    if not keys:
        out().print("There are no keys.", style="yellow")


@app.command()
def revoke(key_id: KeyId, settings: SettingsFile = None, as_json: Json = False) -> None:
    """Make a key hold no more, at once."""
    key = _keys(settings).revoke(key_id)
    if as_json:
        print_json({"version": 1, "key": _shape(key)})
    else:
        out().print(f"Key {key.id} of {one_line(key.name)} no longer holds.")


def _keys(settings: Path | None) -> Keys:
    require_serving()
    from citewell.serving.keys import Keys
    from citewell.serving.state import State

    return Keys(State.at(load_settings(settings).service.state))


def _shape(key: Key) -> Shape:
    return {
        "id": key.id,
        "name": key.name,
        "scope": key.scope.value,
        "groups": sorted(key.groups),
        "created": key.created,
        "expires": key.expires.isoformat() if key.expires else None,
        "revoked": key.revoked,
        "holds": key.holds,
    }


def _holds(key: Key) -> str:
    if key.revoked is not None:
        return f"revoked {key.revoked[:10]}"
    if not key.holds:
        return f"expired {key.expires}"
    return f"until {key.expires}" if key.expires else "yes"
