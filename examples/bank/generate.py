"""Writes the running example: the documents of the invented Larkfield Bank, and the test set that asks about them.

    python examples/bank/generate.py [OUT]

Everything is deterministic, byte for byte. OUT is this file's folder unless given.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from source import branch_hours, manual, procedures, schedule, testset
from source.markup import EDITIONS

FILES = Path(__file__).parent / "source" / "files"


def generate(out: Path) -> None:
    """Write `documents/` and `testset.jsonl` into `out`."""
    documents = out / "documents"
    for folder in ("fees", "manual", "procedures", "public", "rules"):
        (documents / folder).mkdir(parents=True, exist_ok=True)
    for edition in EDITIONS:
        manual.write(documents / "manual" / f"fraud-policy-manual-{edition}.pdf", edition)
    schedule.write(documents / "fees" / "card-fee-schedule-2026.pdf")
    procedures.write(
        documents / "procedures" / "dispute-handling-procedures.docx", manual.blocks(EDITIONS[-1], "procedures.txt")
    )
    branch_hours.write(documents / "public" / "branch-hours.html")
    shutil.copyfile(FILES / "scoring_rules.py", documents / "rules" / "scoring_rules.py")
    shutil.copyfile(FILES / "citewell-access.toml", documents / "citewell-access.toml")
    testset.write(out / "testset.jsonl", documents)


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
