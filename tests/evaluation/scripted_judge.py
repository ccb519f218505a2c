"""A judge that says what a test wants, for exact control."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from citewell.checking.judge import Judgement


class ScriptedJudge:
    """Decides by a rule of the test; by default a claim is supported where a passage holds it word for word."""

    name = "scripted"

    def __init__(self, rule: Callable[[str, Sequence[str]], Judgement] | None = None) -> None:
        self._rule = rule or _held
        self.asked: list[str] = []

    def judge(self, claims: Sequence[str], passages: Sequence[str], question: str = "") -> list[Judgement]:  # noqa: ARG002  # the protocol's
        self.asked += claims
        return [self._rule(claim, passages) for claim in claims]


def _held(claim: str, passages: Sequence[str]) -> Judgement:
    return Judgement(float(any(claim in passage for passage in passages)))
