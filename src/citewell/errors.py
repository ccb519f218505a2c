"""One tree of errors. Each says what happened, where, and what to do about it.

CitewellError
├── UsageError                  the caller's input is wrong            (exit code 2)
│   ├── SettingsError           a settings or access file
│   ├── PathError               a path given to index
│   ├── QuestionError           an empty or oversized question
│   ├── FilterError             a filter names an unknown field, or a value that it cannot have
│   ├── IndexNotFound           no index at that path
│   └── UnknownId               no such document or chunk, or not for this reader
├── LoadError                   one file could not be read; the others go on (exit code 1)
│   ├── UnsupportedFormat       no loader for what the file holds
│   ├── NotAFile                a link or a device in a folder
│   ├── Expired                 its access rules have set an end to its time
│   ├── EmptyFile               nothing in it
│   ├── DamagedFile             it does not parse
│   ├── PasswordNeeded          it is encrypted
│   └── LimitExceeded           larger, longer or more inflated than the settings allow
├── Refused                     it would be wrong to go on              (exit code 3)
│   ├── IndexLocked             another process is writing
│   ├── IndexFormatError        made by another version, or damaged
│   ├── DiskFull                no room to write; nothing stored is lost
│   ├── FingerprintMismatch     the embedder is not the one that made the index
│   └── PermissionRefused       the file system says no
└── ServiceError                a model endpoint                        (exit code 4)
    ├── IndexingStopped         while indexing: what is committed stays
    ├── ServiceUnreachable      no connection, a time-out, or it keeps failing
    └── ServiceRefused          it answered, and the answer is no (key, model name, quota)
        └── PromptRefused       to this prompt: too long, or against its rules
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.types import IndexReport

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Numbers of an OSError that says that a disk, a quota or a file has no room left."""


class CitewellError(Exception):
    """The root. `message` says what happened and where, `remedy` what to do."""

    exit_code = 1

    def __init__(self, message: str, *, remedy: str) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()

    def __reduce__(self) -> tuple[object, ...]:
        # The default would call the class with the message alone, and lose the remedy across processes.
        return (_rebuild, (type(self), self.message, self.remedy))


def _rebuild(kind: type[CitewellError], message: str, remedy: str) -> CitewellError:
    return kind(message, remedy=remedy)


class UsageError(CitewellError):
    """The caller's input is wrong."""

    exit_code = 2


class SettingsError(UsageError):
    """A settings file, an access file or an environment variable is wrong."""


class PathError(UsageError):
    """A path given to `index` does not exist or is of no use."""


class QuestionError(UsageError):
    """A question or query is empty or too long."""


class FilterError(UsageError):
    """A filter names a field that is not declared, or a value that the field cannot have."""


class IndexNotFound(UsageError):
    """There is no index at that path."""


class UnknownId(UsageError):
    """No such document or chunk; a reader without rights sees the same."""


class LoadError(CitewellError):
    """One file could not be read."""


class UnsupportedFormat(LoadError):
    """No loader knows what the file holds."""


class NotAFile(LoadError):
    """A symbolic link, a device, a pipe or a socket inside a folder; it is never opened."""


class Expired(LoadError):
    """The day on which its access rules let it expire has come."""


class EmptyFile(LoadError):
    """The file holds nothing, or only white space."""


class DamagedFile(LoadError):
    """The file does not parse as what it is."""


class PasswordNeeded(LoadError):
    """The file is encrypted."""


class LimitExceeded(LoadError):
    """The file is larger, longer or more inflated than the settings allow."""


class Refused(CitewellError):
    """It would be wrong to go on."""

    exit_code = 3


class IndexLocked(Refused):
    """Another process is writing to the index."""


class IndexFormatError(Refused):
    """The index was made by another version, or its manifest is damaged."""


class DiskFull(Refused):
    """The file system has no room; what was committed stays."""


class FingerprintMismatch(Refused):
    """The embedder's vectors are not those that the index was made with."""


class PermissionRefused(Refused):
    """The file system does not let us read or write there."""


class ServiceError(CitewellError):
    """A model endpoint failed."""

    exit_code = 4


class IndexingStopped(ServiceError):
    """A model's endpoint failed during indexing. What was committed stays; `report` says what became of each file."""

    def __init__(self, message: str, *, remedy: str, report: IndexReport | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.report = report


class ServiceUnreachable(ServiceError):
    """No connection, a time-out, or a fault that outlasted the retries."""


class ServiceRefused(ServiceError):
    """The endpoint answered, and the answer is no."""


class PromptRefused(ServiceRefused):
    """It is no to this prompt: too long, or against the endpoint's rules. Another one may be answered."""
