"""The job that indexes uploaded files, some together, and says of each what became of it, page by page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from citewell.errors import CitewellError, IndexingStopped, IndexLocked, UnknownId
from citewell.index import Index
from citewell.loading import document_id
from citewell.serving import side_files, uploads
from citewell.serving.documents import problem_pages, readable
from citewell.serving.lane import Lane
from citewell.serving.replacing import Uploader, require_place, versions_at
from citewell.serving.runner import Running
from citewell.serving.side_files import About
from citewell.serving.turns import Turns
from citewell.serving.uploads import Arrival, Uploads
from citewell.shapes import Shape, index_shape
from citewell.types import BETWEEN_SOURCES, FileState, IndexReport, PageState, Principal, Trust

KIND = "upload"
BESIDE = 2
"""So much is answered at once in a lane while files are indexed: the threads of a process take turns at the
interpreter, and beside eight that answer, a job would get a ninth of it."""
TOGETHER, TOGETHER_BYTES = 32, 2 << 20
"""So many small files are indexed in one step: what a step costs beside its files would be most of the work."""
LOOK_S = 5.0
"""For so long a job waits for its turn before it looks whether it was cancelled."""


@dataclass(frozen=True, slots=True)
class Added:
    """The places of files that were indexed together, what became of them, and what stopped that before all were."""

    places: Sequence[Path]
    report: IndexReport
    stopped: IndexingStopped | None = None


@dataclass(frozen=True, slots=True)
class Uploading:
    """`wanted` of a job: `files`, each the name in the spool and the clean name it will have; `says` of all of them;
    `groups`, with which the caller reads; whether that is an `admin`, and whether they said to `replace` what is there.

    `lanes` are narrowed meanwhile: those whose work computes rather than waits.
    """

    index: Index
    turns: Turns
    uploads: Uploads
    lanes: Sequence[Lane] = ()

    def __call__(self, running: Running) -> None:
        wanted = running.job.wanted
        about, reader = About.model_validate(wanted["says"]), Principal(groups=frozenset(wanted["groups"]))
        uploader = Uploader(reader, is_admin=wanted["admin"], replace=wanted["replace"])
        files = [
            (running.spool / spooled, self.uploads.place(running.job.caller, name)) for spooled, name in wanted["files"]
        ]
        done = list[Shape]()
        while len(done) < len(files):
            group = _together(files[len(done) :])
            step = partial(running.step, len(done), len(files), group[0][1].name)
            added = self._added(step, partial(self._put, group, about, uploader))
            told: Sequence[Shape] = index_shape(added.report)["files"]
            done += (self._told(told, place, reader) for place in added.places)
            running.keep({"files": done})
            if added.stopped is not None:
                raise added.stopped
        running.finish(len(files))

    def _added(self, step: Callable[[], None], put: Callable[[], Added]) -> Added:
        while True:
            step()
            try:
                return self.turns.write(put, LOOK_S)
            except IndexLocked:  # somebody writes for long: go on waiting, unless it was cancelled
                continue

    def _put(self, group: Sequence[tuple[Path, Path]], about: About, uploader: Uploader) -> Added:
        """In our turn. Where one may not be put there, those before it are; it is the first of the next group."""
        for _, place in group:
            uploads.settle(self.index, place)
        arrivals, current = list[Arrival](), versions_at(self.index, [place for _, place in group])
        for spooled, place in group:
            try:
                require_place(place, current.get(place), about, uploader)
            except CitewellError:
                if arrivals:
                    break
                raise
            arrivals.append(Arrival(spooled, place, about.over(_said_before(place))))
        places = [arrival.place for arrival in arrivals]
        try:
            with ExitStack() as narrowed:
                for lane in self.lanes:
                    narrowed.enter_context(lane.narrowed(BESIDE))
                return Added(places, uploads.add(self.index, arrivals))
        except IndexingStopped as stopped:
            if stopped.report is None:
                raise
            return Added(places, stopped.report, stopped)

    def _told(self, files: Sequence[Shape], place: Path, reader: Principal) -> Shape:
        """Of this file and what is inside it. A run also reports what has expired elsewhere: that is for others. So is
        how many texts were embedded: none is whose vector is there, which would tell what others have."""
        source = place.as_uri()
        own = next(file for file in files if file["source"] == source)
        inside = [file for file in files if str(file["source"]).startswith(source + BETWEEN_SOURCES)]
        pages = self._problem_pages(own, document_id(source), reader)
        return {"name": place.name, **own, "document": document_id(source), "page_problems": pages, "inside": inside}

    def _problem_pages(self, told: Shape, document: str, reader: Principal) -> list[Shape]:
        """The document is read only where it has some, or where nothing is told of its pages: it was not read again."""
        others = sum(count for state, count in told["pages"].items() if state != PageState.TEXT)
        if told["state"] != FileState.UNCHANGED and not others:
            return []
        try:
            return problem_pages(readable(self.index, document, reader))
        except UnknownId:
            return []


def _together(files: Sequence[tuple[Path, Path]]) -> Sequence[tuple[Path, Path]]:
    """The first, and those behind it that are small enough to go with it."""
    sizes = accumulate(spooled.stat().st_size for spooled, _ in files[:TOGETHER])
    return files[: max(sum(size <= TOGETHER_BYTES for size in sizes), 1)]


def _said_before(place: Path) -> dict[str, Any]:
    """What was said of the file that this one replaces holds on; that its text was approved does not."""
    said = side_files.read(place) if place.exists() else {}
    return {name: value for name, value in said.items() if (name, value) != ("trust", Trust.APPROVED.value)}
