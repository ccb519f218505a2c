"""`/v1/jobs`: how far they are, what they did; to cancel one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from citewell.serving import examples
from citewell.serving.answers import Answered
from citewell.serving.jobs import Job
from citewell.serving.openapi import answers, errors
from citewell.serving.schemas import JobList, JobStatus
from citewell.serving.service import MayRead, RequestId, Serving
from citewell.shapes import VERSION

router = APIRouter(tags=["jobs"])

JobId = Annotated[str, Path(min_length=1, max_length=200, examples=["9c2a7f00d1e4b356"])]


@router.get(
    "/v1/jobs",
    response_class=Answered,
    responses={**answers(200, JobList, "The newest first.", examples.JOBS), **errors()},
)
async def jobs(caller: MayRead, service: Serving) -> Answered:
    """The caller's last jobs; for an admin those of all."""
    found = await service.reading.run(lambda: service.jobs.of(caller))
    return Answered({"version": VERSION, "jobs": [job.in_a_list for job in found]})


@router.get(
    "/v1/jobs/{job_id}",
    response_class=Answered,
    responses={**answers(200, JobStatus, "How it stands.", examples.JOB), **errors(404)},
)
async def job(job_id: JobId, caller: MayRead, service: Serving, request_id: RequestId) -> Answered:
    """A job: its progress and what it has done so far, an upload's file by file. Evaluations are for admins."""

    def found() -> Job:
        one = service.jobs.get(job_id, caller)
        if one.documents:
            service.audit.write("job", caller=caller, request=request_id, asked=job_id, documents=one.documents)
        return one

    return Answered((await service.reading.run(found)).shape)


@router.delete(
    "/v1/jobs/{job_id}",
    response_class=Answered,
    responses={**answers(200, JobStatus, "How it stands now.", examples.JOB), **errors(404)},
)
async def cancel(job_id: JobId, caller: MayRead, service: Serving, request_id: RequestId) -> Answered:
    """Cancel a job: at once if it waits, after the file that it is at if it runs. What is done stays."""

    def cancelled() -> Answered:
        # One that has ended is answered with its result.
        shown = service.jobs.get(job_id, caller).documents
        service.audit.write("cancel", caller=caller, request=request_id, asked=job_id, documents=shown)
        return Answered(service.jobs.cancel(job_id, caller).shape)

    return await service.writing.run(cancelled)
