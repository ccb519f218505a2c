"""`citewell index --watch`: a run after each change, until Ctrl-C."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from citewell import clock
from citewell.cli.report import print_report
from citewell.cli.terminal import complain, print_json
from citewell.errors import CitewellError, IndexingStopped, IndexLocked
from citewell.shapes import error_shape
from citewell.types import FileState, IndexReport

if TYPE_CHECKING:
    from citewell.index import Index

LOCKED_S = 2.0
"""Until the next try, where another process is writing."""
FAILED_S = 60.0
"""Until the next try, where a run has failed and nothing changes: a service may be back."""
NO_NEWS = (FileState.UNCHANGED, FileState.FAILED, FileState.SKIPPED)

Run = Callable[[], tuple[IndexReport, IndexingStopped | None]]


def follow(run: Run, index: Index, paths: Sequence[Path], *, as_json: bool) -> None:
    """Run now, whenever something at `paths` has changed, and when a new day begins, on which documents may expire.

    What goes wrong in a run is shown; the next one may do better.
    """
    from citewell.stores.homes import folder_at
    from citewell.watching import moments

    complain(f"watching {', '.join(map(str, paths))}; Ctrl-C ends it")
    runs = _Runs(run, as_json)
    for is_time in moments(paths, skip=folder_at(index.location), ignore=index.settings.loading.ignore):
        if is_time or runs.is_due:
            runs.one()


@dataclass(slots=True)
class _Runs:
    """The runs so far: when the next is due though nothing changes, and what need not be said again."""

    run: Run
    as_json: bool
    _again: float = -inf
    _day: date = date.min
    _said: object = field(default=None)

    @property
    def is_due(self) -> bool:
        return time.monotonic() >= self._again or clock.today() > self._day

    def one(self) -> None:
        self._day = clock.today()
        try:
            report, stopped = self.run()
        except CitewellError as error:
            self._again = time.monotonic() + (LOCKED_S if isinstance(error, IndexLocked) else FAILED_S)
            self._complain(error)
        else:
            self._again = time.monotonic() + FAILED_S if stopped is not None else inf
            self._print(report, stopped)
        sys.stdout.flush()

    def _complain(self, error: CitewellError) -> None:
        if self._is_said(str(error)):
            return
        complain(error.message, f"{error.remedy} The watch goes on, and tries again.")
        if self.as_json and not isinstance(error, IndexLocked):
            print_json(error_shape(type(error).__name__, error.message, error.remedy), on_one_line=True)

    def _print(self, report: IndexReport, stopped: IndexingStopped | None) -> None:
        told = [(file.source, file.reason) for file in report.files if file.state is not FileState.UNCHANGED]
        is_news = any(file.state not in NO_NEWS for file in report.files) or stopped is not None
        if not self._is_said((told, report.warnings)) or is_news or self.as_json:
            print_report(report, stopped, as_json=self.as_json, on_one_line=True)

    def _is_said(self, told: object) -> bool:
        before, self._said = self._said, told
        return before == told
