"""A run of a test set diagnosed: where its failed questions were lost, and what to try for them first and next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from citewell.checking.judge import Judge
from citewell.evaluation.calibration import lacking
from citewell.evaluation.facts import Fact, of_index
from citewell.evaluation.failures import Failed, has_failed, place
from citewell.evaluation.scored import Scored
from citewell.evaluation.stages import Kind
from citewell.evaluation.techniques import Patch, Technique, patched, techniques
from citewell.evaluation.testset import Question
from citewell.index import Index
from citewell.settings import Settings
from citewell.types import Floor


@dataclass(frozen=True, slots=True)
class Proposal:
    """A technique for some of the failures: `patch` is what it changes in the settings, {} where a person must do it.

    `could_mend` counts the failed questions that it is for, by kind.
    """

    technique: Technique
    patch: Patch
    could_mend: Mapping[Kind, int]

    @property
    def questions(self) -> int:
        return sum(self.could_mend.values())


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Each failed question at its stage. `proposals` are best first, `later` those that this version does not have.

    `untold` are the questions of which nobody can tell whether they failed: the service or the judge did.
    """

    questions: int
    failed: tuple[Failed, ...]
    untold: tuple[Question, ...]
    proposals: tuple[Proposal, ...]
    later: tuple[Proposal, ...]

    @property
    def by_kind(self) -> dict[Kind, int]:
        """How many failed at each stage, in the order of the stages."""
        counted = Counter(failed.kind for failed in self.failed)
        return {kind: counted[kind] for kind in Kind if counted[kind]}

    @property
    def by_label(self) -> dict[str, dict[Kind, int]]:
        """The same for each kind and tag of questions that has a failed one."""
        counted: dict[str, Counter[Kind]] = {}
        for failed in self.failed:
            for label in failed.question.labels:
                counted.setdefault(label, Counter())[failed.kind] += 1
        return {label: {kind: kinds[kind] for kind in Kind if kinds[kind]} for label, kinds in counted.items()}


def diagnose(index: Index, scored: Scored, judge: Judge) -> Diagnosis:
    """Place every failed question of a run that `index` answered and `judge` judged, and propose what to try.

    Raises:
        FingerprintMismatch: the embedder is not the one that made the index.
    """
    stored = index.stored(texts=False)
    run = list(zip(scored.outcomes, scored.measured, strict=True))
    placed = (place(index, stored, outcome, measured, judge) for outcome, measured in run)
    failed = tuple(each for each in placed if each is not None)
    keep = index.settings.retrieval.keep
    untold = tuple(outcome.question for outcome, measured in run if has_failed(outcome, measured, keep) is None)
    can_calibrate = not lacking([outcome.question for outcome in scored.outcomes])
    settings = _in_force(index.settings, index.floor)
    found = propose(failed, settings, of_index(index), can_calibrate=can_calibrate)
    return Diagnosis(
        len(run),
        failed,
        untold,
        proposals=tuple(each for each in found if each.technique.available),
        later=tuple(each for each in found if not each.technique.available),
    )


def propose(
    failed: Sequence[Failed], settings: Settings, facts: frozenset[Fact] = frozenset(), *, can_calibrate: bool = True
) -> list[Proposal]:
    """What the table has for these failures, best first. `settings` have the floor that is in force, and `facts` are
    those of the index.

    Faults are mended first. Then the best is for most questions, where one counts half for what is to be tried second,
    a third for the third ... A technique that changes nothing in these settings, or mends none, is left out, and one
    that calibrates where there are too few questions to.
    """
    weights: dict[str, float] = {}
    found: dict[str, Proposal] = {}
    for kind in Kind:
        of_kind = [each for each in failed if each.kind is kind]
        suitable = [
            technique
            for technique in techniques().for_kind(kind)
            if technique.suits(settings) and (can_calibrate or not technique.calibrates)
        ]
        patches = {technique.name: technique.patch(settings) for technique in suitable}
        mended = {
            each.name: sum(_could_mend(each, patches[each.name], one, facts) for one in of_kind) for each in suitable
        }
        useful = [technique for technique in suitable if mended[technique.name]]
        for order, technique in enumerate(useful, start=1):
            name = technique.name
            weights[name] = weights.get(name, 0) + mended[name] / order
            others = found[name].could_mend if name in found else {}
            found[name] = Proposal(technique, patches[name], {**others, kind: mended[name]})
    return sorted(found.values(), key=lambda each: (not each.technique.before_all, -weights[each.technique.name]))


def _in_force(settings: Settings, floor: Floor) -> Settings:
    """With the floor as a number, where it is one: a calibrated one may be lower than what lowers the built-in one."""
    return settings if floor.least is None else patched(settings, {"retrieval.floor": floor.least})


def _could_mend(technique: Technique, patch: Patch, failed: Failed, facts: frozenset[Fact]) -> bool:
    """More passages help only where the evidence is among them, more candidates where a leg has it among those.

    A floor helps only on the other side of what the floor compares: none where a code decides. And what a technique
    needs must be so.
    """
    if technique.needs is not None and technique.needs not in failed.facts | facts:
        return False
    if technique.calibrates:
        return failed.reached is not None and isfinite(failed.reached)
    keep, candidates, floor = (patch.get(f"retrieval.{key}") for key in ("keep", "candidates", "floor"))
    if failed.kind in (Kind.LOST_IN_FUSION, Kind.BELOW_K) and isinstance(keep, int):
        return failed.rank is not None and failed.rank <= keep
    if failed.kind is Kind.NOT_A_CANDIDATE and isinstance(candidates, int):
        return any(rank <= candidates for rank in failed.ranks.values())
    if isinstance(floor, float):
        return failed.reached is not None and (failed.reached >= floor) is (failed.kind is Kind.BELOW_FLOOR)
    return True
