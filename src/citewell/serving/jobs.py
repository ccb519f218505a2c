"""Jobs: what takes longer than a request. They are in the service's database, so that every process knows of all."""

from __future__ import annotations

import json
import secrets
import shutil
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

from citewell import clock
from citewell.serving.caller import Caller
from citewell.serving.problems import TooBusy, no_such
from citewell.serving.state import State
from citewell.shapes import VERSION, Shape

MAX_QUEUED = 200
"""Of one caller."""
KEPT_DAYS = 30
LISTED = 100

TABLE = """
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, caller TEXT NOT NULL, state TEXT NOT NULL, wanted TEXT NOT NULL,
    created TEXT NOT NULL, started TEXT, ended TEXT, progress TEXT, result TEXT, error TEXT,
    cancelling INTEGER NOT NULL DEFAULT 0
)
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


class Jobs:
    """The jobs of a service."""

    def __init__(self, state: State) -> None:
        self._file = state.file
        self._spools = state.folder / "uploads" / ".incoming"
        with self._file.writing() as database:
            database.execute(TABLE)
            database.execute("CREATE INDEX IF NOT EXISTS jobs_by_state ON jobs (state)")

    def new_id(self) -> str:
        return secrets.token_hex(8)

    def spool(self, job_id: str) -> Path:
        """A folder for what the job needs until it is over."""
        return self._spools / job_id

    def add(self, job_id: str, kind: str, caller: Caller, wanted: Shape) -> Job:
        """Queue a job.

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
        """The job, if it is the caller's, or the caller an admin; None may see all.

        Raises:
            UnknownId: there is none, or not for this caller.
        """
        with self._file.reading() as database:
            row = database.execute("SELECT * FROM jobs WHERE id = ?", (job_id,)).fetchone()
        if row is None or not (caller is None or caller.is_admin or row["caller"] == caller.name):
            raise no_such("job", job_id)
        return _job(row)

    def of(self, caller: Caller) -> Sequence[Job]:
        """The newest of the caller's own, or of all for an admin, the newest first."""
        with self._file.reading() as database:
            rows = database.execute(
                "SELECT * FROM jobs WHERE caller = ? OR ? ORDER BY created DESC, rowid DESC LIMIT ?",
                (caller.name, caller.is_admin, LISTED),
            )
            return [_job(row) for row in rows]

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

    # What runs them. `citewell.serving.runner` holds a lock meanwhile.

    def are_open(self) -> bool:
        """Whether any waits or runs."""
        with self._file.reading() as database:
            return bool(database.execute("SELECT 1 FROM jobs WHERE state IN ('queued', 'running') LIMIT 1").fetchone())

    def take(self) -> Job | None:
        """The job that has waited longest, running from now on."""
        with self._file.writing() as database:
            row = database.execute(
                "UPDATE jobs SET state = 'running', started = ? WHERE id = "
                "(SELECT id FROM jobs WHERE state = 'queued' ORDER BY created, rowid LIMIT 1) RETURNING *",
                (_now(),),
            ).fetchone()
            return _job(row) if row is not None else None

    def tell(self, job_id: str, progress: Shape) -> bool:
        """How far it is. Returns whether it is to stop."""
        with self._file.writing() as database:
            database.execute("UPDATE jobs SET progress = ? WHERE id = ?", (json.dumps(progress), job_id))
            (cancelling,) = database.execute("SELECT cancelling FROM jobs WHERE id = ?", (job_id,)).fetchone()
            return bool(cancelling)

    def keep(self, job_id: str, result: Shape) -> None:
        """What was done so far."""
        with self._file.writing() as database:
            database.execute("UPDATE jobs SET result = ? WHERE id = ?", (json.dumps(result), job_id))

    def end(self, job_id: str, state: JobState, error: Shape | None = None) -> None:
        shutil.rmtree(self.spool(job_id), ignore_errors=True)
        with self._file.writing() as database:
            database.execute(
                "UPDATE jobs SET state = ?, ended = ?, error = ? WHERE id = ?",
                (state.value, _now(), json.dumps(error) if error else None, job_id),
            )

    def clear(self) -> None:
        """End what a process that is gone was running, and forget what was over long ago."""
        with self._file.writing() as database:
            left = [row["id"] for row in database.execute("SELECT id FROM jobs WHERE state = 'running'")]
            before = (clock.now() - timedelta(days=KEPT_DAYS)).isoformat(timespec="milliseconds")
            database.execute("DELETE FROM jobs WHERE ended < ?", (before,))
        for job_id in left:
            self.end(job_id, JobState.INTERRUPTED)


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
