"""Whether what cannot be undone is meant."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


def is_meant(question: str) -> bool:
    """Ask who sits at the terminal.

    Raises:
        BadParameter: nobody does.
    """
    if not sys.stdin.isatty():
        raise typer.BadParameter("It cannot be undone, and here is nobody to ask; give --yes.")
    print(f"{question} This cannot be undone. [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
