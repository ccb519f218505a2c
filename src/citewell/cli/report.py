"""The report of a run of indexing, for a person or as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from citewell.cli.terminal import complain, count, one_line, out, place, print_json, print_table
from citewell.errors import IndexingStopped
from citewell.shapes import index_shape
from citewell.types import FileReport, FileState, IndexReport

# A run may add or move thousands of files; only so many are worth a line each.
LISTED = 20
COUNTED = (FileState.ADDED, FileState.RENAMED)
STYLES = {FileState.FAILED: "red", FileState.PARTLY: "yellow", FileState.SKIPPED: "dim", FileState.REMOVED: "dim"}


def print_report(report: IndexReport, stopped: IndexingStopped | None, *, as_json: bool, on_one_line: bool) -> None:
    """Print what became of the files, and what stopped the run where something did; warnings on standard error."""
    for warning in report.warnings:
        complain(warning)
    for file in report.files:
        for warning in file.warnings:
            complain(f"{place(file.source)}: {warning}")
    if as_json:
        print_json(index_shape(report, stopped), on_one_line=on_one_line)
    else:
        _print_files(report)
    if stopped is not None:
        complain(stopped.message, stopped.remedy)


def _print_files(report: IndexReport) -> None:
    from rich.table import Table
    from rich.text import Text

    states = Counter(file.state for file in report.files)
    table = Table.grid(padding=(0, 2))
    for file in report.files:
        if not _is_listed(file, states):
            continue
        line = Text.assemble((place(file.source), "bold"), _detail(file), overflow="fold")
        table.add_row(Text(file.state, STYLES.get(file.state, "green")), line)
    print_table(table)
    counts = ", ".join(f"{states[state]:,} {state}" for state in FileState if states[state]) or "no files"
    out().print(f"{counts}; {count(report.embedded, 'passage')} embedded in {report.seconds:.1f} s", style="bold")
    if report.usage.calls:
        used = report.usage
        tokens = f"{used.prompt_tokens:,} tokens read, {used.completion_tokens:,} written"
        out().print(f"The language model: {count(used.calls, 'call')}, {tokens}", style="dim")


def _is_listed(file: FileReport, states: Mapping[FileState, int]) -> bool:
    if file.state is FileState.UNCHANGED:
        return bool(file.reason)
    return file.state not in COUNTED or states[file.state] <= LISTED


def _detail(file: FileReport) -> str:
    if file.state is FileState.RENAMED:
        return f": was {place(file.reason.removeprefix('was '))}"
    if file.state in (FileState.FAILED, FileState.SKIPPED, FileState.REMOVED):
        return f": {one_line(file.reason)}" if file.reason else ""
    pages, chunks = sum(file.pages.values()), file.chunks
    counts = [count(number, name) for number, name in ((pages, "page"), (chunks, "chunk")) if number]
    parts = (", ".join(counts), one_line(file.reason))
    return "".join(f": {part}" for part in parts if part)
