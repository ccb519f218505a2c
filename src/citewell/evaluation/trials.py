"""Settings tried on one test set, each compared with the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from citewell.evaluation.comparison import Compared, as_shape, compare_all
from citewell.evaluation.report.shape import VERSION
from citewell.evaluation.scored import Scored
from citewell.evaluation.variants import differing
from citewell.evaluation.verdicts import WORTH
from citewell.settings import Settings


@dataclass(frozen=True, slots=True)
class Variant:
    """Settings by the name of their file, and what they scored."""

    name: str
    settings: Settings
    scored: Scored


@dataclass(frozen=True, slots=True)
class Trial:
    """Two variants of which the second is on trial."""

    before: Variant
    after: Variant
    compared: Compared

    @property
    def differing(self) -> Sequence[str]:
        """The settings that differ, as `table.key: before, after`."""
        return differing(self.before.settings, self.after.settings)


def compare_settings(variants: Sequence[Variant], *, worth: float = WORTH) -> tuple[Trial, ...]:
    """Each variant but the first with the first, all tested together.

    Raises:
        UsageError: no question has a measure to compare.
    """
    first, *others = variants
    compared = compare_all(first.scored.measured, [each.scored.measured for each in others], worth=worth)
    return tuple(Trial(first, each, result) for each, result in zip(others, compared, strict=True))


def trials_shape(trials: Sequence[Trial], judge: str) -> dict[str, Any]:
    """Trials against one variant, as `citewell compare --json` prints them."""
    return {
        "version": VERSION,
        "before": trials[0].before.name,
        "judge": judge,
        "compared": [
            {"after": trial.after.name, "settings": list(trial.differing), **as_shape(trial.compared)}
            for trial in trials
        ],
    }
