"""How fast files are read, and how much memory that takes.

    python bench/loading.py [--documents DIR] [--ocr-pages 4] [--files 1000] [--json]

text     pages a second of our PDF loader on the example's two manuals, beside pdfium alone (each page opened, its text
         taken) on the same bytes; the better of three rounds each, in turns
ocr      pages a second of the same loader on the example's scan, beside rapidocr as it comes on pictures of the same
         pages at the resolution that we use, rendering not counted
formats  seconds and peak memory for each file of a folder (the shared test documents), each in a process of its own
memory   `Index.add` on a folder of small files of many formats: in every hundred files, the most memory of this
         process, and of it with its reading processes; flat means that the last are no higher than the first

Memory is read from /proc, so this runs on Linux only.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from io import BytesIO
from itertools import cycle, islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import machine
import pypdfium2

from citewell import Index
from citewell.errors import CitewellError
from citewell.loading.parsing import parse
from citewell.loading.pdf import load_pdf
from citewell.loading.scan.picture import DPI
from citewell.settings import Loading
from citewell.types import Progress

ROOT = Path(__file__).parents[1]
BANK = ROOT / "examples" / "bank" / "documents"
SHARED = ROOT.parent / "shared" / "data" / "documents"
ROUNDS = 3
MEGABYTE = 1_000_000
SMALL = 30_000
"""Bytes of a file that the memory test copies."""
LETTERS = {".csv", ".md", ".txt"}
EVERY = 100


@dataclass(frozen=True, slots=True)
class Pace:
    """Pages a second: ours, and those of the bare library in the same run."""

    what: str
    pages: int
    ours: float
    bare: float

    @property
    def share(self) -> float:
        """Ours over the bare library's."""
        return self.ours / self.bare


@dataclass(frozen=True, slots=True)
class FileCost:
    """One file: seconds to read it, and memory in MB at the peak above what the empty process had."""

    name: str
    kilobytes: float
    seconds: float
    peak_mb: float
    outcome: str


@dataclass(slots=True)
class Memory:
    """The most MB seen in each hundred files: this process, and with it the processes that read for it."""

    alone: list[float] = field(default_factory=list)
    with_readers: list[float] = field(default_factory=list)

    def sample(self, progress: Progress) -> None:
        own = _memory_now("self")
        for most, now in ((self.alone, own), (self.with_readers, own + sum(map(_memory_now, _children())))):
            if len(most) <= max(progress.files_done - 1, 0) // EVERY:
                most.append(now)
            most[-1] = max(most[-1], now)


def text_pace() -> Pace:
    manuals = [path.read_bytes() for path in sorted((BANK / "manual").glob("*.pdf"))]
    pages = sum(map(_bare_text, manuals))
    rounds = [(_seconds(lambda: _load_all(manuals)), _seconds(lambda: _bare_all(manuals))) for _ in range(ROUNDS)]
    ours, bare = (min(times) for times in zip(*rounds, strict=True))
    return Pace("text", pages, pages / ours, pages / bare)


def _load_all(files: Sequence[bytes]) -> None:
    for data in files:
        load_pdf(data, "manual.pdf", Loading())


def _bare_all(files: Sequence[bytes]) -> None:
    for data in files:
        _bare_text(data)


def _bare_text(data: bytes) -> int:
    with pypdfium2.PdfDocument(data) as pdf:
        for page in pdf:
            page.get_textpage().get_text_range()
        return len(pdf)


def ocr_pace(count: int) -> Pace:
    from rapidocr import RapidOCR

    data = _first_pages((BANK / "fees" / "card-fee-schedule-2026.pdf").read_bytes(), count)
    with pypdfium2.PdfDocument(data) as pdf:
        pictures = [page.render(scale=DPI / 72).to_numpy() for page in pdf]
    engine: Callable[[Any], object] = RapidOCR(params={"Global.log_level": "critical"})
    engine(pictures[0])  # both sides load their models before the clock runs
    if not load_pdf(_first_pages(data, 1), "scan.pdf", Loading()).text:
        sys.exit("The scan was not read: OCR is not installed.")
    ours = _seconds(lambda: load_pdf(data, "scan.pdf", Loading()))
    bare = _seconds(lambda: [engine(picture) for picture in pictures])
    return Pace("ocr", len(pictures), len(pictures) / ours, len(pictures) / bare)


