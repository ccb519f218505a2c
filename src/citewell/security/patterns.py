"""What gives a planted instruction away: rules on phrases, each with the chance that a text which has it is one.

A rule names classes of the lexicon and, behind `~`, how many words may stand before the next. `^` asks that the first
word opens a clause, as the verb of an order does. Strengths are set by hand. Of one kind the strongest in a sentence
counts, and two kinds are joined by `1 - (1 - a)(1 - b)`: one strong sign is enough, a weak one needs another beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from citewell.security.phrases import Find, Reading


class Kind(StrEnum):
    """What a planted instruction is after, or how it hides."""

    OVERRIDE = "override"
    PERSONA = "persona"
    SECRETS = "secrets"
    EXFILTRATION = "exfiltration"
    DELIMITER = "delimiter"
    FORGED = "forged"
    ADDRESSED = "addressed"
    ANSWER = "answer"
    ENCODED = "encoded"
    HIDDEN = "hidden"


@dataclass(frozen=True, slots=True)
class Sign:
    """`text[start:end]` is a sign of a planted instruction, with a strength of 0 to 1."""

    start: int
    end: int
    kind: Kind
    strength: float


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: the classes that follow one another, and how many words may stand before each."""

    kind: Kind
    strength: float
    steps: tuple[tuple[str, int], ...]
    opens: bool

    @classmethod
    def of(cls, kind: Kind, strength: float, text: str) -> Rule:
        opens = text.startswith("^")
        steps: list[tuple[str, int]] = []
        most = 0
        for part in text.removeprefix("^").split():
            if part.startswith("~"):
                most = int(part[1:])
            else:
                steps.append((part, most))
                most = 0
        return cls(kind, strength, tuple(steps), opens)


