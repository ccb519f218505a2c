"""One job of a kind at a time, in a thread of whichever process is first.

Who runs jobs holds a lock of the operating system. So a job that is said to run while nobody holds it was interrupted:
its process is gone.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from filelock import FileLock, Timeout

from citewell.serving.jobs import Job, Jobs, JobState
from citewell.serving.problems import log_failure, told
from citewell.shapes import Shape

log = logging.getLogger("citewell.serving")

LOOK_S = 1.0
"""How often a process looks for jobs that another one has queued."""


class Stopped(Exception):
    """Raised between two steps of a job that goes no further."""

    def __init__(self, state: JobState) -> None:
        super().__init__(state)
        self.state = state


class Running:
    """A job under way, as its work sees it."""

    def __init__(self, job: Job, jobs: Jobs, stopping: threading.Event) -> None:
        self.job = job
        self.spool = jobs.spool(job.id)
        self._jobs = jobs
        self._stopping = stopping

    def step(self, done: int, total: int, current: str) -> None:
        """Say how far it is.

        Raises:
            Stopped: it was cancelled, or the service stops; leave at once what is whole now.
        """
        cancelling = self._jobs.tell(self.job.id, {"done": done, "total": total, "current": current})
        if cancelling or self._stopping.is_set():
            raise Stopped(JobState.CANCELLED if cancelling else JobState.INTERRUPTED)

    def finish(self, total: int) -> None:
        """All of it is done."""
        self._jobs.tell(self.job.id, {"done": total, "total": total, "current": ""})

    def keep(self, result: Shape) -> None:
        """What was done so far; it stays, however the job ends."""
        self._jobs.keep(self.job.id, result)


class Work(Protocol):
    """What jobs of a kind do."""

    def __call__(self, running: Running) -> None:
        """Raises:
        Stopped: from `running.step`.
        CitewellError: it failed.
        """
        ...


class Runner:
    """`works` says what the jobs of each kind do; those of one `name` are run one after the other."""

    def __init__(self, jobs: Jobs, folder: Path, works: Mapping[str, Work], name: str = "jobs") -> None:
        self._jobs = jobs
        self._lock = FileLock(folder / f"{name}.lock", thread_local=False, fallback_to_soft=False)
        self._works = works
        self._stopping = threading.Event()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"citewell-{name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """There is a new job."""
        self._wake.set()

    def stop(self) -> None:
        """Stop after the step under way, and wait for that. What has not begun waits for the next start."""
        self._stopping.set()
        self._wake.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                if self._jobs.are_open(self._works):
                    with self._lock.acquire(blocking=False):
                        self._jobs.clear(self._works)
                        self._run_all()
            except Timeout:
                pass  # another process is at it
            except Exception as error:  # noqa: BLE001 - a full disk, say; the next look may go well
                log_failure(log, "looking for jobs", error)
            self._wake.wait(LOOK_S)
            self._wake.clear()

    def _run_all(self) -> None:
        while not self._stopping.is_set() and (job := self._jobs.take(self._works)) is not None:
            state, error = self._outcome(job)
            self._jobs.end(job.id, state, error)

    def _outcome(self, job: Job) -> tuple[JobState, Shape | None]:
        try:
            self._works[job.kind](Running(job, self._jobs, self._stopping))
        except Stopped as stopped:
            return stopped.state, None
        except Exception as error:  # noqa: BLE001 - whatever it is, the job has failed and the next one goes on
            log_failure(log, f"job {job.id}", error)
            return JobState.FAILED, told(error, None)[1]["error"]
        return JobState.DONE, None
