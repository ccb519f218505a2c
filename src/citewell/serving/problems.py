"""What a caller is told when something goes wrong: a status, and {"error": {"type", "message", "remedy"}}.

What only whoever runs the service can mend is told in full to an admin, and to all others by its type alone: such a
message names paths, hosts and processes of the server.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterable, Mapping
from typing import Any

from citewell.complaints import complaints
from citewell.errors import (
    NO_ROOM,
    CitewellError,
    DiskFull,
    IndexLocked,
    IndexNotFound,
    LoadError,
    PromptRefused,
    Refused,
    ServiceError,
    SettingsError,
    UnknownId,
    UsageError,
)
from citewell.serving.caller import Caller
from citewell.shapes import Shape

RETRY_S = 2
"""After so long it is worth asking again."""


class Unauthenticated(UsageError):
    """No key, or one that does not hold (any more)."""


class Forbidden(UsageError):
    """The caller is known, and may not do that."""


class Conflict(UsageError):
    """It does not go together with what is there."""


class TooLarge(UsageError):
    """A request that holds more than it may."""


class RangeNotSatisfiable(UsageError):
    """Bytes are asked for that a file of `size` bytes does not have."""

    def __init__(self, size: int) -> None:
        super().__init__(f"The file has {size:,} bytes, and none of these.", remedy="Ask for others, or for all.")
        self.size = size


class TooBusy(Refused):
    """More is asked than can be done now. `retry_after` is in seconds."""

    def __init__(self, message: str, *, remedy: str, retry_after: int = RETRY_S) -> None:
        super().__init__(message, remedy=remedy)
        self.retry_after = retry_after


STATUSES: tuple[tuple[type[CitewellError], int], ...] = (
    (Unauthenticated, 401),
    (Forbidden, 403),
    (UnknownId, 404),
    (Conflict, 409),
    (TooLarge, 413),
    (RangeNotSatisfiable, 416),
    (IndexLocked, 409),
    (TooBusy, 429),
    (SettingsError, 503),
    (IndexNotFound, 503),
    (UsageError, 400),
    (LoadError, 422),
    (DiskFull, 507),
    (Refused, 503),
    (PromptRefused, 422),
    (ServiceError, 502),
    (CitewellError, 500),
)
"""The first that fits counts."""


def status_of(error: CitewellError) -> int:
    return next(status for kind, status in STATUSES if isinstance(error, kind))


def headers_of(error: Exception) -> dict[str, str]:
    if isinstance(error, Unauthenticated):
        return {"WWW-Authenticate": "Bearer"}
    if isinstance(error, RangeNotSatisfiable):
        return {"Content-Range": f"bytes */{error.size}"}
    if isinstance(error, TooBusy):
        return {"Retry-After": str(error.retry_after)}
    return {"Retry-After": str(RETRY_S)} if isinstance(error, IndexLocked) else {}


def is_ours_to_mend(error: CitewellError) -> bool:
    return status_of(error) >= 500 or isinstance(error, IndexLocked)


def problem(kind: str, message: str, remedy: str) -> Shape:
    return {"error": {"type": kind, "message": message, "remedy": remedy}}


def wrong_request(problems: Iterable[Mapping[str, Any]], remedy: str) -> Shape:
    """Of a request that is not as it must be, by the errors that pydantic lists. Never what it holds."""
    return problem("RequestError", f"{complaints(problems)}.", remedy)


def problem_of(error: CitewellError, caller: Caller | None) -> Shape:
    """The error as `caller` may read it."""
    kind = type(error).__name__
    if is_ours_to_mend(error) and not (caller is not None and caller.is_admin):
        if isinstance(error, IndexLocked):
            return problem(kind, "The index is being written to.", "Try again in a moment.")
        return problem(kind, "The service cannot do this now.", "Try again later, or ask whoever runs it.")
    return problem(kind, error.message, error.remedy)


def unexpected() -> Shape:
    """Of a fault that nobody has foreseen: its text may hold anything, and is only logged."""
    return problem("Unexpected", "Something went wrong in the service.", "It was logged under the id of this request.")


def meant(error: Exception) -> CitewellError | None:
    """What an exception says in our terms, where it does."""
    if isinstance(error, CitewellError):
        return error
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return DiskFull("There is no room left to write.", remedy="Make room on the service's disk.")
    return None


def told(error: Exception, caller: Caller | None) -> tuple[int, Shape]:
    """The status of an exception, and what `caller` may read of it."""
    known = meant(error)
    return (500, unexpected()) if known is None else (status_of(known), problem_of(known, caller))


def log_failure(log: logging.Logger, where: str, error: Exception) -> None:
    """Log what whoever runs the service has to know. A fault's own text is left out: it may be of a document."""
    known = meant(error)
    if known is None:
        frames = "".join(traceback.format_tb(error.__traceback__))
        log.error("%s: unexpected %s\n%s", where, type(error).__name__, frames)
    elif is_ours_to_mend(known):
        log.error("%s: %s: %s", where, type(known).__name__, known)


def no_such(what: str, name: str) -> UnknownId:
    """What does not exist, or not for this caller."""
    return UnknownId(f"There is no {what} {name!r}.", remedy=f"GET /v1/{what}s lists those that are yours to see.")