_RULES = tuple(
    Rule.of(kind, strength, text)
    for kind, strength, text in (
        (Kind.OVERRIDE, 0.9, "forget ~3 prior ~3 orders"),
        (Kind.OVERRIDE, 0.7, "forget ~3 orders ~3 prior"),
        (Kind.OVERRIDE, 0.65, "^forget ~2 all ~3 orders"),
        (Kind.OVERRIDE, 0.4, "forget ~2 all ~3 orders"),
        (Kind.OVERRIDE, 0.6, "prior ~2 orders ~2 forget"),
        (Kind.OVERRIDE, 0.6, "prior ~3 orders ~6 voided"),
        (Kind.OVERRIDE, 0.6, "everything ~3 before ~5 voided"),
        (Kind.OVERRIDE, 0.7, "forget ~4 operator"),
        (Kind.OVERRIDE, 0.6, "only-task"),
        (Kind.OVERRIDE, 0.5, "from-now ~4 say"),
        (Kind.OVERRIDE, 0.5, "^from-now ~4 shape"),
        (Kind.OVERRIDE, 0.6, "^say ~4 from-now"),
        (Kind.OVERRIDE, 0.5, "^forget ~2 prior ~2 work"),
        (Kind.OVERRIDE, 0.45, "^cancel ~2 prior ~2 orders"),
        (Kind.OVERRIDE, 0.25, "forget ~2 orders"),
        (Kind.OVERRIDE, 0.8, "^forget ~1 everything ~4 before"),
        (Kind.OVERRIDE, 0.25, "^new orders"),
        (Kind.OVERRIDE, 0.8, "yours ~1 new ~1 orders"),
        (Kind.OVERRIDE, 0.6, "new orders ~4 you-are"),
        (Kind.OVERRIDE, 0.6, "new orders ~3 become"),
        (Kind.OVERRIDE, 0.6, "yours ~2 orders ~1 not-apply"),
        (Kind.OVERRIDE, 0.6, "obey ~3 demands"),
        (Kind.OVERRIDE, 0.3, "obey ~4 orders"),
        (Kind.PERSONA, 0.9, "become ~10 unbound"),
        (Kind.PERSONA, 0.6, "say ~6 unbound"),
        (Kind.PERSONA, 0.3, "become ~4 model"),
        (Kind.SECRETS, 0.85, "^reveal ~6 model-secret"),
        (Kind.SECRETS, 0.55, "reveal ~6 model-secret"),
        (Kind.SECRETS, 0.3, "model-secret"),
        (Kind.SECRETS, 0.45, "^reveal ~6 data-secret"),
        (Kind.SECRETS, 0.3, "reveal ~4 all-of-it ~4 data-secret"),
        (Kind.EXFILTRATION, 0.5, "^send ~8 load ~8 address"),
        (Kind.EXFILTRATION, 0.4, "send ~3 all-of-it ~4 load"),
        (Kind.EXFILTRATION, 0.5, "send ~4 all-of-it ~3 load ~6 address"),
        (Kind.EXFILTRATION, 0.4, "send ~5 data-secret"),
        (Kind.EXFILTRATION, 0.4, "^call ~2 tool"),
        (Kind.EXFILTRATION, 0.4, "call ~2 tool ~14 address"),
        (Kind.EXFILTRATION, 0.5, "call ~2 tool ~8 load"),
        (Kind.EXFILTRATION, 0.5, "use ~1 tool ~3 send"),
        (Kind.EXFILTRATION, 0.5, "use ~1 tool ~8 load ~8 address"),
        (Kind.EXFILTRATION, 0.5, "tool ~12 at-reading"),
        (Kind.EXFILTRATION, 0.5, "tool ~12 before-answer"),
        (Kind.EXFILTRATION, 0.5, "tool ~12 before-going-on"),
        (Kind.EXFILTRATION, 0.4, "^render ~4 picture"),
        (Kind.EXFILTRATION, 0.3, "render ~8 address"),
        (Kind.FORGED, 0.5, "as-assistant ~8 concluded"),
        (Kind.FORGED, 0.4, "concluded ~12 orders"),
        (Kind.FORGED, 0.3, "concluded ~12 unbound"),
        (Kind.FORGED, 0.4, "orders ~4 not-apply"),
        (Kind.FORGED, 0.4, "prior ~6 orders ~5 not-apply"),
        (Kind.FORGED, 0.4, "unasked"),
        (Kind.FORGED, 0.5, "concluded ~6 forget"),
        (Kind.ADDRESSED, 0.5, "hail ~2 model"),
        (Kind.ADDRESSED, 0.4, "for-models"),
        (Kind.ADDRESSED, 0.4, "model ~6 you-are"),
        (Kind.ADDRESSED, 0.5, "at-reading"),
        (Kind.ADDRESSED, 0.4, "model ~4 verdict"),
        (Kind.ADDRESSED, 0.3, "before-answer"),
        (Kind.ADDRESSED, 0.25, "before-going-on"),
        (Kind.ADDRESSED, 0.3, "^when-asked ~12 say"),
        (Kind.ADDRESSED, 0.4, "say ~8 when-asked"),
        (Kind.ADDRESSED, 0.3, "model ~3 obey"),
        (Kind.ANSWER, 0.65, "^shape ~20 your-answer"),
        (Kind.ANSWER, 0.3, "shape ~12 your-answer"),
        (Kind.ANSWER, 0.35, "^shape ~12 the-answer"),
        (Kind.ANSWER, 0.5, "your-answer ~3 shape"),
        (Kind.ANSWER, 0.55, "^within"),
        (Kind.ANSWER, 0.2, "your-answer"),
        (Kind.ANSWER, 0.5, "address ~5 your-answer"),
        (Kind.ANSWER, 0.6, "^garble ~4 letters"),
        (Kind.ANSWER, 0.55, "^reply ~3 letters"),
        (Kind.ANSWER, 0.4, "verdict"),
        (Kind.ANSWER, 0.4, "shape ~12 your-answer ~8 the-user"),
        (Kind.ANSWER, 0.4, "the-user ~6 your-answer"),
        (Kind.ANSWER, 0.55, "canary ~12 your-answer"),
        (Kind.ANSWER, 0.4, "canary ~12 the-answer"),
        (Kind.ANSWER, 0.4, "at-reading ~8 shape"),
        (Kind.ANSWER, 0.4, "^before-answer ~8 shape"),
        (Kind.ENCODED, 0.8, "decode ~16 carry-out"),
    )
)
_FORBIDS = 2
"""Words between "not" and what it forbids."""


def signs(reading: Reading) -> Iterator[Sign]:
    """The signs of planted instructions in a text, rule by rule, but for those that the text forbids."""
    forbidden = {find.last + more for find in reading.found.get("not", ()) for more in range(_FORBIDS + 1)}
    for rule in _RULES:
        for find in reading.sequence(rule.steps, opens=rule.opens):
            if find.first not in forbidden or _forbids_itself(reading, find):
                yield Sign(*reading.span(find), rule.kind, rule.strength)


def _forbids_itself(reading: Reading, find: Find) -> bool:
    return any(find.first == other.first for other in reading.found.get("unasked", ()))
