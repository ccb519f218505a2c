"""Named facts, one a line: how `status` and `show` print what they know."""

from __future__ import annotations

from collections.abc import Iterable

from citewell.cli.terminal import one_line, print_table


def print_facts(facts: Iterable[tuple[str, str]]) -> None:
    """Print names and values in two columns; a fact without a value is left out."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for name, value in facts:
        if value:
            table.add_row(Text(name, "dim"), one_line(value))
    print_table(table)
