"""`citewell feedback export | unanswered`"""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from citewell.cli.options import DEFAULT_INDEX, IndexPlace, Json, SettingsFile, load_settings
from citewell.cli.state_folder import State, conversations_at
from citewell.cli.terminal import count, one_line, print_json, print_table
from citewell.shapes import VERSION

app = typer.Typer(help="What callers thought of their answers.", rich_markup_mode=None)


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


@app.command("unanswered")
def list_unanswered(state: State = None, settings: SettingsFile = None, as_json: Json = False) -> None:
    """List what was asked and never answered, the most frequent first: what the documents lack."""
    from citewell.serving.unanswered import unanswered

    found = unanswered(state or Path(load_settings(settings).service.state))
    if as_json:
        told = [
            {
                "question": each.question,
                "understood": each.understood or None,
                "times": each.times,
                "callers": each.callers,
                "last": each.last.isoformat(),
            }
            for each in found
        ]
        print_json({"version": VERSION, "unanswered": told})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("times", "callers"):
        table.add_column(name, justify="right")
    table.add_column("last")
    table.add_column("question")
    leaning = any(each.understood for each in found)
    if leaning:
        table.add_column("understood as")
    for each in found:
        row = [str(each.times), str(each.callers), f"{each.last:%Y-%m-%d}", one_line(each.question)]
        table.add_row(*row, *([one_line(each.understood)] if leaning else []))
    print_table(table)
