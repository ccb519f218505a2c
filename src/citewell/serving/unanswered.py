"""What was asked and not answered, from the audit log: for those who write the documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from citewell.serving.audit import FILE


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A question in its first wording, how often it was asked in vain and by how many callers, and when last. One that
    leaned on those before it was `understood` so; "" where it stands alone."""

    question: str
    understood: str
    times: int
    callers: int
    last: datetime


def unanswered(folder: Path) -> tuple[Unanswered, ...]:
    """The questions that nobody got an answer to, the most frequent first; those in other capitals or spaces are one.
    Of follow-ups, those that were understood alike.

    One that somebody did get an answer to later is left out: the documents cover it now, or for that reader.

    Raises:
        OSError: the log cannot be read.
    """
    asked: dict[str, list[tuple[str, str, str, str]]] = {}
    for line in _lines(folder / FILE):
        # Who left, and whose question failed, was told nothing, not even that there is nothing.
        if line.get("action") != "ask" or not line.get("asked") or line.get("outcome") in ("left", "failed"):
            continue
        understood = line.get("understood", "")
        key = " ".join((understood or line["asked"]).casefold().split())
        if line.get("outcome") == "abstained":
            asked.setdefault(key, []).append((line["asked"], understood, line.get("caller", ""), line["at"]))
        elif not line.get("outcome"):
            asked.pop(key, None)
    found = [
        Unanswered(
            question=lines[0][0],
            understood=lines[0][1],
            times=len(lines),
            callers=len({caller for _, _, caller, _ in lines}),
            last=datetime.fromisoformat(lines[-1][3]),
        )
        for lines in asked.values()
    ]
    return tuple(sorted(found, key=lambda each: (-each.times, -each.last.timestamp(), each.question)))


def _lines(log: Path) -> Iterator[dict[str, str]]:
    if not log.exists():
        return
    with log.open(encoding="utf-8") as lines:
        for line in lines:
            try:
                yield json.loads(line)
            except json.JSONDecodeError:
                continue  # a line that a kill cut off
