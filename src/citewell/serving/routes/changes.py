"""`/v1/documents`: uploading, taking away, saying something else of a document."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Form, Query, UploadFile
from pydantic import ValidationError
from starlette.datastructures import UploadFile as Uploaded

from citewell.complaints import complaints
from citewell.errors import UsageError
from citewell.loading import document_id as id_of
from citewell.serving import examples, purging, side_files, uploads
from citewell.serving.answers import Answered
from citewell.serving.caller import Caller
from citewell.serving.documents import changeable, require_id
from citewell.serving.jobs import Job
from citewell.serving.names import clean
from citewell.serving.openapi import answers, errors
from citewell.serving.problems import Conflict, Forbidden
from citewell.serving.replacing import Uploader, require_places, require_trust
from citewell.serving.routes.documents import DocumentId
from citewell.serving.schemas import DeletionReceipt, JobStatus, RetaggedDocument
from citewell.serving.service import MayWrite, RequestId, Service, Serving
from citewell.serving.side_files import About
from citewell.serving.turns import SOON_S
from citewell.serving.uploading import KIND
from citewell.shapes import VERSION, Shape, receipt_shape, version_shape
from citewell.types import Trust, Version

router = APIRouter(tags=["documents"])

MAX_FILES = 1_000
_Some = Annotated[str | None, Form(max_length=200)]
_Day = Annotated[date | None, Form()]


def _said(
    *,
    groups: Annotated[list[str] | None, Form(max_length=100, description="Who may read them: of one's groups.")] = None,
    version: _Some = None,
    valid_from: _Day = None,
    valid_to: _Day = None,
    expires: _Day = None,
    language: _Some = None,
    trust: Annotated[Trust | None, Form(description="Only an admin may approve.")] = None,
) -> About:
    """What a form says of the files with it."""
    given = {
        "groups": groups,
        "version": version,
        "valid_from": valid_from,
        "valid_to": valid_to,
        "expires": expires,
        "language": language,
        "trust": trust,
    }
    return _about({name: value for name, value in given.items() if value is not None})


@router.post(
    "/v1/documents",
    status_code=202,
    response_class=Answered,
    responses={
        **answers(202, JobStatus, "It is queued; `Location` is its job.", examples.JOB),
        **errors(400, 409, 413, 507),
    },
)
async def upload(
    caller: MayWrite,
    service: Serving,
    request_id: RequestId,
    about: Annotated[About, Depends(_said)],
    *,
    files: Annotated[list[UploadFile], File(max_length=MAX_FILES)],
    replace: Annotated[bool, Form(description="Files of the same names that one has uploaded before.")] = False,
) -> Answered:
    """Upload files, to be indexed by a job."""
    _require_allowed(about, caller, service, Trust.UNREVIEWED)
    names = _names(files)

    def queued() -> Job:
        uploader = Uploader(caller.principal, caller.is_admin, replace)
        places = [service.uploads.place(caller.name, name) for name in names]
        require_places(service.index, places, about, uploader)
        ids = [id_of(place.as_uri()) for place in places]
        service.audit.write("upload", caller=caller, request=request_id, asked="; ".join(names), documents=ids)
        return _queue(service, caller, files, names, about, uploader)

    job = await service.writing.run(queued)
    service.runner.wake()
    return Answered(job.shape, 202, {"Location": f"/v1/jobs/{job.id}"})


@router.delete(
    "/v1/documents/{document_id}",
    response_class=Answered,
    responses={**answers(200, DeletionReceipt, "What was removed.", examples.RECEIPT), **errors(404, 409)},
)
async def delete(
    document_id: DocumentId,
    caller: MayWrite,
    service: Serving,
    request_id: RequestId,
    *,
    purge: Annotated[bool, Query(description="All its versions, for good, and what the service keeps of it.")] = False,
) -> Answered:
    """Take a document out of the index, with the files inside it; an uploaded file is removed, too.

    It can be brought back with `citewell rollback` for as long as the setting `keep_deleted_days` says; one that is
    purged cannot. With it go the turns of conversations that show something of it, and all evaluations and comparisons.
    """
    if purge and not caller.is_admin:
        raise Forbidden("Only an admin may purge.", remedy="Ask whoever runs the service.")

    @cache  # our turn may have to begin anew, where another program writes: it is told once
    def told() -> None:
        service.audit.write("delete", caller=caller, request=request_id, documents=[document_id])

    def take_out() -> Shape:
        # Again, and what counts: before our turn, somebody else may have been about to say that they may not.
        version = changeable(service.index, service.uploads, document_id, caller)
        told()
        shape = receipt_shape(service.index.delete(document_id))
        path = service.uploads.path(version.source)
        if path is not None:
            uploads.remove(path)
        return shape

    def deleted() -> Shape:
        changeable(service.index, service.uploads, document_id, caller)  # who may not need not wait
        shape = service.turns.write(take_out, SOON_S)
        # What lies inside may be for fewer readers than the document is.
        return shape if caller.is_admin else {**shape, "removed": shape["removed"][:1]}

    def purged() -> Shape:
        require_id(document_id)
        service.audit.write("purge", caller=caller, request=request_id, documents=[document_id])
        return service.turns.write(lambda: purging.purge(service, document_id), SOON_S)

    return Answered(await service.writing.run(purged if purge else deleted))


@router.patch(
    "/v1/documents/{document_id}",
    response_class=Answered,
    responses={**answers(200, RetaggedDocument, "How it stands now.", examples.RETAGGED), **errors(400, 404, 409, 413)},
)
async def retag(
    document_id: DocumentId, body: About, caller: MayWrite, service: Serving, request_id: RequestId
) -> Answered:
    """Say something else of an uploaded document. What is not named stays as it is; nothing is embedded again."""

    @cache  # as in `delete`
    def told() -> None:
        service.audit.write("retag", caller=caller, request=request_id, documents=[document_id])

    def said() -> Shape:
        changeable(service.index, service.uploads, document_id, caller)
        return service.turns.write(in_our_turn, SOON_S)

    def in_our_turn() -> Shape:
        # All of it in our turn: what somebody else says before it is neither lost nor overlooked.
        version = changeable(service.index, service.uploads, document_id, caller)
        place = _uploaded(service, version)
        before = side_files.read(place)
        _require_allowed(body, caller, service, Trust(before.get("trust", Trust.UNREVIEWED)))
        says = _about(body.over(before)).over({})
        told()
        uploads.retag(service.index, place, says)
        now = service.index.current([document_id]).get(document_id)
        return {"version": VERSION, "now": version_shape(now, None) if now is not None else None}

    return Answered(await service.writing.run(said))


def _about(given: Mapping[str, Any]) -> About:
    try:
        return About.model_validate(given)
    except ValidationError as error:
        raise UsageError(f"{complaints(error.errors())}.", remedy="Correct it.") from None


def _require_allowed(about: About, caller: Caller, service: Service, before: Trust) -> None:
    unknown = sorted((about.fields or {}).keys() - service.settings.metadata.fields.keys())
    if unknown:
        raise UsageError(f"There is no field {unknown[0]!r}.", remedy="The settings declare fields, under [metadata].")
    if caller.is_admin:
        return
    if about.groups is not None and not frozenset(about.groups) <= caller.principal.readable:
        raise Forbidden("You are not in all of these groups.", remedy="Name groups of your own.")
    require_trust(about, before)


def _names(files: Sequence[Uploaded]) -> list[str]:
    names = [clean(file.filename or "") for file in files]
    if len({name.casefold() for name in names}) < len(names):
        raise Conflict("Two of the files have the same name.", remedy="Upload one of them under another name.")
    return names


def _queue(
    service: Service,
    caller: Caller,
    files: Sequence[Uploaded],
    names: Sequence[str],
    about: About,
    uploader: Uploader,
) -> Job:
    def fill(spool: Path) -> None:
        for at, file in enumerate(files):
            with (spool / str(at)).open("xb") as copy:
                shutil.copyfileobj(file.file, copy)

    wanted = {
        "files": [[str(at), name] for at, name in enumerate(names)],
        "says": about.model_dump(mode="json", exclude_unset=True),
        "groups": sorted(uploader.reader.groups),
        "admin": uploader.is_admin,
        "replace": uploader.replace,
    }
    return service.jobs.queue(KIND, caller, wanted, fill)


def _uploaded(service: Service, version: Version) -> Path:
    place = service.uploads.path(version.source)
    if place is None:
        raise Conflict(
            "It was not uploaded: access files beside it say who may read it.",
            remedy="Ask whoever runs the service; docs/access.md describes these files.",
        )
    if not place.exists():
        raise Conflict("Its file has gone.", remedy="Upload it again.")
    return place
