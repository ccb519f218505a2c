"""A judge that remembers by content: a run that was stopped goes on, and what failed is judged again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from citewell.evaluation.judging.judge import Judge, Judgement
from citewell.stores import files


class _Line(BaseModel):
    """No text of a document: a digest of what was judged, and the judgement without its reason."""

    model_config = ConfigDict(extra="forbid")

    key: str = Field(pattern="^[0-9a-f]{64}$")
    support: float = Field(ge=0, le=1)
    contradicted: bool = False


class RememberedJudge:
    """`judge`, with its judgements kept in a file of the owner's, a line each. Failures are not kept.

    A line that a kill cut short is passed over; what two processes write at once is whole.
    """

    def __init__(self, judge: Judge, path: Path) -> None:
        self._judge = judge
        self._path = path
        self._known = {line.key: line for line in _lines(path)}

    @property
    def name(self) -> str:
        return self._judge.name

    def judge(self, claims: Sequence[str], passages: Sequence[str], question: str = "") -> list[Judgement]:
        """As `Judge.judge`; a remembered judgement has no reason.

        Raises:
            PermissionRefused, DiskFull: the file cannot be written.
        """
        keys = [_key(self.name, claim, passages, question) for claim in claims]
        new = [claim for key, claim in zip(keys, claims, strict=True) if key not in self._known]
        fresh = iter(self._judge.judge(new, passages, question) if new else ())
        judged: list[Judgement] = []
        for key in keys:
            line = self._known.get(key)
            judged.append(Judgement(line.support, contradicted=line.contradicted) if line else next(fresh))
        for key, judgement in zip(keys, judged, strict=True):
            if key not in self._known and judgement.support is not None:
                self._keep(_Line(key=key, support=judgement.support, contradicted=judgement.contradicted))
        return judged

    def _keep(self, line: _Line) -> None:
        # Begins with a line break: what a kill left without one must not swallow it.
        data = f"\n{line.model_dump_json()}\n".encode()
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(file, data)
            finally:
                os.close(file)
        except OSError as error:
            raise files.meaning(error, self._path.parent) from None
        self._known[line.key] = line


def _key(name: str, claim: str, passages: Sequence[str], question: str) -> str:
    content = json.dumps([name, claim, list(passages), question])
    return hashlib.sha256(content.encode()).hexdigest()


def _lines(path: Path) -> list[_Line]:
    if not path.exists():
        return []
    lines = []
    for text in files.read(path).splitlines():
        try:
            lines.append(_Line.model_validate_json(text))
        except ValidationError:
            continue  # cut short, or empty: it is judged again
    return lines
