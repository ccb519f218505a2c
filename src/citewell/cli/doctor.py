"""`citewell doctor`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.options import DEFAULT_INDEX, IndexPlace, Json, SettingsFile, load_settings
from citewell.cli.terminal import one_line, print_json, print_table
from citewell.shapes import VERSION, Shape

if TYPE_CHECKING:
    from citewell.diagnosis import Check

SIGNS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "error": ("✗", "red")}

Fix = Annotated[bool, typer.Option("--fix", help="Mend what can be mended safely; no document is deleted.")]


def doctor(
    location: IndexPlace = DEFAULT_INDEX, settings: SettingsFile = None, fix: Fix = False, as_json: Json = False
) -> None:
    """Check the installation and the index."""
    from citewell.diagnosis import examine, mend

    checks = list(examine(location, lambda: load_settings(settings)))
    done: list[str] = []
    if fix and any(check.mend for check in checks):
        done = list(mend(location, load_settings(settings), checks))
        checks = list(examine(location, lambda: load_settings(settings)))
    broken = any(check.severity == "error" for check in checks)
    if as_json:
        print_json(_shape(checks, done, healthy=not broken))
    else:
        for line in done:
            print(f"fixed: {one_line(line)}")
        _print_checks(checks)
    if broken:
        raise typer.Exit(1)


def _shape(checks: Sequence[Check], done: Sequence[str], *, healthy: bool) -> Shape:
    return {
        "version": VERSION,
        "healthy": healthy,
        "fixed": list(done),
        "checks": [
            {
                "name": check.name,
                "severity": check.severity.value,
                "message": check.message,
                "remedy": check.remedy,
                "fixable": check.mend is not None,
            }
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
