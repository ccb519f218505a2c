"""What a terminal is sent. Texts of documents may hold anything; nothing of them may steer the terminal.

Results go to standard output, all else to standard error. Where that is no terminal, plain text without a line break
or a colour of ours.
"""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from citewell.signs import UNSEEN
from citewell.sources import path_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from citewell.shapes import Shape

UNBOUNDED = 100_000


def plain(text: str) -> str:
    """The text without what could steer a terminal, reorder the line or hide in it. Line breaks stay."""
    return UNSEEN.sub("", text.replace("\t", " "))


def one_line(text: str) -> str:
    """`plain`, with every run of white space a single space."""
    return plain(" ".join(text.split()))


def console(stream: TextIO) -> Console:
    """A console that takes strings as they are: no markup, no emoji codes, no guessed colours."""
    from rich.console import Console

    made = Console(file=stream, markup=False, highlight=False, emoji=False)
    if not made.is_terminal:
        made.width = UNBOUNDED  # programs want a line a paragraph, not one wrapped for a screen that is not there
    return made


def out() -> Console:
    return console(sys.stdout)


def print_indented(text: str, columns: int) -> None:
    """Print a paragraph, every line of it this far from the left."""
    from rich.padding import Padding

    out().print(Padding(text, (0, 0, 0, columns), expand=False))


def print_table(table: Table) -> None:
    """Print a table, without the spaces that would fill up its last column; nothing where it has no rows."""
    if not table.row_count:
        return
    screen = out()
    with screen.capture() as drawn:
        screen.print(table)
    for line in drawn.get().splitlines():
        print(line.rstrip())


def print_json(value: Shape, *, on_one_line: bool = False) -> None:
    """Print one JSON document, in ASCII so that every pipe carries it."""
    print(json.dumps(value, indent=None if on_one_line else 2, allow_nan=False))


def complain(message: str, remedy: str = "") -> None:
    """Say on standard error what is wrong, and what to do about it."""
    print(f"citewell: {one_line(message)}", file=sys.stderr)
    if remedy:
        print(f"  {one_line(remedy)}", file=sys.stderr)


def place(source: str) -> str:
    """A source as a person would type it: a path, relative where it lies below the current folder."""
    path = path_of(source)
    if path is None:
        return one_line(source)
    return one_line(os.fspath(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))


def moment(at: datetime) -> str:
    """`2026-01-31 09:05 UTC`."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def count(number: int, singular: str) -> str:
    """`1 page`, `2 pages`, `12,000 pages`."""
    return f"{number:,} {singular}" if number == 1 else f"{number:,} {singular}s"
