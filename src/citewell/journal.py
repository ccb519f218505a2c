"""What one run of indexing has to tell: its reports, its warnings, how far it is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from citewell.types import FileReport, FileState, IndexReport, Progress, Usage

OnProgress = Callable[[Progress], None]


@dataclass(slots=True)
class Journal:
    """Kept by all steps of a run. `total` counts the files known so far, `embedded` the texts embedded."""

    on_progress: OnProgress | None = None
    total: int = 0
    embedded: int = 0
    reports: dict[str, FileReport] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    _telling: threading.Lock = field(default_factory=threading.Lock)

    def tell(self, source: str) -> None:
        """Say how far the run is, now at work on `source`. What `on_progress` raises ends the run."""
        if self.on_progress is None:
            return
        with self._telling:  # reading and embedding both tell
            self.on_progress(Progress(len(self.reports), self.total, self.embedded, source))

    def state(self, source: str) -> FileState | None:
        """What became of a source so far."""
        report = self.reports.get(source)
        return report.state if report else None

    def removed(self, source: str) -> None:
        """Report a removal; with the reason where the file is there, and holds nothing any more."""
        skipped = self.reports.get(source)
        self.reports[source] = FileReport(source, FileState.REMOVED, skipped.reason if skipped else "")

    def stopped(self, sources: Iterable[str]) -> None:
        """Report the files that a run which had to stop did not finish."""
        for source in sources:
            if source not in self.reports:
                self.reports[source] = FileReport(source, FileState.FAILED, "The run stopped before it was indexed.")

    def report(self, seconds: float, usage: Usage, ignored: int = 0) -> IndexReport:
        """The report of the whole run, by source; `usage` is that of the language model."""
        files = tuple(self.reports[source] for source in sorted(self.reports))
        return IndexReport(files, self.embedded, round(seconds, 3), tuple(self.warnings), ignored, usage)
