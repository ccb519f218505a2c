"""Mutated real files through every loader, in the process that reads files: no exception but ours, no hang, no file.

    python bench/fuzz.py [--seconds 600] [--seed 0] [--only PART_OF_NAME] [--ocr] [--keep FOLDER] [--json]

Samples are in `fuzz_samples`: an ending is drawn, then a file. Each is damaged in one of several ways (bytes changed,
taken out, repeated, swapped, cut off, spliced with another file; in zipped formats also inside their parts), and parsed
with 30 seconds and 1,000 MB. What comes of it is counted: read, refused with one of our errors, or the process ended
under it, which the isolation turns into a refusal but is worth a look. Those, and what takes more than 5 seconds of a
processor or 400 MB of memory, are told, and kept in FOLDER; so is any other exception, with which the run then fails.
`--seed` one lower comes to a run at once. `--ocr` reads scans and pictures with OCR, and only those.

Memory and processor time are read from /proc, so this runs on Linux only.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import re
import sys
import tempfile
import time
import traceback
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import machine
from fuzz_samples import LARGEST, pictures, samples

from citewell.errors import LoadError
from citewell.loading.isolation import parse_apart
from citewell.loading.parsed import Parsed
from citewell.settings import Loading

LIMITS = Loading(max_seconds=30, max_memory_mb=1_000, ocr="off")
SLOW_S = 5
LARGE_MB = 400
MAGIC = [b"\x00", b"\xff", b"\x80", b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"\x7f\xff\xff\xff", b"<", b"]]>", b"%n"]
WRONG = "wrong"

Mutation = Callable[[bytearray, random.Random], bytearray]


@dataclass(slots=True)
class Outcomes:
    """What came of the samples with one ending, and the most that one took."""

    counts: Counter[str] = field(default_factory=Counter)
    slowest_s: float = 0.0
    largest_mb: float = 0.0


@dataclass(frozen=True, slots=True)
class Taken:
    """Processor seconds and memory of one process: what it has, and the most that it had."""

    seconds: float = 0.0
    megabytes: float = 0.0
    most_megabytes: float = 0.0


def change(data: bytearray, chance: random.Random) -> bytearray:
    for _ in range(chance.choice((1, 1, 1, 4, 30, 200))):
        at = chance.randrange(len(data))
        sign = chance.choice([*MAGIC, bytes([chance.randrange(256)])])
        data[at : at + len(sign)] = sign
    return data


def cut_off(data: bytearray, chance: random.Random) -> bytearray:
    return data[: chance.randrange(1, len(data) + 1)]


def take_out(data: bytearray, chance: random.Random) -> bytearray:
    start = chance.randrange(len(data))
    del data[start : start + chance.randrange(1, max(2, len(data) // 8))]
    return data


def repeat(data: bytearray, chance: random.Random) -> bytearray:
    start = chance.randrange(len(data))
    piece = data[start : start + chance.choice((1, 20, 2_000))]
    return data[:start] + piece * chance.choice((2, 50, 2_000)) + data[start:]


def swap(data: bytearray, chance: random.Random) -> bytearray:
    first, second = sorted(chance.randrange(len(data)) for _ in range(2))
    return data[:first] + data[second:] + data[first:second]


def number(data: bytearray, chance: random.Random) -> bytearray:
    """Another number in the place of one, as lengths, counts and references are written in text."""
    found = list(re.finditer(rb"\d+", bytes(data[:LARGEST])))
    if not found:
        return change(data, chance)
    place = chance.choice(found)
    data[place.start() : place.end()] = chance.choice([b"0", b"-1", b"999999999", b"4294967296", b"1e308"])
    return data


def markup(data: bytearray, chance: random.Random) -> bytearray:
    """A tag left out, doubled or moved, or one attribute's value in the place of another: mostly well-formed still."""
    tags = list(re.finditer(rb"<[^<>]+/>", bytes(data)))
    values = list(re.finditer(rb'"[^"<>]*"', bytes(data)))
    if not tags or not values:
        return number(data, chance)
    kind = chance.randrange(3)
    place, other = (chance.choice(values if kind == 2 else tags) for _ in range(2))
    changed = (b"", place[0] * chance.choice((2, 2, 500)), other[0])[kind]
    data[place.start() : place.end()] = changed
    return data


MUTATIONS: tuple[Mutation, ...] = (change, cut_off, take_out, repeat, swap, number, markup, markup)


def mutated(data: bytes, other: bytes, chance: random.Random) -> bytes:
    if data.startswith(b"PK") and chance.random() < 0.6:
        return within_archive(data, other, chance)
    if chance.random() < 0.1:
        return data[: chance.randrange(len(data))] + other[chance.randrange(len(other)) :]
    result = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4))):
        result = chance.choice(MUTATIONS)(result, chance)[:LARGEST]
        if not result:
            return b"\x00"
    return bytes(result)


