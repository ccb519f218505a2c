"""Jobs: what takes longer than a request. They are in the service's database, so that every process knows of all."""

from __future__ import annotations

import json
import secrets
import shutil
import sqlite3
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

from citewell import clock
from citewell.serving.caller import Caller
from citewell.serving.problems import TooBusy, no_such
from citewell.serving.state import State, private_folder
from citewell.serving.uploads import Uploads
from citewell.shapes import VERSION, Shape

MAX_QUEUED = 200
"""Of one caller."""
KEPT_DAYS = 30
LISTED = 100
EVALUATION, COMPARISON = "evaluation", "comparison"
FOR_ADMINS = frozenset({EVALUATION, COMPARISON})
"""Kinds whose results are of all that there is, whoever may read it."""

TABLE = """
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, caller TEXT NOT NULL, state TEXT NOT NULL, wanted TEXT NOT NULL,
    created TEXT NOT NULL, started TEXT, ended TEXT, progress TEXT, result TEXT, error TEXT,
    cancelling INTEGER NOT NULL DEFAULT 0
)
"""

# Cut down by the database: a result may have megabytes, and a list shows many.
_EVALUATIONS = """
SELECT id, kind, caller, state, wanted, created, started, ended, progress, error, cancelling,
    CASE WHEN result IS NOT NULL THEN json_object(
        'measures', json_extract(result, '$.slices[0].measures'),
        'verdicts', (
            SELECT json_group_array(json_object(
                'after', json_extract(value, '$.after'), 'verdict', json_extract(value, '$.verdict')
            ))
            FROM json_each(result, '$.compared')
        )
    ) END AS result
FROM jobs WHERE kind IN (SELECT value FROM json_each(?)) ORDER BY created DESC, rowid DESC LIMIT ? OFFSET ?
"""


