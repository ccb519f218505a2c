"""A receipt, as a table: what was removed of each document, place by place."""

from __future__ import annotations

from citewell.cli.terminal import count, out, place, print_table
from citewell.types import Receipt


def print_receipt(receipt: Receipt) -> None:
    from rich.table import Table

    parts = list(dict.fromkeys(name for removed in receipt.removed for name in removed.parts))
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("document", overflow="fold")
    table.add_column("versions", justify="right")
    for name in parts:
        table.add_column(name, justify="right")
    for removed in receipt.removed:
        versions = ", ".join(map(str, removed.versions))
        table.add_row(place(removed.source), versions, *(f"{removed.parts.get(name, 0):,}" for name in parts))
    print_table(table)
    out().print(f"{'Purged' if receipt.purged else 'Deleted'} {count(len(receipt.removed), 'document')}.", style="bold")
