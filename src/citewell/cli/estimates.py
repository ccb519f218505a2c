"""An estimate, and what could not be judged, as the cells of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.checking.judge import Failure
    from citewell.evaluation.metrics import Estimate


def figures(of: Estimate | None) -> tuple[str, str, str]:
    """Its value, its interval and of how many it is."""
    return (f"{of.mean:.3f}", f"{of.low:.3f} to {of.high:.3f}", f"{of.questions:,}") if of else ("-", "", "0")


def not_judged(failed: Mapping[Failure, int]) -> str:
    """`5: 3 time-out, 1 refusal, 1 unreadable`."""
    kinds = ", ".join(f"{times} {failure}" for failure, times in failed.items())
    return f"{sum(failed.values())}: {kinds}" if kinds else ""
