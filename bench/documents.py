"""The shared test documents: what each must contain, and what became of it.

    python bench/documents.py [--documents DIR] [--json]

For each file of DIR/manifest.jsonl: its traits, how many of the strings that it must contain are in what would be
indexed (the text of the files inside it too; the cells of a delimited row as the row shows them), its pages by state,
seconds, and the peak memory of the process that read it. Each is read in a new process, the time to start it not
counted.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import machine

from citewell.errors import LoadError
from citewell.loading import Loaded, SourceFile, discover, isolation, load
from citewell.settings import Loading
from citewell.types import BETWEEN_CELLS, ElementKind

SHARED = Path(os.environ.get("CITEWELL_SHARED", Path(__file__).parents[2] / "shared"))
MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Line:
    """One file: `expected` strings, those `missed`, and the error's kind and reason where it was refused."""

    file: str
    traits: str
    expected: int
    missed: tuple[str, ...]
    pages: dict[str, int]
    tables: int
    refused: str
    seconds: float
    peak_mb: float


def text_of(found: Loaded) -> str:
    inner = (text_of(load(file, Loading())) for file in found.inside)
    return " ".join([" ".join(found.document.text.split()), *inner])


def measure(case: dict[str, Any], file: SourceFile) -> Line:
    expected = [as_shown(text, case) for text in case.get("must_contain", ())]
    passwords = [case["password"]] if "password" in case else []
    isolation.parse_apart(b"warm", "warm.txt", Loading())
    begin = time.perf_counter()
    try:
        found = load(file, Loading(), passwords=passwords)
    except LoadError as error:
        refused, missed, pages, tables = f"{type(error).__name__}: {error.message}", tuple(expected), {}, 0
    else:
        refused, text = "", text_of(found)
        missed = tuple(one for one in expected if one not in text)
        pages = dict(Counter(page.state.value for page in found.document.pages))
        tables = sum(element.kind is ElementKind.TABLE for element in found.document.elements)
    seconds = time.perf_counter() - begin
    return Line(
        *(Path(case["file"]).name, ", ".join(case["traits"]), len(expected), missed, pages, tables, refused),
        seconds=round(seconds, 2),
        peak_mb=round(max(peaks(), default=0.0)),
    )


def as_shown(text: str, case: dict[str, Any]) -> str:
    cells = next(csv.reader([text])) if "csv" in case["traits"] else [text]
    return " ".join(BETWEEN_CELLS.join(cells).split())


def peaks() -> Iterator[float]:
    """The peak memory of the reading processes that wait, which are then ended, so that the next file has a new one."""
    for reader in isolation.waiting():
        status = Path(f"/proc/{reader}/status").read_text(encoding="ascii")
        yield int(status.split("VmHWM:")[1].split()[0]) * 1024 / MEGABYTE
    isolation.stop_waiting()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=Path, default=SHARED / "data" / "documents")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    cases = [json.loads(line) for line in (options.documents / "manifest.jsonl").read_text("utf-8").splitlines()]
    files = {file.name: file for file in discover([options.documents / "files"]).files}
    lines = [measure(case, files[Path(case["file"]).name]) for case in cases]
    if options.json:
        print(json.dumps({"machine": machine.describe(), "files": [asdict(line) for line in lines]}, allow_nan=False))
        return
    print(machine.header())
    print("| file | traits | strings | pages | tables | s | MB | |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
    for line in lines:
        print(row(line))
    found = sum(line.expected - len(line.missed) for line in lines)
    print(f"\n{found} of {sum(line.expected for line in lines)} strings found")


def row(line: Line) -> str:
    pages = ", ".join(f"{count} {state}" for state, count in line.pages.items())
    strings = f"{line.expected - len(line.missed)}/{line.expected}" if line.expected else ""
    said = line.refused or (f"missed: {'; '.join(line.missed)}" if line.missed else "")
    costs = f"{line.seconds:.2f} | {line.peak_mb:.0f}"
    return f"| {line.file} | {line.traits} | {strings} | {pages} | {line.tables or ''} | {costs} | {said} |"


if __name__ == "__main__":
    main()