def _first_pages(data: bytes, count: int) -> bytes:
    out = BytesIO()
    with pypdfium2.PdfDocument(data) as whole, pypdfium2.PdfDocument.new() as part:
        part.import_pages(whole, list(range(min(count, len(whole)))))
        part.save(out)
    return out.getvalue()


def format_costs(folder: Path) -> list[FileCost]:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    # A new process for each: the peak that the system keeps is the process's, and never falls.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        return list(pool.map(_cost, files))


def _cost(path: Path) -> FileCost:
    data = path.read_bytes()
    before = _memory_mb("self", "VmHWM")
    begin = time.perf_counter()
    try:
        parsed = parse(data, path.name, Loading())
        outcome = f"{len(parsed.text):,} characters"
    except CitewellError as error:
        outcome = type(error).__name__
    seconds = time.perf_counter() - begin
    return FileCost(path.name, len(data) / 1_000, seconds, _memory_mb("self", "VmHWM") - before, outcome)


def memory_over(count: int, folder: Path) -> Memory:
    memory = Memory()
    with tempfile.TemporaryDirectory() as scratch, Index.create(Path(scratch, "index")) as index:
        files = Path(scratch, "files")
        _fill(files, count, folder)
        index.add(files, on_progress=memory.sample)
    return memory


def _fill(files: Path, count: int, folder: Path) -> None:
    """`count` files, ten a folder; those of letters differ, so that each has vectors of its own."""
    small = sorted(path for path in folder.iterdir() if 0 < path.stat().st_size <= SMALL)
    for number, path in enumerate(islice(cycle(small), count)):
        copy = files / f"{number // 10:03}" / f"{number}-{path.name}"
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        if path.suffix in LETTERS and "utf-16" not in path.name:
            copy.write_bytes(f"Copy {number} of the file\n\n".encode() + path.read_bytes())


def _children() -> Iterator[str]:
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError):  # a thread that has ended meanwhile
            yield from (task / "children").read_text(encoding="ascii").split()


def _memory_now(process: str) -> float:
    return _memory_mb(process, "VmRSS")


def _memory_mb(process: str, what: str) -> float:
    """`VmRSS`, what a process holds now, or `VmHWM`, its peak; 0 where it has ended meanwhile."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(int(line.split()[1]) * 1_024 for line in lines if line.startswith(f"{what}:")) / MEGABYTE


def _seconds(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=Path, default=SHARED / "files")
    parser.add_argument("--ocr-pages", type=int, default=4)
    parser.add_argument("--files", type=int, default=1_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not options.documents.is_dir():
        sys.exit(f"no documents at {options.documents}; name a folder with --documents")
    memory = memory_over(options.files, options.documents)  # first, while this process has loaded nothing else
    paces = [text_pace(), ocr_pace(options.ocr_pages)]
    costs = format_costs(options.documents)
    if options.json:
        found = {
            "machine": machine.describe(),
            "paces": [{**asdict(pace), "share": pace.share} for pace in paces],
            "formats": [asdict(cost) for cost in costs],
            "memory_mb": {"alone": memory.alone, "with_readers": memory.with_readers},
        }
        print(json.dumps(found, allow_nan=False))
        return
    print(machine.header())
    for pace in paces:
        print(
            f"{pace.what:<5} {pace.pages} pages: {pace.ours:.2f} a second, the bare library {pace.bare:.2f}: "
            f"a share of {pace.share:.2f}"
        )
    print("\n| file | KB | seconds | peak MB | |\n| --- | --- | --- | --- | --- |")
    for cost in costs:
        print(f"| {cost.name} | {cost.kilobytes:,.1f} | {cost.seconds:.2f} | {cost.peak_mb:.0f} | {cost.outcome} |")
    print(f"\nMost MB in each {EVERY} of {options.files} files, this process (with its reading processes):")
    print(" ".join(f"{own:.0f} ({whole:.0f})" for own, whole in zip(memory.alone, memory.with_readers, strict=True)))


if __name__ == "__main__":
    main()
