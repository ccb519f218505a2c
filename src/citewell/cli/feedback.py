"""`citewell feedback export`"""

from __future__ import annotations

import sys

import typer

from citewell.cli.options import DEFAULT_INDEX, IndexPlace, Json, SettingsFile, load_settings
from citewell.cli.state_folder import State, conversations_at
from citewell.cli.terminal import count, print_json
from citewell.shapes import VERSION

app = typer.Typer(help="What callers thought of their answers.", rich_markup_mode=None)


@app.callback()
def _program() -> None:
    pass  # without it, the name of a command that is the only one would not be asked for


@app.command()
def export(
    state: State = None, at: IndexPlace = DEFAULT_INDEX, settings: SettingsFile = None, as_json: Json = False
) -> None:
    """Print feedback as candidates for a test set, a JSON object a line; none of them is reviewed."""
    loaded = load_settings(settings)
    store = conversations_at(state, loaded)
    from citewell.conversations import candidates
    from citewell.index import Index

    with Index.open(at, settings=loaded) as index:
        found = candidates(store, index)
    if as_json:
        print_json({"version": VERSION, "candidates": list(found.lines), "left_out": found.left_out})
        return
    for line in found.lines:
        print_json(line, on_one_line=True)
    told = f"{count(len(found.lines), 'candidate')}, {found.to_complete:,} to be completed"
    gone = f"; left out, as their documents are gone: {found.left_out:,}" if found.left_out else ""
    print(f"{told}{gone}.", file=sys.stderr)
