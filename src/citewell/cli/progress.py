"""How far a long run is, and how Ctrl-C ends it."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from citewell.cli.terminal import console, place
from citewell.types import Progress

OnProgress = Callable[[Progress], None]


@contextmanager
def shown(unit: str) -> Iterator[OnProgress]:
    """Draw a bar while a run is under way, and let Ctrl-C end it between two steps."""
    with _drawn(unit) as draw, _stopping_between_steps(draw) as on_progress:
        yield on_progress


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
def _drawn(unit: str) -> Iterator[OnProgress | None]:
    """A bar on standard error; nothing where that is no terminal."""
    screen = console(sys.stderr)
    if not screen.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    name = TextColumn("{task.description}", markup=False)
    columns = (TimeElapsedColumn(), BarColumn(16), MofNCompleteColumn(), unit, name)
    with Bar(*columns, console=screen, transient=True) as bar:
        task = bar.add_task("", total=None)

        def show(progress: Progress) -> None:
            label = f"{progress.embedded:6,} embedded  {place(progress.source)[-24:]}"
            bar.update(task, completed=progress.files_done, total=progress.files_total, description=label)

        yield show