def within_archive(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """The archive, written anew, with some of its parts damaged: its checksums hold, so that parsers go further."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        damaged = set(chance.sample(old.namelist(), k=min(chance.choice((1, 2)), len(old.namelist()))))
        for name in old.namelist():
            part = old.read(name)
            if name in damaged and part:
                part = mutated(part, other, chance) if not part.startswith(b"PK") else part[::-1]
            new.writestr(name, part)
    return target.getvalue()


def attempt(data: bytes, name: str, limits: Loading) -> str:
    """What came of it."""
    try:
        check(parse_apart(data, name, limits))
    except LoadError as error:
        ended = re.search(r"ended under it \((.*?)\)|never does|more than \d+ (?:seconds|MB of memory)", str(error))
        return f"process ended: {ended[1] or ended[0]}" if ended else type(error).__name__
    except Exception:  # noqa: BLE001  It is what this looks for.
        traceback.print_exc()
        return WRONG
    return "read"


def check(parsed: Parsed) -> None:
    """Spans lie in the text and in order."""
    end = 0
    for element in parsed.elements:
        assert end <= element.start < element.end <= len(parsed.text), element
        end = element.end
    for page in parsed.pages:
        assert 0 <= page.start <= page.end <= len(parsed.text), page


def taken() -> dict[str, Taken]:
    """What each child process took so far, by its number; the count of memory starts again."""
    found = {}
    for process in Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split():
        folder = Path("/proc", process)
        fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        held = dict(re.findall(r"(Vm\w+):\s+(\d+)", (folder / "status").read_text(encoding="utf-8")))
        ticks = int(fields[11]) + int(fields[12])
        most, now = (int(held.get(key, 0)) / 1_000 for key in ("VmHWM", "VmRSS"))
        found[process] = Taken(ticks / os.sysconf("SC_CLK_TCK"), now, most)
        (folder / "clear_refs").write_text("5", encoding="ascii")
    return found


@dataclass(frozen=True, slots=True)
class Fuzz:
    """The samples by ending, and what came of them."""

    found: Mapping[str, Sequence[tuple[str, bytes]]]
    limits: Loading
    keep: Path | None
    outcomes: dict[str, Outcomes] = field(default_factory=lambda: defaultdict(Outcomes))

    def one(self, run: int) -> None:
        chance = random.Random(run)
        ending, other = (chance.choice(list(self.found)) for _ in range(2))
        name, data = chance.choice(self.found[ending])
        changed = mutated(data, chance.choice(self.found[other])[1], chance)
        before = taken()
        what = attempt(changed, name, self.limits)
        seconds = megabytes = 0.0
        for process, after in taken().items():
            begun = before.get(process, Taken())
            seconds = max(seconds, after.seconds - begun.seconds)
            megabytes = max(megabytes, after.most_megabytes - begun.megabytes)
        seen = self.outcomes[ending]
        seen.counts[what] += 1
        seen.slowest_s = max(seen.slowest_s, seconds)
        seen.largest_mb = max(seen.largest_mb, megabytes)
        if what == WRONG or what.startswith("process") or seconds > SLOW_S or megabytes > LARGE_MB:
            print(f"run {run}: {name}: {what}, {seconds:.1f} s, {megabytes:.0f} MB", file=sys.stderr)
            if self.keep:
                (self.keep / f"{run}-{name}").write_bytes(changed)

    def report(self) -> None:
        print(machine.header())
        for ending, seen in sorted(self.outcomes.items()):
            counts = ", ".join(f"{count} {what}" for what, count in seen.counts.most_common())
            most = f"at most {seen.slowest_s:.1f} s and {seen.largest_mb:.0f} MB"
            print(f"{ending:<7} {seen.counts.total():>6} runs, {most}: {counts}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--ocr", action="store_true")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = {"ocr": list(pictures())} if options.ocr else samples(options.only)
    limits = LIMITS.model_copy(update={"ocr": "auto", "max_memory_mb": 3_000}) if options.ocr else LIMITS
    fuzz = Fuzz(found, limits, options.keep.resolve() if options.keep else None)
    end = time.monotonic() + options.seconds
    run = options.seed
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        while time.monotonic() < end:
            run += 1
            fuzz.one(run)
        written = list(Path(work).iterdir())
    if options.json:
        lines = {ending: asdict(seen) for ending, seen in fuzz.outcomes.items()}
        print(json.dumps({"machine": machine.describe(), "outcomes": lines}, allow_nan=False))
    else:
        fuzz.report()
    if written or any(seen.counts[WRONG] for seen in fuzz.outcomes.values()):
        sys.exit(f"Wrong: see above; files written: {written}")


if __name__ == "__main__":
    main()
