"""`POST /v1/evaluations` and `POST /v1/comparisons`: jobs that put a test set to the index. For admins."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query

from citewell.errors import PathError
from citewell.evaluation.testset import as_lines, read_testset
from citewell.serving import examples
from citewell.serving.answers import Answered
from citewell.serving.caller import Caller
from citewell.serving.evaluations import ComparisonBody, EvaluationBody, NamedSettings, TestSetBody, is_name
from citewell.serving.jobs import COMPARISON, EVALUATION, Job
from citewell.serving.openapi import answers, errors
from citewell.serving.runs import runs_shape
from citewell.serving.schemas import BenchRuns, JobStatus, TestSets
from citewell.serving.service import MayAdminister, RequestId, Service, Serving
from citewell.shapes import VERSION, Shape

router = APIRouter(tags=["evaluations"])

TESTSETS = "testsets"
"""The folder, in that of the service, of the test sets that are asked for by their names."""

_QUEUED: Any = {
    **answers(202, JobStatus, "It is queued; `Location` is its job.", examples.EVALUATION_JOB),
    **errors(400, 413, 507),
}


@router.get(
    "/v1/evaluations",
    response_class=Answered,
    responses={**answers(200, BenchRuns, "The newest first.", examples.RUNS), **errors()},
)
async def evaluations(
    _: MayAdminister,
    service: Serving,
    *,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    offset: Annotated[int, Query(ge=0, le=1_000_000_000)] = 0,
) -> Answered:
    """Evaluations and comparisons, with the figures to look at first. The whole result is that of the job."""

    def listed() -> Shape:
        found, total = service.jobs.evaluations(limit, offset)
        return {**runs_shape(found), "total": total, "offset": offset}

    return Answered(await service.reading.run(listed))


@router.get(
    "/v1/testsets",
    response_class=Answered,
    responses={**answers(200, TestSets, "By name.", examples.TESTSETS), **errors()},
)
async def testsets(_: MayAdminister, service: Serving) -> Answered:
    """The names of the test sets in the service's folder."""

    def named() -> list[str]:
        folder = service.state.folder / TESTSETS
        return sorted(each.name for each in folder.glob("*") if is_name(each.name) and each.is_file())

    return Answered({"version": VERSION, "testsets": await service.reading.run(named)})


@router.post("/v1/evaluations", status_code=202, response_class=Answered, responses=_QUEUED)
async def evaluate(body: EvaluationBody, caller: MayAdminister, service: Serving, request_id: RequestId) -> Answered:
    """Measure retrieval and answers on a test set. The job's `result` is what `citewell evaluate --json` prints.

    Each question is asked with the groups that it says.
    """
    settings = [NamedSettings(name="service", settings=body.settings)]
    return await _queued(EVALUATION, body, settings, None, caller, service, request_id)


@router.post("/v1/comparisons", status_code=202, response_class=Answered, responses=_QUEUED)
async def compare(body: ComparisonBody, caller: MayAdminister, service: Serving, request_id: RequestId) -> Answered:
    """Compare settings on a test set. The job's `result` is what `citewell compare --json` prints.

    Where settings make another index, it is built for the job, of the texts that are in the index.
    """
    return await _queued(COMPARISON, body, body.settings, body.worth, caller, service, request_id)


async def _queued(
    kind: str,
    body: TestSetBody,
    settings: list[NamedSettings],
    worth: float | None,
    caller: Caller,
    service: Service,
    request_id: str,
) -> Answered:
    for each in settings:
        each.settings.over(service.settings)  # what is wrong is told now
    testset = body.told_as
    wanted = {
        "testset": testset,
        "judge": body.judge,
        "retrieval_only": body.retrieval_only,
        "settings": [
            {"name": each.name, "settings": each.settings.model_dump(mode="json", exclude_unset=True)}
            for each in settings
        ],
        "worth": worth,
    }

    def queued() -> Job:
        service.audit.write(kind, caller=caller, request=request_id, asked=testset)
        return service.jobs.queue(kind, caller, wanted, lambda spool: _put(service, body, spool / testset))

    job = await service.writing.run(queued)
    service.evaluating.wake()
    return Answered(job.shape, 202, {"Location": f"/v1/jobs/{job.id}"})


def _put(service: Service, body: TestSetBody, place: Path) -> None:
    """The test set, which may be changed or go while the job waits, into the job's own folder.

    Raises:
        PathError: there is none of that name, or it is none.
    """
    if body.questions is not None:
        place.write_text(as_lines(body.questions), encoding="utf-8")
    else:
        named = service.state.folder / TESTSETS / place.name
        if not named.is_file():
            raise PathError(
                f"There is no test set {place.name!r}.", remedy=f"Put it into {TESTSETS} of the service's folder."
            )
        shutil.copyfile(named, place)
    try:
        read_testset(place)
    except PathError as error:
        raise PathError(error.message.replace(str(place), place.name), remedy=error.remedy) from None
