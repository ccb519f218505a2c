"""Mutated real files through every loader, in the process that reads files: no exception but ours, no hang, no file.

    python bench/fuzz.py [--seconds 600] [--seed 0] [--only PART_OF_NAME] [--json]

Samples are the shared documents and the bank's example. Each is damaged in one of several ways (bytes changed, taken
out, repeated, swapped, cut off, spliced with another file; in zipped formats also inside their parts), and parsed with
10 seconds and 1,000 MB. What comes of it is counted: read, refused with one of our errors, or the process ended under
it, which the isolation turns into a refusal but is worth a look. Anything else stops the run with the seed and file.
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
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import machine

from citewell.errors import LoadError
from citewell.loading.isolation import parse_apart
from citewell.loading.parsed import Parsed
from citewell.settings import Loading

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("CITEWELL_SHARED", ROOT / ".." / "shared")).resolve()
LIMITS = Loading(max_seconds=10, max_memory_mb=1_000, ocr="off")
LARGEST = 1_000_000
MAGIC = [b"\x00", b"\xff", b"\x80", b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"\x7f\xff\xff\xff", b"<", b"]]>", b"%n"]

Mutation = Callable[[bytearray, random.Random], bytearray]


@dataclass(slots=True)
class Outcomes:
    """What came of the samples with one ending."""

    counts: Counter[str] = field(default_factory=Counter)
    slowest_s: float = 0.0


def change(data: bytearray, chance: random.Random) -> bytearray:
    for _ in range(chance.choice((1, 4, 30, 200))):
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


MUTATIONS: tuple[Mutation, ...] = (change, cut_off, take_out, repeat, swap, number)


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
        damaged = set(chance.sample(old.namelist(), k=min(2, len(old.namelist()))))
        for name in old.namelist():
            part = old.read(name)
            if name in damaged and part:
                part = mutated(part, other, chance) if not part.startswith(b"PK") else part[::-1]
            new.writestr(name, part)
    return target.getvalue()


def samples(only: str) -> list[tuple[str, bytes]]:
    folders = (SHARED / "data" / "documents" / "files", ROOT / "examples" / "bank" / "documents", ROOT / "tests")
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    kinds = {".py", ".toml", ".jsonl", ".json", ".pyc"}  # of the tests' own folder only what is no code
    chosen = [path for path in files if not path.is_relative_to(folders[2]) or path.suffix not in kinds]
    found = [(path.name, path.read_bytes()) for path in chosen if only in path.name]
    return [(name, data) for name, data in found if 0 < len(data) <= LARGEST]


def attempt(data: bytes, name: str) -> str:
    """What came of it; any exception but ours goes on."""
    try:
        parsed = parse_apart(data, name, LIMITS)
    except LoadError as error:
        ended = "ended under it" in str(error) or "never does" in str(error)
        return "process ended" if ended else type(error).__name__
    check(parsed)
    return "read"


def check(parsed: Parsed) -> None:
    """Spans lie in the text and in order."""
    end = 0
    for element in parsed.elements:
        assert end <= element.start < element.end <= len(parsed.text), element
        end = element.end
    for page in parsed.pages:
        assert 0 <= page.start <= page.end <= len(parsed.text), page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = samples(options.only)
    outcomes: dict[str, Outcomes] = defaultdict(Outcomes)
    end = time.monotonic() + options.seconds
    run = options.seed
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        while time.monotonic() < end:
            run += 1
            one(run, found, outcomes)
        assert not list(Path(work).iterdir()), "a loader wrote a file"
    report(outcomes, as_json=options.json)


def one(run: int, found: list[tuple[str, bytes]], outcomes: dict[str, Outcomes]) -> None:
    chance = random.Random(run)
    name, data = chance.choice(found)
    changed = mutated(data, chance.choice(found)[1], chance)
    begin = time.monotonic()
    try:
        what = attempt(changed, name)
    except BaseException:
        print(f"run {run}: {name}", file=sys.stderr)
        raise
    seen = outcomes[Path(name).suffix or name]
    seen.counts[what] += 1
    seen.slowest_s = max(seen.slowest_s, time.monotonic() - begin)
    if what == "process ended" or "seconds" in what:
        print(f"run {run}: {name}: {what}", file=sys.stderr)


def report(outcomes: dict[str, Outcomes], *, as_json: bool) -> None:
    if as_json:
        lines = {
            ending: {"counts": dict(seen.counts), "slowest_s": seen.slowest_s} for ending, seen in outcomes.items()
        }
        print(json.dumps({"machine": machine.describe(), "outcomes": lines}, allow_nan=False))
        return
    print(machine.header())
    for ending, seen in sorted(outcomes.items()):
        counts = ", ".join(f"{count} {what}" for what, count in seen.counts.most_common())
        print(f"{ending:<7} {seen.counts.total():>6} runs, slowest {seen.slowest_s:4.1f} s: {counts}")


if __name__ == "__main__":
    main()
