"""`citewell purge ID`"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from citewell.cli.options import DEFAULT_INDEX, IdOrFolder, IndexPlace, Json, SettingsFile, load_settings
from citewell.cli.receipt import print_receipt
from citewell.cli.terminal import complain, one_line, out, print_json
from citewell.shapes import receipt_shape

Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


def purge(
    wanted: IdOrFolder,
    yes: Yes = False,
    at: IndexPlace = DEFAULT_INDEX,
    settings: SettingsFile = None,
    as_json: Json = False,
) -> None:
    """Remove documents and all their versions for good."""
    from citewell.index import Index

    with Index.open(at, settings=load_settings(settings)) as index:
        if not (yes or _is_meant(wanted)):
            complain("nothing was purged")
            raise typer.Exit(1)
        receipt = index.purge(wanted)
    if as_json:
        print_json(receipt_shape(receipt))
        return
    print_receipt(receipt)
    out().print("No file of the index holds any of it now. Where its file still lies, `citewell index` adds it again.")


def _is_meant(wanted: str) -> bool:
    """Ask who sits at the terminal.

    Raises:
        BadParameter: nobody does.
    """
    if not sys.stdin.isatty():
        raise typer.BadParameter("A purge cannot be undone, and here is nobody to ask; give --yes.")
    question = f"Remove every version of {one_line(wanted)} for good? This cannot be undone. [y/N] "
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
