"""The audit log: who asked what, and which documents were shown. Never a text of documents, never a key.

JSON lines in `audit.jsonl` of the service's folder. A line is one write to a file that is opened anew: several
processes may write, and whoever keeps logs may move the file away at any time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from citewell import clock
from citewell.serving.caller import Caller

FILE = "audit.jsonl"


@dataclass(frozen=True, slots=True)
class Audit:
    folder: Path

    def write(
        self,
        action: str,
        *,
        caller: Caller | None,
        request: str,
        asked: str = "",
        understood: str = "",
        documents: Iterable[str] = (),
        outcome: str = "",
    ) -> None:
        """One line. What cannot be told here is not done: an error of the disk goes to the caller.

        `asked` is the caller's own words, `understood` those of a follow-up as it stands alone, `documents` are ids of
        those that were shown or changed.
        """
        line = {
            "at": clock.now().isoformat(timespec="milliseconds"),
            "request": request,
            "caller": caller.name if caller is not None else "",
            "key": caller.key_id if caller is not None else "",
            "action": action,
            "asked": asked,
            "understood": understood,
            "documents": list(dict.fromkeys(documents)),
            "outcome": outcome,
        }
        data = (json.dumps({key: value for key, value in line.items() if value}) + "\n").encode()
        file = os.open(self.folder / FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, data)
        finally:
            os.close(file)
