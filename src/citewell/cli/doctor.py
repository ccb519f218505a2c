"""`citewell doctor`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from citewell.cli.options import DEFAULT_INDEX, IndexFolder, Json, SettingsFile
from citewell.cli.terminal import one_line, print_json, print_table
from citewell.shapes import VERSION, Shape

if TYPE_CHECKING:
    from citewell.cli.checks import Check

SIGNS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "error": ("✗", "red")}


def doctor(folder: IndexFolder = DEFAULT_INDEX, settings: SettingsFile = None, as_json: Json = False) -> None:
    """Check the installation and the index."""
    from citewell.cli.checks import examine

    checks = list(examine(folder, settings))
    broken = any(check.severity == "error" for check in checks)
    if as_json:
        print_json(_shape(checks, healthy=not broken))
    else:
        _print_checks(checks)
    if broken:
        raise typer.Exit(1)


def _shape(checks: Sequence[Check], *, healthy: bool) -> Shape:
    return {
        "version": VERSION,
        "healthy": healthy,
        "checks": [
            {"name": check.name, "severity": check.severity.value, "message": check.message, "remedy": check.remedy}
            for check in checks
        ],
    }


def _print_checks(checks: Sequence[Check]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for check in checks:
        table.add_row(Text(*SIGNS[check.severity]), check.name, one_line(check.message))
        if check.remedy:
            table.add_row("", "", Text(one_line(check.remedy), "dim"))
    print_table(table)
