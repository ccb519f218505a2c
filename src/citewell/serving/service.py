"""What one process of the service holds, for its routes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import HTTPBearer

from citewell.conversations import ConversationStore
from citewell.index import Index
from citewell.serving.audit import Audit
from citewell.serving.caller import Caller, Scope
from citewell.serving.checked import Checked
from citewell.serving.jobs import Jobs
from citewell.serving.lane import Lane
from citewell.serving.metrics import Metrics
from citewell.serving.problems import Forbidden
from citewell.serving.runner import Runner
from citewell.serving.state import State
from citewell.serving.turns import Turns
from citewell.serving.uploads import Uploads
from citewell.settings import Settings


@dataclass(frozen=True, slots=True)
class Service:
    """Questions run in `asking`, short reads in `reading`, writes and waiting for their turn in `writing`; uploads are
    indexed by `runner`, and `evaluating` runs what may take hours beside it."""

    index: Index
    settings: Settings
    state: State
    asking: Lane
    reading: Lane
    writing: Lane
    turns: Turns
    jobs: Jobs
    runner: Runner
    evaluating: Runner
    uploads: Uploads
    conversations: ConversationStore
    audit: Audit
    metrics: Metrics
    checked: Checked = field(default_factory=Checked)


def service_of(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


def request_id(request: Request) -> str:
    return str(request.state.request_id)


_BEARER = HTTPBearer(auto_error=False, description="An API key (`cw_...`), or a token of the OIDC issuer.")


def needs(scope: Scope) -> Callable[..., Caller]:
    """A dependency: the caller, who may do that.

    Raises:
        Forbidden: they may not.
    """

    def caller_of(request: Request, _: Annotated[object, Security(_BEARER)]) -> Caller:
        caller: Caller = request.state.caller
        if not caller.may(scope):
            raise Forbidden(f"That needs a key of the scope {scope}.", remedy="Ask whoever runs the service for one.")
        return caller

    return caller_of


Serving = Annotated[Service, Depends(service_of)]
RequestId = Annotated[str, Depends(request_id)]
MayRead = Annotated[Caller, Depends(needs(Scope.READ))]
MayWrite = Annotated[Caller, Depends(needs(Scope.WRITE))]
MayAdminister = Annotated[Caller, Depends(needs(Scope.ADMIN))]
