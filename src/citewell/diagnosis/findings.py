"""What a check finds, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from citewell.errors import CitewellError


class Severity(StrEnum):
    """How bad a finding is. Only an error makes `citewell doctor` fail."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


class Mend(StrEnum):
    """What `citewell doctor --fix` can do, in the order in which it does it. None of it deletes a document."""

    UPGRADE = "upgrade"
    PURGES = "purges"
    LEFTOVERS = "leftovers"
    GENERATIONS = "generations"
    TABLES = "tables"
    VERSIONS = "versions"
    INDEXES = "indexes"
    VECTORS = "vectors"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found; `remedy` is empty where all is well, `mend` None where `--fix` cannot help."""

    message: str
    severity: Severity = Severity.OK
    remedy: str = ""
    mend: Mend | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """A finding with the name of its check."""

    name: str
    severity: Severity
    message: str
    remedy: str
    mend: Mend | None


def error(message: str, remedy: str, mend: Mend | None = None) -> Finding:
    return Finding(message, Severity.ERROR, remedy, mend)


def warning(message: str, remedy: str, mend: Mend | None = None) -> Finding:
    return Finding(message, Severity.WARNING, remedy, mend)


def checked(name: str, look: Callable[[], Iterable[Finding]]) -> list[Check]:
    """The findings of one check; what goes wrong while it looks is one of them."""
    try:
        findings = list(look())
    except CitewellError as refused:
        findings = [error(refused.message, refused.remedy)]
    except Exception as unforeseen:  # noqa: BLE001 - a diagnosis goes on after any failure, and reports it
        findings = [error(f"{type(unforeseen).__name__}: {unforeseen}", "Report this with the whole output.")]
    return [Check(name, one.severity, one.message, one.remedy, one.mend) for one in findings]
