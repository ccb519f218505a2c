"""What a comparison means: keep the change, drop it, it makes no difference, or ask more questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from citewell.evaluation.paired import LEVEL, POWER, Pairs, holm, interval, least_p, questions_needed, sign_flip, spread

WORTH = 0.02
"""The smallest difference worth having, by default."""


class Verdict(StrEnum):
    """Of a measure or of a whole change. What is worse beyond chance is to be dropped."""

    KEEP = "keep"
    DROP = "drop"
    NO_DIFFERENCE = "no difference"
    NOT_ENOUGH = "not enough questions"


@dataclass(frozen=True, slots=True)
class Pairing:
    """A measure of a slice before and after, of the questions that have it in both.

    `not_judged` counts those without a judgement in one of them, `in_one` those that it does not apply to in one: an
    answer before and none after.
    """

    measure: str
    slice: str
    pairs: Pairs
    not_judged: int = 0
    in_one: int = 0


@dataclass(frozen=True, slots=True)
class Difference:
    """A measure of a slice before and after, over `questions`, of which `changed` differ.

    `low` and `high` are the 95 % interval of after less before, `p` that of the sign-flip test, `p_holm` corrected for
    all that was tested with it. `needed` is how many questions would be enough, where they are not.
    """

    measure: str
    slice: str
    before: float
    after: float
    low: float
    high: float
    p: float
    p_holm: float
    questions: int
    changed: int
    not_judged: int
    in_one: int
    verdict: Verdict
    needed: int | None = None

    @property
    def difference(self) -> float:
        return self.after - self.before

    @property
    def p_text(self) -> str:
        return f"p {self.p_holm:.3f}" if self.p_holm >= 0.0005 else "p < 0.001"

    @property
    def is_beyond_chance(self) -> bool:
        return self.p_holm < LEVEL


def differences(family: Sequence[Pairing], worth: float = WORTH) -> list[Difference]:
    """The pairings that are tested together, in order, each with its verdict.

    There is no difference where no question changed, or the whole interval lies within `worth` of 0 (equivalence by
    confidence interval, Westlake 1976, here at 95 %); else it is for the p that Holm corrected to say. Of so few
    changes that no outcome would be beyond chance, p is 1 after the correction, and the others pay nothing for it
    (Tarone 1990).
    """
    tested = [sign_flip(each.pairs) for each in family]
    tellable = [at for at, each in enumerate(family) if least_p(each.pairs) < LEVEL]
    corrected = dict(zip(tellable, holm([tested[at] for at in tellable]), strict=True))
    return [
        _difference(each, p, corrected.get(at, 1.0), worth, len(family))
        for at, (each, p) in enumerate(zip(family, tested, strict=True))
    ]


def overall(headline: Sequence[Difference]) -> Verdict:
    """Drop what is worse by any measure, keep what is better by one; no difference is one by all of them."""
    given = {each.verdict for each in headline}
    if Verdict.DROP in given:
        return Verdict.DROP
    if Verdict.KEEP in given:
        return Verdict.KEEP
    return Verdict.NO_DIFFERENCE if given == {Verdict.NO_DIFFERENCE} else Verdict.NOT_ENOUGH


def reason(headline: Sequence[Difference], worth: float = WORTH) -> str:
    """Why the verdict is what it is, in a sentence."""
    verdict = overall(headline)
    telling = [each for each in headline if each.verdict is verdict]
    if verdict is Verdict.NO_DIFFERENCE:
        return _why_no_difference(headline, worth)
    if verdict is Verdict.NOT_ENOUGH:
        # By how much larger the test set must be: some measures are of a few of its questions only.
        least = min(telling, key=lambda each: (each.needed or 0) / each.questions)
        size = max(abs(least.difference), worth)
        return (
            f"{least.measure} changed by {least.difference:+.3f}, which {least.questions} questions cannot tell from "
            f"chance; about {least.needed} would show a difference of {size:.3f} with a chance of {POWER * 100:.0f} %."
        )
    return f"{'better' if verdict is Verdict.KEEP else 'worse'} beyond chance: {_listed(telling)}."


def reservations(verdict: Verdict, slices: Sequence[Difference]) -> str:
    """What the verdict does not say of single parts of the test set, in sentences; "" where that is nothing."""
    said = []
    for kind, how in ((Verdict.DROP, "worse"), (Verdict.KEEP, "better")):
        parts = [each for each in slices if each.verdict is kind] if kind is not verdict else []
        names = dict.fromkeys(each.slice for each in parts)
        said += [
            f"But {name} is {how} beyond chance: {_listed([each for each in parts if each.slice == name])}."
            for name in names
        ]
    return " ".join(said)


def _listed(differences: Sequence[Difference]) -> str:
    return ", ".join(f"{each.measure} {each.difference:+.3f} ({each.p_text})" for each in differences)


def _why_no_difference(headline: Sequence[Difference], worth: float) -> str:
    if any(each.changed for each in headline):
        return f"every interval lies within {worth:g} of 0, the smallest difference worth having."
    if not any(each.after for each in headline):
        return "every score is 0 in both, so that there is nothing to tell; check the test set."
    asked = max(each.questions for each in headline)
    # The bound of a share of which nothing was seen: (1 - share)^n = .05.
    bound = 100 * (1 - LEVEL ** (1 / asked))
    return f"the same on each of {asked} questions: likely fewer than {bound:.1f} % of such questions change."


def _difference(of: Pairing, p: float, p_holm: float, worth: float, tests: int) -> Difference:
    before, after = of.pairs.scores
    low, high = interval(of.pairs)
    changed = int(of.pairs.differ.sum())
    verdict = _verdict(after - before, low, high, p_holm, worth) if changed else Verdict.NO_DIFFERENCE
    needed = None
    if verdict is Verdict.NOT_ENOUGH:
        # More than there are, even where chance was against these.
        size = max(abs(after - before), worth)
        needed = max(questions_needed(spread(of.pairs), size, tests), of.pairs.questions + 1)
    return Difference(
        of.measure,
        of.slice,
        before,
        after,
        low,
        high,
        p,
        p_holm,
        of.pairs.questions,
        changed,
        of.not_judged,
        of.in_one,
        verdict,
        needed,
    )


def _verdict(difference: float, low: float, high: float, p_holm: float, worth: float) -> Verdict:
    if -worth <= low and high <= worth:
        return Verdict.NO_DIFFERENCE
    if p_holm < LEVEL:
        return Verdict.KEEP if difference > 0 else Verdict.DROP
    return Verdict.NOT_ENOUGH
