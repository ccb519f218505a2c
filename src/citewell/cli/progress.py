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
OnStep = Callable[[int, int | None, str], None]
"""Called with how many steps are done, of how many, and what is said beside the bar."""


@contextmanager
def shown(unit: str) -> Iterator[OnProgress]:
    """Draw a bar while a run is under way, and let Ctrl-C end it between two steps."""
    with stepwise(unit) as step:

        def on_progress(progress: Progress) -> None:
            label = f"{unit} {progress.embedded:6,} embedded  {place(progress.source)[-24:]}"
            step(progress.files_done, progress.files_total, label)

        yield on_progress


@contextmanager
def stepwise(label: str) -> Iterator[OnStep]:
    """As `shown`, of steps of any kind; `label` stands beside the bar until the first is done."""
    with _drawn(label) as draw, _stopping_between_steps(draw) as on_step:
        yield on_step


@contextmanager
def _stopping_between_steps(draw: OnStep | None) -> Iterator[OnStep]:
    """Let Ctrl-C end the run at its next sign of progress, and a second one at once.

    Raised anywhere, as Python does, it may hit the clean-up of an object, which swallows it: the run would go on.
    """
    asked = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  # the signature is Python's
        asked.set()
        signal.signal(signal.SIGINT, before)

    def on_step(done: int, total: int | None, label: str) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        if draw is not None:
            draw(done, total, label)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield on_step
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _drawn(label: str) -> Iterator[OnStep | None]:
    """A bar on standard error; nothing where that is no terminal."""
    screen = console(sys.stderr)
    if not screen.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TimeElapsedColumn(), BarColumn(16), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    with Bar(*columns, console=screen, transient=True) as bar:
        task = bar.add_task(label, total=None)

        def show(done: int, total: int | None, said: str) -> None:
            bar.update(task, completed=done, total=total, description=said)

        yield show
