"""`citewell index PATH...`"""

from __future__ import annotations

import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.options import DEFAULT_INDEX, IndexFolder, Json, SettingsFile, load_settings
from citewell.cli.terminal import complain, console, count, one_line, out, place, print_json, print_table
from citewell.errors import IndexNotFound
from citewell.shapes import index_shape
from citewell.types import FileReport, FileState, IndexReport, Progress

if TYPE_CHECKING:
    from citewell.index import Index
    from citewell.settings import Settings

OnProgress = Callable[[Progress], None]

# A first run may add thousands of files; only so many are worth a line each.
LISTED_ADDED = 20
STYLES = {FileState.FAILED: "red", FileState.PARTLY: "yellow", FileState.SKIPPED: "dim", FileState.REMOVED: "dim"}

# readable=False: whether they can be read is said in our words.
Paths = Annotated[list[Path], typer.Argument(metavar="PATH", readable=False, help="Files and folders.")]


def index(
    paths: Paths, folder: IndexFolder = DEFAULT_INDEX, settings: SettingsFile = None, as_json: Json = False
) -> None:
    """Add files and folders to the index, or refresh them."""
    with (
        _open_or_create(folder, paths, load_settings(settings)) as opened,
        _progress() as draw,
        _stopping_between_steps(draw) as on_progress,
    ):
        report = opened.add(*paths, on_progress=on_progress)
    for warning in report.warnings:
        complain(one_line(warning))
    for file in report.files:
        for warning in file.warnings:
            complain(f"{place(file.source)}: {warning}")
    if as_json:
        print_json(index_shape(report))
    else:
        _print_report(report)
    if report.failed:
        raise typer.Exit(1)


def _open_or_create(folder: Path, paths: Sequence[Path], settings: Settings) -> Index:
    from citewell.index import Index
    from citewell.loading import discover

    try:
        return Index.open(folder, settings=settings)
    except IndexNotFound:
        # A mistyped path must not leave an empty index behind.
        discover(paths, skip=folder, ignore=settings.loading.ignore)
        return Index.create(folder, settings=settings)


@contextmanager
def _stopping_between_steps(draw: OnProgress | None) -> Iterator[OnProgress]:
    """Let Ctrl-C end the run at its next sign of progress, and a second one at once.

    Raised anywhere, as Python does, it may hit the clean-up of an object, which swallows it: the run would go on.
    """
    asked = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  # the signature is Python's
        asked.set()
        signal.signal(signal.SIGINT, before)

    def on_progress(progress: Progress) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        if draw is not None:
            draw(progress)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield on_progress
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _progress() -> Iterator[OnProgress | None]:
    """Draw a bar on standard error while a run is under way; nothing where that is no terminal."""
    screen = console(sys.stderr)
    if not screen.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    name = TextColumn("{task.description}", markup=False)
    columns = (TimeElapsedColumn(), BarColumn(16), MofNCompleteColumn(), "files", name)
    with Bar(*columns, console=screen, transient=True) as bar:
        task = bar.add_task("", total=None)

        def show(progress: Progress) -> None:
            label = f"{progress.embedded:6,} embedded  {place(progress.source)[-24:]}"
            bar.update(task, completed=progress.files_done, total=progress.files_total, description=label)

        yield show


def _print_report(report: IndexReport) -> None:
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
    counts = ", ".join(f"{states[state]:,} {state}" for state in FileState if states[state])
    out().print(f"{counts}; {count(report.embedded, 'passage')} embedded in {report.seconds:.1f} s", style="bold")


def _is_listed(file: FileReport, states: Mapping[FileState, int]) -> bool:
    if file.state is FileState.UNCHANGED:
        return bool(file.reason)
    return file.state is not FileState.ADDED or states[file.state] <= LISTED_ADDED


def _detail(file: FileReport) -> str:
    if file.state in (FileState.FAILED, FileState.SKIPPED, FileState.REMOVED):
        return f": {one_line(file.reason)}" if file.reason else ""
    pages, chunks = sum(file.pages.values()), file.chunks
    counts = [count(number, name) for number, name in ((pages, "page"), (chunks, "chunk")) if number]
    parts = (", ".join(counts), one_line(file.reason))
    return "".join(f": {part}" for part in parts if part)