class JobState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def is_over(self) -> bool:
        return self not in (JobState.QUEUED, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class Job:
    """`wanted` is what is to be done, in the terms of its kind; `result` what was done so far."""

    id: str
    kind: str
    caller: str
    state: JobState
    wanted: Shape
    created: str
    started: str | None
    ended: str | None
    progress: Shape | None
    result: Shape | None
    error: Shape | None
    cancelling: bool

    @property
    def documents(self) -> list[str]:
        """The ids of documents of which its result has texts."""
        questions = (self.result or {}).get("questions", ())
        return [hit["document"] for question in questions for hit in question["hits"]]

    @property
    def in_a_list(self) -> Shape:
        """Without what is too long for one."""
        return {**self.shape, "result": None} if self.kind in FOR_ADMINS else self.shape

    @property
    def shape(self) -> Shape:
        """Without `wanted`, which is ours."""
        return {
            "version": VERSION,
            "job": self.id,
            "kind": self.kind,
            "caller": self.caller,
            "state": self.state.value,
            "created": self.created,
            "started": self.started,
            "ended": self.ended,
            "cancelling": self.cancelling,
            "progress": self.progress,
            "result": self.result,
            "error": self.error,
        }


def _nothing_lies_there(place: Path) -> None:
    """For jobs that take in no files."""


class Jobs:
    """The jobs of a service. `settle` ends what was cut off while a file was tried in its place."""

    def __init__(self, state: State, settle: Callable[[Path], None] = _nothing_lies_there) -> None:
        self._file = state.file
        self._settle = settle
        self._uploads = Uploads(state.folder / "uploads")
        self._spools = self._uploads.folder / ".incoming"
        private_folder(self._spools)
        with self._file.writing() as database:
            database.execute(TABLE)
            database.execute("CREATE INDEX IF NOT EXISTS jobs_by_state ON jobs (state)")

    def spool(self, job_id: str) -> Path:
        """A folder for what the job needs until it is over."""
        return self._spools / job_id

    def queue(self, kind: str, caller: Caller, wanted: Shape, fill: Callable[[Path], None]) -> Job:
        """Queue a job whose folder `fill` fills.

        Raises:
            TooBusy: as `add`; and what `fill` raises. Then nothing is left of it.
        """
        job_id = secrets.token_hex(8)
        spool = self.spool(job_id)
        queued = False
        try:
            spool.mkdir(mode=0o700, parents=True)
            fill(spool)
            job = self.add(job_id, kind, caller, wanted)
            queued = True
        finally:
            if not queued:
                shutil.rmtree(spool, ignore_errors=True)
        return job

    def add(self, job_id: str, kind: str, caller: Caller, wanted: Shape) -> Job:
        """Queue a job whose folder is filled, or that needs nothing.

        Raises:
            TooBusy: the caller has too many in the queue.
        """
        with self._file.writing() as database:
            (queued,) = database.execute(
                "SELECT count(*) FROM jobs WHERE state = 'queued' AND caller = ?", (caller.name,)
            ).fetchone()
            if queued >= MAX_QUEUED:
                raise TooBusy(f"{queued} of your jobs are waiting.", remedy="Wait until some are done.")
            database.execute(
                "INSERT INTO jobs (id, kind, caller, state, wanted, created) VALUES (?, ?, ?, 'queued', ?, ?)",
                (job_id, kind, caller.name, json.dumps(wanted), _now()),
            )
        return self.get(job_id)

    def get(self, job_id: str, caller: Caller | None = None) -> Job:
        """The job, if it is the caller's and not for admins, or the caller is one; None may see all.

        Raises:
            UnknownId: there is none, or not for this caller.
        """
        with self._file.reading() as database:
            row = database.execute("SELECT * FROM jobs WHERE id = ?", (job_id,)).fetchone()
        if row is None or not (caller is None or caller.is_admin or _is_own(row, caller)):
            raise no_such("job", job_id)
        return _job(row)

    def of(self, caller: Caller) -> Sequence[Job]:
        """The newest of the caller's own, or of all for an admin, the newest first."""
        with self._file.reading() as database:
            rows = database.execute(
                "SELECT * FROM jobs WHERE caller = ? AND kind NOT IN (SELECT value FROM json_each(?)) OR ?"
                " ORDER BY created DESC, rowid DESC LIMIT ?",
                (caller.name, json.dumps([*FOR_ADMINS]), caller.is_admin, LISTED),
            )
            return [_job(row) for row in rows]

    def evaluations(self, limit: int, offset: int) -> tuple[Sequence[Job], int]:
        """Evaluations and comparisons, the newest first, and how many there are in all. Of a result there is what a
        list shows: the measures of all questions, and the verdicts.
        """
        kinds = json.dumps([*FOR_ADMINS])
        with self._file.reading() as database:
            rows = database.execute(_EVALUATIONS, (kinds, limit, offset)).fetchall()
            (total,) = database.execute(
                "SELECT count(*) FROM jobs WHERE kind IN (SELECT value FROM json_each(?))", (kinds,)
            ).fetchone()
        return [_job(row) for row in rows], total

    def cancel(self, job_id: str, caller: Caller) -> Job:
        """A job that waits is cancelled at once, one that runs at its next step; one that is over stays as it is.

        Raises:
            UnknownId: as `get`.
        """
        self.get(job_id, caller)
        with self._file.writing() as database:
            database.execute("UPDATE jobs SET cancelling = 1 WHERE id = ? AND state = 'running'", (job_id,))
            cancelled = database.execute(
                "UPDATE jobs SET state = 'cancelled', ended = ? WHERE id = ? AND state = 'queued'", (_now(), job_id)
            ).rowcount
        if cancelled:
            shutil.rmtree(self.spool(job_id), ignore_errors=True)
        return self.get(job_id)

    def forget_texts(self) -> None:
        """Remove every job whose result has texts of documents, in it as quotes or sentences. One that runs ends at its
        next step, and nothing is kept of it.
        """
        with self._file.writing() as database:
            gone = database.execute(
                "DELETE FROM jobs WHERE kind IN (SELECT value FROM json_each(?)) RETURNING id",
                (json.dumps([*FOR_ADMINS]),),
            ).fetchall()
        for row in gone:
            shutil.rmtree(self.spool(row["id"]), ignore_errors=True)

    # What runs them. `citewell.serving.runner` holds a lock meanwhile, for the kinds that it runs.

    def are_open(self, kinds: Collection[str] | None = None) -> bool:
        """Whether any waits or runs; of all kinds, where none are named."""
        with self._file.reading() as database:
            rows = database.execute("SELECT DISTINCT kind FROM jobs WHERE state IN ('queued', 'running')").fetchall()
        return any(kinds is None or row["kind"] in kinds for row in rows)

    def take(self, kinds: Collection[str]) -> Job | None:
        """The job of these kinds that has waited longest, running from now on."""
        with self._file.writing() as database:
            row = database.execute(
                "UPDATE jobs SET state = 'running', started = ? WHERE id = (SELECT id FROM jobs WHERE state = 'queued'"
                " AND kind IN (SELECT value FROM json_each(?)) ORDER BY created, rowid LIMIT 1) RETURNING *",
                (_now(), json.dumps([*kinds])),
            ).fetchone()
            return _job(row) if row is not None else None

    def tell(self, job_id: str, progress: Shape) -> bool:
        """How far it is. Returns whether it is to stop."""
        with self._file.writing() as database:
            database.execute("UPDATE jobs SET progress = ? WHERE id = ?", (json.dumps(progress), job_id))
            row = database.execute("SELECT cancelling FROM jobs WHERE id = ?", (job_id,)).fetchone()
            return row is None or bool(row["cancelling"])

    def keep(self, job_id: str, result: Shape) -> None:
        """What was done so far."""
        with self._file.writing() as database:
            database.execute("UPDATE jobs SET result = ? WHERE id = ?", (json.dumps(result), job_id))

    def end(self, job_id: str, state: JobState, error: Shape | None = None) -> None:
        """It is over; what it was cut off at is settled."""
        shutil.rmtree(self.spool(job_id), ignore_errors=True)
        with self._file.reading() as database:
            row = database.execute("SELECT caller, wanted FROM jobs WHERE id = ?", (job_id,)).fetchone()
        # One that is purged meanwhile is there no more.
        for _, name in json.loads(row["wanted"]).get("files", ()) if row is not None else ():
            self._settle(self._uploads.place(row["caller"], name))
        with self._file.writing() as database:
            database.execute(
                "UPDATE jobs SET state = ?, ended = ?, error = ? WHERE id = ?",
                (state.value, _now(), json.dumps(error) if error else None, job_id),
            )

    def clear(self, kinds: Collection[str]) -> None:
        """End what a process that is gone was running of these kinds, and forget what was over long ago."""
        with self._file.writing() as database:
            running = database.execute("SELECT id, kind FROM jobs WHERE state = 'running'")
            left = [row["id"] for row in running if row["kind"] in kinds]
            before = (clock.now() - timedelta(days=KEPT_DAYS)).isoformat(timespec="milliseconds")
            database.execute("DELETE FROM jobs WHERE ended < ?", (before,))
        for job_id in left:
            self.end(job_id, JobState.INTERRUPTED)


def _is_own(row: sqlite3.Row, caller: Caller) -> bool:
    return bool(row["caller"] == caller.name) and row["kind"] not in FOR_ADMINS


def _now() -> str:
    return clock.now().isoformat(timespec="milliseconds")


def _job(row: sqlite3.Row) -> Job:
    loaded = {name: json.loads(row[name]) if row[name] else None for name in ("progress", "result", "error")}
    return Job(
        id=row["id"],
        kind=row["kind"],
        caller=row["caller"],
        state=JobState(row["state"]),
        wanted=json.loads(row["wanted"]),
        created=row["created"],
        started=row["started"],
        ended=row["ended"],
        cancelling=bool(row["cancelling"]),
        **loaded,
    )
