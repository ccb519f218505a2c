"""A judge that remembers by content: a run that was stopped goes on, and what failed is judged again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from citewell.checking.judge import Judge, Judgement
from citewell.evaluation.kept import Kept, Line, key_of


class _Judged(Line):
    """No text of a document: a digest of what was judged, and the judgement without its reason."""

    support: float = Field(ge=0, le=1)
    contradicted: bool = False


class RememberedJudge:
    """`judge`, with its judgements kept in a file. Failures are not kept."""

    def __init__(self, judge: Judge, path: Path) -> None:
        self._judge = judge
        self._kept = Kept(_Judged, path)

    @property
    def name(self) -> str:
        return self._judge.name

    def judge(self, claims: Sequence[str], passages: Sequence[str], question: str = "") -> list[Judgement]:
        """As `Judge.judge`; a remembered judgement has no reason.

        Raises:
            PermissionRefused, DiskFull: the file cannot be written.
        """
        keys = [key_of(self.name, claim, list(passages), question) for claim in claims]
        known = [self._kept.get(key) for key in keys]
        new = [claim for claim, line in zip(claims, known, strict=True) if line is None]
        fresh = iter(self._judge.judge(new, passages, question) if new else ())
        return [
            self._remembered(line) if line else self._made(key, next(fresh))
            for key, line in zip(keys, known, strict=True)
        ]

    def _remembered(self, line: _Judged) -> Judgement:
        return Judgement(line.support, contradicted=line.contradicted)

    def _made(self, key: str, judgement: Judgement) -> Judgement:
        if judgement.support is not None:
            self._kept.add(_Judged(key=key, support=judgement.support, contradicted=judgement.contradicted))
        return judgement
