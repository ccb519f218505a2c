"""The job that indexes uploaded files, one after the other, and says of each what became of it, page by page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from citewell.errors import IndexLocked, UnknownId
from citewell.index import Index
from citewell.loading import document_id
from citewell.serving import side_files, uploads
from citewell.serving.documents import problem_pages, readable
from citewell.serving.lane import Lane
from citewell.serving.replacing import Uploader, require_place
from citewell.serving.runner import Running
from citewell.serving.side_files import About
from citewell.serving.turns import Turns
from citewell.serving.uploads import Uploads
from citewell.shapes import Shape, index_shape
from citewell.types import BETWEEN_SOURCES, IndexReport, Principal, Trust

KIND = "upload"
BESIDE = 2
"""So much is answered at once in a lane while files are indexed: the threads of a process take turns at the
interpreter, and beside eight that answer, a job would get a ninth of it."""
LOOK_S = 5.0
"""For so long a job waits for its turn before it looks whether it was cancelled."""


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
        with ExitStack() as narrowed:
            for lane in self.lanes:
                narrowed.enter_context(lane.narrowed(BESIDE))
            self._all_added(running)

    def _all_added(self, running: Running) -> None:
        wanted = running.job.wanted
        about, reader = About.model_validate(wanted["says"]), Principal(groups=frozenset(wanted["groups"]))
        uploader = Uploader(reader, is_admin=wanted["admin"], replace=wanted["replace"])
        done, total = list[Shape](), len(wanted["files"])
        for at, (spooled, name) in enumerate(wanted["files"]):
            place = self.uploads.place(running.job.caller, name)
            put = partial(self._put, running.spool / spooled, place, about, uploader)
            report = self._added(partial(running.step, at, total, name), put)
            done.append({"name": name, **self._told(report, place, reader)})
            running.keep({"files": done})
        running.finish(total)

    def _added(self, step: Callable[[], None], put: Callable[[], IndexReport]) -> IndexReport:
        while True:
            step()
            try:
                return self.turns.write(put, LOOK_S)
            except IndexLocked:  # somebody writes for long: go on waiting, unless it was cancelled
                continue

    def _put(self, spooled: Path, place: Path, about: About, uploader: Uploader) -> IndexReport:
        """In our turn."""
        uploads.put_back(place)
        require_place(self.index, place, about, uploader)
        return uploads.add(self.index, spooled, place, about.over(_said_before(place)))

    def _told(self, report: IndexReport, place: Path, reader: Principal) -> Shape:
        """Of this file and what is inside it. A run also reports what has expired elsewhere: that is for others. So is
        how many texts were embedded: none is whose vector is there, which would tell what others have."""
        source = place.as_uri()
        files: list[Mapping[str, Any]] = index_shape(report)["files"]
        own = next(file for file in files if file["source"] == source)
        inside = [file for file in files if str(file["source"]).startswith(source + BETWEEN_SOURCES)]
        try:
            pages = problem_pages(readable(self.index, document_id(source), reader))
        except UnknownId:
            pages = []
        return {**own, "document": document_id(source), "page_problems": pages, "inside": inside}


def _said_before(place: Path) -> dict[str, Any]:
    """What was said of the file that this one replaces holds on; that its text was approved does not."""
    said = side_files.read(place) if place.exists() else {}
    return {name: value for name, value in said.items() if (name, value) != ("trust", Trust.APPROVED.value)}
